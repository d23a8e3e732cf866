// Maps of the world: densities drawn on a canvas, one at a time, with rings at default coordinates.

const WORLD_COLOURS = {
  light: { land: "#e9e9e6", border: "#ffffff", edge: "#8a8f94", ring: "#c2185b", cursor: "#1f2328" },
  dark: { land: "#2b3035", border: "#14171a", edge: "#71767b", ring: "#ff6fa5", cursor: "#e6e6e6" },
};
const LARGEST_CELL_PX = 24; // zooming ends where the sides of cells are so many px
const RING_PX = 7;
const CURSOR_STEP_PX = 12;

class WorldMap {
  constructor(root, data, paths, cells, layers) {
    Object.assign(this, { root, data, paths, cells, layers, layer: layers[0] });
    this.canvas = root.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.window = new WorldWindow((LARGEST_CELL_PX * EARTH_KM) / cells.grid.km);
    this.defaults = data.defaults.map((each) => ({ ...each, at: projected(each.latitude, each.longitude) }));
    this.schemes = matchMedia("(prefers-color-scheme: dark)");
    this.cursor = null;
    this.printing = false;
    this.listen();
  }

  get colours() {
    return this.dark ? WORLD_COLOURS.dark : WORLD_COLOURS.light;
  }

  // What is drawn, made anew when the size or the density has changed.
  get areas() {
    this.made ??= areasAt(this.cells, this.layer.weights, this.window.scale);
    return this.made;
  }

  get dark() {
    return this.schemes.matches && !this.printing;
  }

  listen() {
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    this.schemes.addEventListener("change", () => this.redraw());
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    followGestures(this.canvas, {
      pan: (dx, dy) => this.pan(dx, dy),
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      point: (x, y) => this.point(this.window.plane(x, y)),
      leave: () => this.point(null),
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    for (const button of this.root.querySelectorAll("[data-key]")) {
      button.addEventListener("click", () => this.press(button.dataset.key, 1));
    }
    for (const choice of this.root.querySelectorAll("[name$=-density]")) {
      choice.addEventListener("change", () => this.choose(Number(choice.value)));
    }
  }

  choose(number) {
    this.change(() => { this.layer = this.layers[number]; });
    if (this.cursor) this.point(this.cursor);
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.canvas.width = Math.round(box.width * devicePixelRatio);
    this.canvas.height = Math.round(box.height * devicePixelRatio);
    this.change(() => this.window.resize(box.width, box.height));
  }

  print(printing) {
    this.printing = printing;
    this.draw(); // at once: no frame comes before the page is printed
  }

  pan(columns, rows) {
    this.window.pan(columns, rows);
    this.redraw();
  }

  zoom(factor, x = this.window.width / 2, y = this.window.height / 2) {
    this.change(() => this.window.zoom(factor, x, y));
    // A finger pans an enlarged map, and scrolls the page otherwise.
    this.canvas.style.touchAction = this.window.zoomed > 1 ? "none" : "pan-y";
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (this.press(event.key, event.shiftKey ? 5 : 1)) event.preventDefault();
  }

  // Does what a key stands for; returns whether it stands for something.
  press(key, times) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const zooms = { "+": 2, "=": 2, "-": 0.5 };
    if (key in steps) this.moveCursor(...steps[key].map((step) => step * times * CURSOR_STEP_PX));
    else if (key in zooms) this.zoom(zooms[key], ...this.cursorPlace());
    else if (key === "Home" || key === "0") this.change(() => this.window.reset());
    else return false;
    return true;
  }

  cursorPlace() {
    return this.cursor ? this.window.canvas(...this.cursor) : [];
  }

  moveCursor(columns, rows) {
    const [x, y] = this.cursor ?? [this.window.x, this.window.y];
    const { scale } = this.window;
    const limit = (value, most) => Math.max(-most, Math.min(most, value));
    const moved = [limit(x + columns / scale, EARTH_WIDTH), limit(y - rows / scale, EARTH_HEIGHT)];
    this.window.include(...moved);
    this.point(moved);
    this.redraw();
  }

  point(cursor) {
    this.cursor = cursor;
    const text = cursor ? this.describe(...cursor) : "";
    if (this.root.querySelector("output").textContent !== text) {
      this.root.querySelector("output").textContent = text;
    }
    this.redraw();
  }

  describe(x, y) {
    const found = this.defaultAt(x, y);
    const place = unprojected(x, y);
    if (!place) return "";
    const weight = this.areas.weightAt(x, y);
    const here = `${placeText(place, this.areas.km)}: ${this.layer.text(weight, this.areas.km)}`;
    return found ? `${here}. Default coordinates: ${found.text}` : here;
  }

  defaultAt(x, y) {
    const reach = RING_PX / this.window.scale;
    return this.defaults.find(({ at }) => Math.hypot(at[0] - x, at[1] - y) <= reach);
  }

  change(action) {
    action();
    this.made = null;
    this.redraw();
  }

  redraw() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    this.prepare();
    this.drawLand();
    this.drawLines(this.paths.borders, this.colours.border);
    this.drawLines(this.paths.edge, this.colours.edge);
    this.drawAreas();
    this.drawMarks();
    this.root.dataset.drawn = this.layer.name;
  }

  // The scale of the areas' weights, and what the legend says.
  prepare() {
    this.scale = new WorldScale(this.data.colours, this.dark, this.areas.weights);
    this.scale.show(this.root.querySelector(".world-scale"), shortCount);
    this.root.querySelector(".world-unit").textContent = this.layer.unitText(this.areas.km);
  }

  drawLand() {
    const { context, canvas } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    this.toPlane();
    context.fillStyle = this.colours.land;
    context.fill(this.paths.land);
  }

  toPlane() {
    const { scale, box } = this.window;
    const ratio = scale * devicePixelRatio;
    this.context.setTransform(ratio, 0, 0, ratio, -box.left * ratio, box.top * ratio);
  }

  drawAreas() {
    const { context, scale } = this;
    const ratio = this.window.scale * devicePixelRatio;
    const { left, top } = this.window.box;
    context.setTransform(1, 0, 0, 1, 0, 0);
    const paths = scale.colours.map(() => null);
    for (const { weight, corners } of this.areas.drawn(this.window.box)) {
      const path = (paths[scale.step(weight)] ??= new Path2D());
      for (let at = 0; at < 8; at += 2) {
        // Whole pixels: neither gaps nor seams between neighbours.
        const x = Math.round((corners[at] - left) * ratio);
        const y = Math.round((top - corners[at + 1]) * ratio);
        if (at) path.lineTo(x, y);
        else path.moveTo(x, y);
      }
      path.closePath();
    }
    paths.forEach((path, step) => {
      if (!path) return;
      context.fillStyle = scale.colours[step];
      context.fill(path);
    });
  }

  drawLines(path, colour) {
    this.toPlane();
    this.context.strokeStyle = colour;
    this.context.lineWidth = 0.75 / this.window.scale;
    this.context.stroke(path);
  }

  drawMarks() {
    this.context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    for (const { at } of this.defaults) this.drawRing(at, RING_PX, this.colours.ring);
    const focused = document.activeElement === this.canvas;
    if (this.cursor && focused) this.drawRing(this.cursor, 5, this.colours.cursor);
  }

  drawRing(at, radius, colour) {
    const { context } = this;
    context.beginPath();
    context.arc(...this.window.canvas(...at), radius, 0, 2 * Math.PI);
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.stroke();
  }
}
