// Keys and buttons of a map: the same on every map.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ZOOM_STEP = 2;
const KEYS = {
  "+": ({ zoom }) => zoom(ZOOM_STEP),
  "=": ({ zoom }) => zoom(ZOOM_STEP),
  "-": ({ zoom }) => zoom(1 / ZOOM_STEP),
  Home: ({ whole }) => whole(),
  Escape: ({ leave }) => leave(),
};

// Calls `step(columns, rows, small)`, `zoom(factor)`, `whole()` and `leave()`. A button in `root`
// with data-key does what that key does.
function followKeys(element, root, acts) {
  element.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if ((!arrow && !KEYS[event.key]) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (arrow) acts.step(...arrow, event.shiftKey);
    else KEYS[event.key](acts);
  });
  for (const button of root.querySelectorAll("[data-key]")) {
    button.addEventListener("click", () => KEYS[button.dataset.key](acts));
  }
}
