// What a reader does on a map with pointers and keys, as changes of its window and place.

// `map` has a root, a window, and changed(), point(place or null), step(columns, rows, small),
// zoom(factor) and reset().
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
      const { span } = map.window;
      map.window.zoom(factor, column, row);
      map.changed();
      return map.window.span !== span;
    },
    point: (x, y) => map.point(place(x, y)),
    leave: () => map.point(null),
  });
  followKeys(canvas, map.root, {
    step: (columns, rows, small) => map.step(columns, rows, small),
    zoom: (factor) => map.zoom(factor),
    whole: () => map.reset(),
    leave: () => map.point(null),
  });
}
