// Maps of the world: densities drawn on a canvas, one at a time, with rings at default coordinates.

const LARGEST_CELL_PX = 24; // zooming ends where the sides of cells are so many px
const RING_PX = 7;
const CURSOR_PX = 5;
// Arrow keys move the cursor by so many px; with Shift by the side of the smallest square.
const STEP_PX = 12;
const SMALL_STEP_PX = LEAST_PX;

class WorldMap {
  constructor(root, data, paths, cells, layers) {
    Object.assign(this, { root, data, cells, layers, layer: layers[0] });
    this.canvas = root.querySelector("canvas");
    this.picture = new WorldPicture(this.canvas, paths);
    this.window = new WorldWindow((LARGEST_CELL_PX * EARTH_KM) / cells.grid.km);
    this.defaults = data.defaults.map((each) => ({ ...each, at: projected(each.latitude, each.longitude) }));
    this.schemes = matchMedia("(prefers-color-scheme: dark)");
    this.cursor = null;
    this.printing = false;
    this.listen();
  }

  // The drawing, made anew when the size or the density has changed.
  get areas() {
    this.made ??= this.layer.areasAt(this.window.scale);
    return this.made;
  }

  get dark() {
    return this.schemes.matches && !this.printing;
  }

  listen() {
    followSize(this.canvas, () => this.resize());
    this.schemes.addEventListener("change", () => this.repaint());
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    followGestures(this.canvas, {
      pan: (dx, dy) => this.pan(dx, dy),
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      point: (x, y) => this.point(this.window.plane(x, y)),
      leave: () => this.point(null),
    });
    followKeys(this.canvas, this.root, {
      step: (columns, rows, small) => this.moveCursor(columns, rows, small ? SMALL_STEP_PX : STEP_PX),
      zoom: (factor) => this.zoom(factor, ...this.cursorPlace()),
      whole: () => this.change(() => this.window.reset()),
      leave: () => this.point(null),
    });
    for (const change of ["focus", "blur"]) this.canvas.addEventListener(change, () => this.redraw());
    for (const choice of this.root.querySelectorAll("[name$=-density]")) {
      choice.addEventListener("change", () => this.choose(Number(choice.value)));
    }
  }

  choose(number) {
    this.change(() => { this.layer = this.layers[number]; });
    if (this.cursor) this.point(this.cursor);
  }

  // Shows the countries of some weights, by code; null: the choices of all layers again.
  narrow(weights) {
    const number = this.layers.findIndex((layer) => layer instanceof CountryLayer);
    this.layers[number].narrow(weights);
    const choices = [...this.root.querySelectorAll("[name$=-density]")];
    choices.forEach((choice, at) => {
      choice.disabled = weights !== null && at !== number;
      if (weights !== null) choice.checked = at === number;
    });
    this.choose(weights === null ? this.layers.indexOf(this.layer) : number);
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.picture.resize(box.width, box.height);
    this.change(() => this.window.resize(box.width, box.height));
  }

  print(printing) {
    this.printing = printing;
    this.stale = true;
    this.draw(); // at once: no frame comes before the page is printed
  }

  pan(columns, rows) {
    this.window.pan(columns, rows);
    this.repaint();
  }

  // Returns whether anything changes.
  zoom(factor, x = this.window.width / 2, y = this.window.height / 2) {
    const before = this.window.zoomed;
    this.change(() => this.window.zoom(factor, x, y));
    return this.window.zoomed !== before;
  }

  cursorPlace() {
    return this.cursor ? this.window.canvas(...this.cursor) : [];
  }

  moveCursor(columns, rows, px) {
    const [x, y] = this.cursor ?? [this.window.x, this.window.y];
    const { scale } = this.window;
    const limit = (value, most) => Math.max(-most, Math.min(most, value));
    const moved = [limit(x + columns * px / scale, EARTH_WIDTH), limit(y - rows * px / scale, EARTH_HEIGHT)];
    this.window.include(...moved);
    this.point(moved);
    this.repaint();
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
    const here = this.layer.text(this.areas, [x, y], place);
    return found ? `${here}. Default coordinates: ${found.text}` : here;
  }

  defaultAt(x, y) {
    const reach = RING_PX / this.window.scale;
    return this.defaults.find(({ at }) => Math.hypot(at[0] - x, at[1] - y) <= reach);
  }

  change(action) {
    action();
    this.made = null;
    this.repaint();
  }

  repaint() {
    this.stale = true;
    this.redraw();
  }

  // data-drawn is absent while a change waits for the next frame.
  redraw() {
    delete this.root.dataset.drawn;
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  // A pointer that moves changes only the rings.
  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    if (this.stale) this.paint();
    this.picture.show(this.rings());
    this.root.dataset.drawn = this.layer.name;
  }

  // Paints the areas by the scale of their weights. The legend shows it.
  paint() {
    this.stale = false;
    const scale = new WorldScale(this.data.colours, this.dark, this.areas.weights);
    scale.show(this.root.querySelector(".world-scale"));
    this.root.querySelector(".world-unit").textContent = `${this.layer.unitText(this.areas)}, from`;
    this.picture.paint(this.window, this.areas, scale, this.dark);
    // A finger pans an enlarged map, and scrolls the page otherwise.
    this.canvas.style.touchAction = this.window.zoomed > 1 ? "none" : "pan-y";
  }

  rings() {
    const rings = this.defaults.map(({ at }) => ({ at, radius: RING_PX, colour: "ring" }));
    const focused = document.activeElement === this.canvas;
    if (this.cursor && focused) rings.push({ at: this.cursor, radius: CURSOR_PX, colour: "cursor" });
    return rings;
  }
}
