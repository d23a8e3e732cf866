// Address maps: each element .address-map becomes a map of the data that it names.

// A canvas has at most so many device pixels a side: a screen of high density stays fast.
const MOST_PIXELS = 2048;
// Zooming ends where the map shows 16 cells of the table a side.
const LEAST_CELLS = 16;
// Arrow keys move by a 64th of the view; with Shift by one pixel or cell.
const STEPS_ACROSS = 64;
const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

class AddressMap {
  constructor(root, ranges) {
    Object.assign(this, { root, ranges, sought: null, pointed: null });
    this.part = { left: 0, top: 0, span: ranges.side }; // what is shown, in cells
    this.leastSpan = Math.min(ranges.side, LEAST_CELLS * 2 ** Math.ceil(ranges.bits / 2));
    this.find = (selector) => root.querySelector(selector);
    [this.square, this.image, this.canvas] = ["square", "square img", "square canvas"]
      .map((name) => this.find(`.address-map-${name}`));
    this.firstLayer = this.image.src;
    this.drawing = new MapDrawing(this.canvas, ranges);
    this.legend = new MapLegend(root, (label) => this.highlight(label));
    this.listen();
    this.show(0);
    new ResizeObserver(() => this.resize()).observe(this.square);
  }

  listen() {
    followPointers(this.canvas, this);
    followKeys(this.canvas, this.root, this);
    this.image.addEventListener("load", () => this.changed());
    this.find(".address-map-views").addEventListener("change", ({ target }) => this.show(Number(target.value)));
    const form = this.find(".address-map-go");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.find(".address-map-message").textContent = this.goTo(form.querySelector("input").value);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.legend.choose(this.legend.chosen));
  }

  show(number) {
    this.view = this.ranges.views[number];
    this.image.src = this.view.layer ?? this.firstLayer;
    this.root.querySelectorAll(".address-map-view").forEach((view, at) => (view.hidden = at !== number));
    this.legend.show(this.view); // which highlights nothing, and so draws
  }

  // A label that shares its colour with others gets another one.
  highlight(label) {
    const { colours, labels } = this.view;
    const shared = labels.length > colours.length && label >= colours.length - 1;
    this.highlighted = label === null ? null
      : highlightPicture(this.ranges, this.view, label, shared ? colours[2] : null);
    this.changed();
  }

  resize() {
    this.size = this.square.clientWidth;
    const pixels = Math.min(MOST_PIXELS, Math.round(this.size * devicePixelRatio));
    Object.assign(this.canvas, { width: pixels, height: pixels });
    this.draw();
  }

  // Draw in the next frame; data-drawn is absent until then.
  changed() {
    delete this.root.dataset.drawn;
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = null;
    if (!this.size || !this.image.complete) return;
    const pointed = this.pointed && this.around(this.pointed);
    const pictures = [this.image, this.highlighted].filter(Boolean);
    const marks = [[this.sought, 2], [pointed?.prefix, 1]].filter(([prefix]) => prefix);
    this.drawing.draw(this.size, this.part, pictures, marks);
    this.canvas.classList.toggle("address-map-zoomed", this.part.span < this.ranges.side);
    this.find(".address-map-grid").textContent =
      `The grid shows prefixes of /${this.ranges.length(2 * this.drawing.level)}.`;
    this.describe(pointed);
    this.root.dataset.drawn = this.view.name;
  }

  // The prefix at a place and the number of its range.
  around({ column, row }) {
    const inside = (at) => clamp(Math.floor(at), 0, this.ranges.side - 1);
    const cell = curveCell(inside(column), inside(row), this.ranges.order);
    if (cell >= this.ranges.covered) return null;
    return { position: this.ranges.find(cell), prefix: this.ranges.prefixAround(cell) };
  }

  describe(pointed) {
    const lines = pointed ? [["Prefix", this.ranges.prefixText(pointed.prefix)]] : [];
    for (const { title, labels, values } of pointed ? this.ranges.views : []) {
      lines.push([title, labels[values[pointed.position]]]);
    }
    this.find(".address-map-place").replaceChildren(...lines.flatMap(([term, text]) =>
      [textElement("dt", term), textElement("dd", text)]));
    this.showTip([...new Set(lines.map(([, text]) => text))]); // "unknown" once
  }

  showTip(texts) {
    const tip = this.find(".address-map-tip");
    tip.hidden = texts.length === 0;
    if (tip.hidden) return;
    tip.replaceChildren(...texts.map((text, index) => textElement(index ? "span" : "strong", text)));
    const { left, top, span } = this.part;
    const [x, y] = [this.pointed.column - left, this.pointed.row - top].map((at) => (at / span) * this.size);
    const above = y + 18 + tip.offsetHeight > this.size;
    tip.style.left = `${clamp(x + 14, 0, this.size - tip.offsetWidth)}px`;
    tip.style.top = `${above ? Math.max(0, y - 14 - tip.offsetHeight) : y + 18}px`;
  }

  // The place of a pixel; without one that which is pointed at, or the middle.
  place(pixel) {
    const { left, top, span } = this.part;
    const scale = span / this.size;
    if (pixel) return { column: left + pixel.x * scale, row: top + pixel.y * scale };
    return this.pointed ?? { column: left + span / 2, row: top + span / 2 };
  }

  point(pixel) {
    this.pointed = pixel && this.place(pixel);
    this.changed();
  }

  step(columns, rows, small) {
    const cell = 2 ** Math.floor(this.ranges.bits / 2);
    const length = Math.max(cell, this.part.span / (small ? this.canvas.width : STEPS_ACROSS));
    const { column, row } = this.place();
    const inside = (at) => clamp(at, 0.5, this.ranges.side - 0.5);
    this.pointed = { column: inside(column + columns * length), row: inside(row + rows * length) };
    // Move just as far as the place needs to be inside.
    const near = (start, at) => clamp(start, at + 1 - this.part.span, at);
    this.move(near(this.part.left, this.pointed.column), near(this.part.top, this.pointed.row));
  }

  pan(dx, dy) {
    const scale = this.part.span / this.size;
    this.move(this.part.left - dx * scale, this.part.top - dy * scale);
  }

  // Zoom by a factor around a pixel, or the place that is pointed at; returns whether it changed.
  zoom(factor, pixel) {
    const { column, row } = this.place(pixel);
    const { left, top, span } = this.part;
    const fresh = clamp(span / factor, this.leastSpan, this.ranges.side);
    this.move(column - (column - left) * (fresh / span), row - (row - top) * (fresh / span), fresh);
    return fresh !== span;
  }

  move(left, top, span = this.part.span) {
    const inside = (start) => clamp(start, 0, this.ranges.side - span);
    this.part = { left: inside(left), top: inside(top), span };
    this.changed();
  }

  reset() {
    Object.assign(this, { sought: null, pointed: null });
    this.move(0, 0, this.ranges.side);
  }

  // Show and mark an address or prefix; returns the problem of the text, or nothing.
  goTo(text) {
    const parsed = parsePrefix(text);
    if (!parsed) return `“${text}” is not an address or a prefix.`;
    if (parsed.family !== this.ranges.family) return `This map has only IPv${this.ranges.family} addresses.`;
    const prefix = this.ranges.prefixOf(parsed);
    if (!prefix) return `“${text}” is not on this map.`;
    const { left, top, width, height } = curveRectangle(prefix.first, prefix.bits, this.ranges.order);
    const span = clamp(Math.max(width, height), 4 * this.leastSpan, this.ranges.side);
    this.sought = prefix;
    this.pointed = { column: left + 0.5, row: top + 0.5 };
    this.move(left + (width - span) / 2, top + (height - span) / 2, span);
    return "";
  }
}

async function startAddressMap(root) {
  try {
    const ranges = await AddressRanges.unpack(JSON.parse(document.getElementById(root.dataset.source).textContent));
    for (const element of root.querySelectorAll("[data-live]")) element.hidden = false;
    root.classList.add("address-map-live");
    root.map = new AddressMap(root, ranges);
  } catch (error) {
    root.querySelector(".address-map-state").textContent = `This browser cannot read the map's table: ${error.message}`;
  }
}

document.querySelectorAll(".address-map").forEach(startAddressMap);
