// Moving through the rows of a table with the arrow keys; Enter follows a row's first link.
export function walkRows(region, rows) {
  region.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const shown = rows();
    const at = shown.indexOf(document.activeElement);
    const inside = at >= 0 || document.activeElement === region;
    const target = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (inside && event.key === "Enter" && at >= 0) {
      shown[at].querySelector("a[href]")?.click();
    } else if (inside && target !== undefined && shown.length) {
      event.preventDefault();
      const row = shown[Math.min(Math.max(target, 0), shown.length - 1)];
      row.tabIndex = -1;
      row.focus();
    }
  });
}
