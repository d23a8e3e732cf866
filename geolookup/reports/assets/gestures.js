// Wheel, drag, pinch and double click on an element, for any map that is drawn in it.

// The wheel scrolls the page until the map has the focus: a reader can scroll past it.
const WHEEL_DOUBLES = 300; // px of the wheel that double the size
const DRAGGED = 4; // px from which a press is a drag, not a tap

// Calls `pan(dx, dy)`, `zoom(factor, x, y)`, `point(x, y)` and `leave()`, in px of the element.
// `zoom` returns whether it changed anything; the wheel scrolls the page where it does not.
function followGestures(element, { pan, zoom, point, leave }) {
  const pressed = new Map();
  let dragged = 0;
  const place = (event) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const move = (event) => {
    const before = pressed.get(event.pointerId);
    const now = place(event);
    if (!before) {
      point(now.x, now.y);
      return;
    }
    dragged += Math.hypot(now.x - before.x, now.y - before.y);
    const other = [...pressed].find(([id]) => id !== event.pointerId)?.[1];
    if (other) pinch(before, now, other);
    else if (dragged > DRAGGED) pan(now.x - before.x, now.y - before.y);
    pressed.set(event.pointerId, now);
  };

  // One finger moves, the other stays: what lies between them follows.
  const pinch = (before, now, other) => {
    const distance = (one) => Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
    pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    zoom(distance(now) / distance(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
  };

  element.addEventListener("pointerdown", (event) => {
    if (!pressed.size) dragged = 0;
    pressed.set(event.pointerId, place(event));
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", (event) => {
    pressed.delete(event.pointerId);
    const { x, y } = place(event);
    if (dragged <= DRAGGED) point(x, y);
  });
  element.addEventListener("pointercancel", (event) => pressed.delete(event.pointerId));
  // A finger leaves with every tap, but the target stays marked.
  element.addEventListener("pointerleave", (event) => {
    if (!pressed.size && event.pointerType !== "touch") leave();
  });
  element.addEventListener("dblclick", (event) => {
    const { x, y } = place(event);
    zoom(2, x, y);
  });
  element.addEventListener("wheel", (event) => {
    if (document.activeElement !== element && !event.ctrlKey) return;
    const { x, y } = place(event);
    const changed = zoom(2 ** (-event.deltaY / WHEEL_DOUBLES), x, y);
    if (changed || event.ctrlKey) event.preventDefault();
  }, { passive: false });
}
