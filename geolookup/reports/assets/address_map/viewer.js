// Address maps: each element .address-map becomes a map of the data that it names.

// Canvases have at most so many device pixels a side: a screen of high density stays fast.
const MOST_PIXELS = 1600;
// An address that was sought is shown among so many cells a side.
const SOUGHT_SPAN = 64;
// Arrow keys move by a 64th of the view; with Shift by one pixel's square.
const STEPS_ACROSS = 64;

class AddressMap {
  constructor(root, map) {
    Object.assign(this, { root, views: map.views, ranges: new AddressRanges(map) });
    this.find = (name) => root.querySelector(`.address-map-${name}`);
    this.square = this.find("square");
    this.colours = this.find("colours").getContext("2d", { willReadFrequently: true });
    this.window = new MapWindow(this.ranges.side);
    this.overlay = new MapOverlay(this.find("overlay"), this.ranges);
    this.legend = new MapLegend(root, this.ranges, (label) => this.highlight(label));
    listenToMap(this.overlay.canvas, this);
    addViewChoices(this.find("views"), root.dataset.name, this.views, (view) => this.show(view));
    this.addTools();
    this.show(this.views[0]);
    followSize(this.square, () => this.resize());
  }

  addTools() {
    this.find("go").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find("message").textContent = this.goTo(this.find("sought").value);
    });
  }

  show(view) {
    this.view = view;
    this.find("note").textContent = view.note;
    this.legend.show(view); // which highlights nothing, and so draws
  }

  highlight(label) {
    this.palette = labelColours(this.view, label);
    this.changed();
  }

  resize() {
    this.size = this.square.clientWidth;
    const pixels = Math.min(MOST_PIXELS, Math.round(this.size * devicePixelRatio));
    for (const canvas of [this.colours.canvas, this.overlay.canvas]) {
      Object.assign(canvas, { width: pixels, height: pixels });
    }
    this.image = pixels ? new ImageData(pixels, pixels) : null;
    this.paint();
  }

  // The window or the colours are others: paint once in the next frame.
  changed() {
    this.stale = true;
    this.request();
  }

  // data-drawn is absent while a change waits for the next frame.
  request() {
    delete this.root.dataset.drawn;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.stale) this.paint();
      else this.mark();
    });
  }

  paint() {
    if (!this.image) return;
    this.stale = false;
    const pixels = new Uint32Array(this.image.data.buffer);
    paintRanges(pixels, this.image.width, this.window, this.ranges, this.view.values, this.palette);
    this.colours.putImageData(this.image, 0, 0);
    this.overlay.canvas.classList.toggle("address-map-zoomed", !this.window.whole);
    this.mark();
    this.find("grid").textContent = `Grid: prefixes of /${this.overlay.gridLength}`;
  }

  // Draw and describe the square under the pointer.
  mark() {
    const pointed = this.pointed && this.around(this.pointed);
    this.overlay.draw(this.size, this.window, { sought: this.sought, pointed: pointed?.prefix });
    const lines = pointed ? this.describe(pointed) : [];
    this.find("place").replaceChildren(...lines.flatMap(([term, text]) =>
      [textElement("dt", term), textElement("dd", text)]));
    this.tip(lines);
    if (!this.frame) this.root.dataset.drawn = this.view.name;
  }

  // The first cell of the pixel's square at a place, its prefix and the number of ranges there.
  around({ column, row }) {
    const level = pixelLevel(this.window, this.image?.width ?? 1);
    const side = 2 ** level;
    const inside = (at) => Math.min(this.ranges.side - 1, Math.max(0, Math.floor(at)));
    const [x, y] = [column, row].map((at) => Math.floor(inside(at) / side));
    const cell = curveCell(x, y, this.ranges.order - level) * side * side;
    if (cell >= this.ranges.covered) return null;
    const position = this.ranges.find(cell);
    const last = this.ranges.find(Math.min(cell + side * side, this.ranges.covered) - 1);
    return { position, prefix: this.ranges.prefixAround(cell), further: last - position };
  }

  describe({ position, prefix, further }) {
    const lines = [["Prefix", this.ranges.prefixText(prefix)]];
    for (const { title, labels, values } of this.views) lines.push([title, labels[values[position]]]);
    if (further) lines.push(["In this pixel", `${NUMBER_TEXT.format(further)} more ranges`]);
    return lines;
  }

  tip(lines) {
    const tip = this.find("tip");
    tip.hidden = lines.length === 0;
    if (tip.hidden) return;
    const texts = new Set(lines.map(([, text]) => text)); // "unknown" once
    tip.replaceChildren(...[...texts].map((text, index) => textElement(index ? "span" : "strong", text)));
    const at = (place, start) => ((place - start) / this.window.span) * this.size;
    const [x, y] = [at(this.pointed.column, this.window.left), at(this.pointed.row, this.window.top)];
    const { offsetWidth, offsetHeight } = tip;
    tip.style.left = `${Math.max(0, Math.min(x + 14, this.size - offsetWidth))}px`;
    tip.style.top = `${y + 18 + offsetHeight > this.size ? Math.max(0, y - 14 - offsetHeight) : y + 18}px`;
  }

  point(place) {
    this.pointed = place;
    this.request();
  }

  step(columns, rows, small) {
    const { left, top, span } = this.window;
    const start = this.pointed ?? { column: left + span / 2, row: top + span / 2 };
    const length = small ? 2 ** pixelLevel(this.window, this.image.width) : Math.max(1, span / STEPS_ACROSS);
    const inside = (at) => Math.min(this.ranges.side - 0.5, Math.max(0.5, at));
    this.pointed = { column: inside(start.column + columns * length), row: inside(start.row + rows * length) };
    this.window.include(this.pointed.column, this.pointed.row);
    this.changed();
  }

  zoom(factor) {
    const { left, top, span } = this.window;
    const { column, row } = this.pointed ?? { column: left + span / 2, row: top + span / 2 };
    this.window.zoom(factor, column, row);
    this.changed();
  }

  reset() {
    this.window.reset();
    Object.assign(this, { sought: null, pointed: null });
    this.changed();
  }

  // Show and mark an address or prefix; return the problem of the text, or nothing.
  goTo(text) {
    const parsed = parsePrefix(text);
    if (!parsed) return `“${text}” is not an address or a prefix.`;
    if (parsed.family !== this.ranges.family) return `This map has only IPv${this.ranges.family} addresses.`;
    const prefix = this.ranges.prefixOf(parsed);
    if (!prefix) return `“${text}” is not on this map.`;
    const rectangle = curveRectangle(prefix.first, prefix.bits, this.ranges.order);
    this.sought = prefix;
    this.pointed = { column: rectangle.left + 0.5, row: rectangle.top + 0.5 };
    this.window.show(rectangle, SOUGHT_SPAN);
    this.changed();
    return "";
  }
}

async function startAddressMap(root) {
  const state = root.querySelector(".address-map-state");
  try {
    const map = await unpackMap(JSON.parse(document.getElementById(root.dataset.source).textContent));
    root.querySelector(".address-map-body").hidden = false;
    new AddressMap(root, map);
    state.remove();
    root.dataset.ready = "";
  } catch (error) {
    state.textContent = `This browser cannot draw the map: ${error.message}`;
  }
}

document.querySelectorAll(".address-map").forEach(startAddressMap);
