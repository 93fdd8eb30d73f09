// Pointing at a dimension, or moving the focus into it, brings out its passages in the answers.
function light(number) {
  for (const mark of document.querySelectorAll("mark[data-dimensions]")) {
    const mine = number && mark.dataset.dimensions.split(" ").includes(number);
    mark.classList.toggle("lit", Boolean(mine));
    mark.classList.toggle("dim", Boolean(number) && !mine);
  }
}

function dimensionOf(event) {
  return event.target.closest?.("[data-dimension]")?.dataset.dimension ?? "";
}

// A score that is led to is shown, also by browsers that do not open it themselves.
function reveal() {
  const led = location.hash && document.getElementById(location.hash.slice(1));
  const fold = led && led.closest("details");
  if (fold) fold.open = true;
}

addEventListener("hashchange", reveal);
reveal();

for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => light(dimensionOf(event)));
}
