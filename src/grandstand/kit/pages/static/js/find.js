// The key / leads to the one search box, unless somebody is writing.
const WRITING = "input, textarea, select, [contenteditable]";

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest(WRITING)) return;
  const box = document.querySelector("[data-find]");
  if (!box) return;
  event.preventDefault();
  box.focus();
  box.select();
});
