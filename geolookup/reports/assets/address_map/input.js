// What a reader does on a map: pointers, the wheel and keys, as changes of its window and place.
//
// The wheel zooms once the map has the focus, or with Ctrl: else a reader who scrolls the page
// would be caught. One finger scrolls the page while the whole map is shown, and pans otherwise.

const ZOOM_STEP = 2;
const WHEEL_RATE = 0.002;
// A pointer that moved less has tapped.
const TAP_DISTANCE = 5;

class MapInput {
  // `actions` has changed() for the window, point(place or null), step(direction, fine),
  // zoom(factor) and reset().
  constructor(canvas, mapWindow, actions) {
    Object.assign(this, { canvas, mapWindow, actions, pointers: new Map() });
    this.listen("pointerdown", this.down);
    this.listen("pointermove", this.move);
    this.listen("pointerup", this.up);
    this.listen("pointercancel", this.lost);
    this.listen("pointerleave", this.leave);
    this.listen("wheel", this.wheel, { passive: false });
    this.listen("dblclick", (event) => this.zoomAt(this.place(event), ZOOM_STEP));
    this.listen("keydown", this.key);
  }

  listen(type, handle, options) {
    this.canvas.addEventListener(type, handle.bind(this), options);
  }

  // The place under an event, in cells.
  place({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.mapWindow.span / box.width;
    return {
      column: this.mapWindow.left + (clientX - box.left) * scale,
      row: this.mapWindow.top + (clientY - box.top) * scale,
    };
  }

  zoomAt({ column, row }, factor) {
    this.mapWindow.zoom(factor, column, row);
    this.actions.changed();
  }

  down(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event);
    this.travelled = this.pointers.size > 1 ? Infinity : 0;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.hover(event);
    const others = [...this.pointers.values()].filter((each) => each !== before);
    this.pointers.set(event.pointerId, event);
    this.travelled += Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
    if (others.length === 1) this.pinch(others[0], before, event);
    else if (others.length === 0 && this.travelled > TAP_DISTANCE) this.drag(before, event);
  }

  hover(event) {
    if (event.pointerType !== "touch") this.actions.point(this.place(event));
  }

  drag(before, event) {
    const [from, to] = [this.place(before), this.place(event)];
    this.mapWindow.pan(from.column - to.column, from.row - to.row);
    this.actions.changed();
  }

  pinch(fixed, before, event) {
    const distance = (each) => Math.hypot(each.clientX - fixed.clientX, each.clientY - fixed.clientY);
    const middle = { clientX: (fixed.clientX + event.clientX) / 2, clientY: (fixed.clientY + event.clientY) / 2 };
    this.zoomAt(this.place(middle), distance(event) / Math.max(1, distance(before)));
  }

  up(event) {
    if (this.pointers.size === 1 && this.travelled <= TAP_DISTANCE) this.actions.point(this.place(event));
    this.lost(event);
  }

  lost(event) {
    this.pointers.delete(event.pointerId);
  }

  leave(event) {
    if (event.pointerType !== "touch") this.actions.point(null);
  }

  wheel(event) {
    const outside = event.deltaY > 0 && this.mapWindow.whole;
    if (outside || !(event.ctrlKey || document.activeElement === this.canvas)) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.zoomAt(this.place(event), Math.exp(-event.deltaY * lines * WHEEL_RATE));
  }

  key(event) {
    const arrow = MAP_ARROWS[event.key];
    const act = MAP_KEYS[event.key];
    if ((!arrow && !act) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (arrow) this.actions.step(arrow, event.shiftKey);
    else act(this);
  }
}

const MAP_ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const MAP_KEYS = {
  "+": (input) => input.actions.zoom(ZOOM_STEP),
  "=": (input) => input.actions.zoom(ZOOM_STEP),
  "-": (input) => input.actions.zoom(1 / ZOOM_STEP),
  Home: (input) => input.actions.reset(),
  Escape: (input) => input.actions.point(null),
};
