// What a reader does on a map with pointers and keys, as changes of its window and place.

const ZOOM_STEP = 2;
const MAP_ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const MAP_KEYS = {
  "+": (map) => map.zoom(ZOOM_STEP),
  "=": (map) => map.zoom(ZOOM_STEP),
  "-": (map) => map.zoom(1 / ZOOM_STEP),
  Home: (map) => map.reset(),
  Escape: (map) => map.point(null),
};

// `map` has a window, and changed(), point(place or null), step(direction, fine), zoom(factor) and
// reset().
function listenToMap(canvas, map) {
  const scale = () => map.window.span / canvas.clientWidth;
  const place = (x, y) => ({ column: map.window.left + x * scale(), row: map.window.top + y * scale() });
  followGestures(canvas, {
    pan(dx, dy) {
      map.window.pan(-dx * scale(), -dy * scale());
      map.changed();
    },
    zoom(factor, x, y) {
      const { column, row } = place(x, y);
      map.window.zoom(factor, column, row);
      map.changed();
    },
    point: (x, y) => map.point(place(x, y)),
    leave: () => map.point(null),
  });
  canvas.addEventListener("keydown", (event) => pressMapKey(event, map));
}

function pressMapKey(event, map) {
  const arrow = MAP_ARROWS[event.key];
  const act = MAP_KEYS[event.key];
  if ((!arrow && !act) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  if (arrow) map.step(arrow, event.shiftKey);
  else act(map);
}
