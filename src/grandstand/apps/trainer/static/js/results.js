// Highlights the passages of a dimension when it is hovered or focused.
function highlight(number) {
  for (const mark of document.querySelectorAll("mark[data-dimensions]")) {
    const matches = number && mark.dataset.dimensions.split(" ").includes(number);
    mark.classList.toggle("lit", Boolean(matches));
    mark.classList.toggle("dim", Boolean(number) && !matches);
  }
}

function dimensionOf(event) {
  return event.target.closest?.("[data-dimension]")?.dataset.dimension ?? "";
}

// Opens the <details> that contains the target of the URL fragment.
function reveal() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const details = target && target.closest("details");
  if (details) details.open = true;
}

addEventListener("hashchange", reveal);
reveal();

for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => highlight(dimensionOf(event)));
}
