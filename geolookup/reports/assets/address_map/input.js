// Wheel, drag, pinch, double click and keys on a map.

// The wheel scrolls the page until the map has the focus: a reader can scroll past it.
const WHEEL_DOUBLES = 300; // px of the wheel that double the size
const DRAGGED = 4; // px from which a press is a drag, not a tap
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const KEYS = {
  "+": (map) => map.zoom(2),
  "=": (map) => map.zoom(2),
  "-": (map) => map.zoom(1 / 2),
  Home: (map) => map.reset(),
  Escape: (map) => map.point(null),
};

// Calls `pan(dx, dy)`, `zoom(factor, x, y)` and `point({x, y} or null)` in px of the element. `zoom`
// returns whether it changed anything; the wheel scrolls the page if not.
function followPointers(element, map) {
  const pressed = new Map();
  let dragged = 0;
  const place = (event) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  // One finger moves, the other stays: what lies between them follows.
  const pinch = (before, now, other) => {
    const distance = (one) => Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
    map.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    map.zoom(distance(now) / distance(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
  };

  element.addEventListener("pointerdown", (event) => {
    if (!pressed.size) dragged = 0;
    pressed.set(event.pointerId, place(event));
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    const [before, now] = [pressed.get(event.pointerId), place(event)];
    if (!before) {
      map.point(now);
      return;
    }
    dragged += Math.hypot(now.x - before.x, now.y - before.y);
    const other = [...pressed].find(([id]) => id !== event.pointerId)?.[1];
    if (other) pinch(before, now, other);
    else if (dragged > DRAGGED) map.pan(now.x - before.x, now.y - before.y);
    pressed.set(event.pointerId, now);
  });
  element.addEventListener("pointerup", (event) => {
    pressed.delete(event.pointerId);
    if (dragged <= DRAGGED) map.point(place(event));
  });
  element.addEventListener("pointercancel", (event) => pressed.delete(event.pointerId));
  // A finger leaves with every tap, but the target stays marked.
  element.addEventListener("pointerleave", (event) => {
    if (!pressed.size && event.pointerType !== "touch") map.point(null);
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
    const arrow = ARROWS[event.key];
    if ((!arrow && !KEYS[event.key]) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (arrow) map.step(...arrow, event.shiftKey);
    else KEYS[event.key](map);
  });
  for (const button of root.querySelectorAll("[data-key]")) {
    button.addEventListener("click", () => KEYS[button.dataset.key](map));
  }
}
