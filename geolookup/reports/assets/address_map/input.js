// Wheel, drag, pinch, double click and keys on a map.

const WHEEL_DOUBLES = 300; // px of the wheel that double the size
const DRAGGED = 4; // px from which a press is a drag, not a tap
const ACTIONS = {
  ArrowLeft: (map) => map.step(-1, 0),
  ArrowRight: (map) => map.step(1, 0),
  ArrowUp: (map) => map.step(0, -1),
  ArrowDown: (map) => map.step(0, 1),
  "+": (map) => map.zoom(2),
  "-": (map) => map.zoom(1 / 2),
  Home: (map) => map.reset(),
};

// Calls `pan(dx, dy)`, `zoom(factor, place)` and `point(place or null)`, places are [x, y] in px of the element. `zoom`
// returns whether it changed anything; the wheel scrolls the page if not, and before a click.
function followPointers(element, map) {
  const pressed = new Map();
  let dragged = 0;
  const place = ({ offsetX, offsetY }) => [offsetX, offsetY];
  // The middle of the first two fingers, or of one its place, and their distance.
  const grip = () => {
    const [one, other] = [...pressed.values(), ...pressed.values()];
    const middle = one.map((at, axis) => (at + other[axis]) / 2);
    return { middle, distance: Math.max(1, Math.hypot(one[0] - other[0], one[1] - other[1])) };
  };

  element.addEventListener("pointerdown", (event) => {
    if (!pressed.size) dragged = 0;
    pressed.set(event.pointerId, place(event));
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!pressed.has(event.pointerId)) return map.point(place(event));
    const before = grip();
    pressed.set(event.pointerId, place(event));
    const after = grip();
    const by = after.middle.map((at, axis) => at - before.middle[axis]);
    dragged += Math.hypot(...by);
    if (dragged > DRAGGED) map.pan(...by);
    if (pressed.size > 1) map.zoom(after.distance / before.distance, after.middle);
  });
  element.addEventListener("pointerup", (event) => {
    pressed.delete(event.pointerId);
    if (dragged <= DRAGGED) map.point(place(event));
  });
  element.addEventListener("pointercancel", (event) => pressed.delete(event.pointerId));
  // A finger leaves with every tap, but the target stays marked.
  element.addEventListener("pointerleave", ({ pointerType }) => {
    if (!pressed.size && pointerType !== "touch") map.point(null);
  });
  element.addEventListener("dblclick", (event) => map.zoom(2, place(event)));
  element.addEventListener("wheel", (event) => {
    if (document.activeElement !== element && !event.ctrlKey) return;
    const changed = map.zoom(2 ** (-event.deltaY / WHEEL_DOUBLES), place(event));
    if (changed || event.ctrlKey) event.preventDefault();
  }, { passive: false });
}

// A button in `root` with data-key does what that key does.
function followKeys(element, root, map) {
  element.addEventListener("keydown", (event) => {
    if (!ACTIONS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    ACTIONS[event.key](map);
  });
  for (const button of root.querySelectorAll("[data-key]")) {
    button.addEventListener("click", () => ACTIONS[button.dataset.key](map));
  }
}
