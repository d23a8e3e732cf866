// Address maps: each element .address-map becomes a map of the data that it names.

// Zooming ends where the map shows 16 cells of the table a side.
const LEAST_CELLS = 16;
const STEPS_ACROSS = 64; // of the arrow keys
const HIGHLIGHT = "#e0007a"; // of labels without a colour of their own

const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

class AddressMap {
  constructor(root, ranges, colours) {
    Object.assign(this, { root, ranges, colours, sought: null, pointed: null });
    this.part = { left: 0, top: 0, span: ranges.side }; // what is shown, in cells
    this.leastSpan = Math.min(ranges.side, LEAST_CELLS * 2 ** Math.ceil(ranges.bits / 2));
    this.canvas = root.querySelector("canvas");
    this.answer = root.querySelector("dl");
    this.buttons = root.querySelectorAll("button[value]"); // of the legends
    this.drawing = new MapDrawing(this.canvas, ranges);
    this.listen();
    this.show(0);
  }

  listen() {
    followPointers(this.canvas, this);
    followKeys(this.canvas, this.root, this);
    new ResizeObserver(() => this.changed()).observe(this.canvas);
    this.root.addEventListener("load", () => this.changed(), true); // of images
    this.root.querySelector("fieldset").addEventListener("change", ({ target }) => this.show(Number(target.value)));
    this.root.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.seek(this.root.querySelector("form input").value.trim());
    });
    for (const button of this.buttons) {
      button.disabled = false;
      const label = Number(button.value);
      button.addEventListener("click", () => this.choose(label === this.chosen ? null : label));
    }
  }

  say(text) {
    this.root.querySelector("[role=status]").textContent = text;
  }

  show(number) {
    this.number = number;
    for (const part of this.root.querySelectorAll("[data-view]")) part.hidden = part.dataset.view !== String(number);
    this.choose(null);
  }

  // Highlight a label, or none: in its colour, unless that is a grey.
  choose(label) {
    const { labels, values } = this.ranges.views[this.number];
    const colours = this.colours[this.number];
    const colour = label > 1 && label < colours.length - 1 ? colours[label] : HIGHLIGHT;
    this.chosen = label;
    this.highlight = label === null ? null : highlightPicture(this.ranges, values, label, colour);
    for (const button of this.buttons) button.ariaPressed = String(button.value === String(label));
    this.say(label === null ? "" : `Highlighted: ${labels[label]}`);
    this.changed();
  }

  // Draw in the next frame; data-drawn is absent until then.
  changed() {
    delete this.root.dataset.drawn;
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = null;
    this.size = this.canvas.clientWidth;
    const image = this.root.querySelector("img:not([hidden])");
    if (!this.size || !image.complete) return;
    const pointed = this.pointed && this.prefixAt(this.pointed);
    const marks = [[this.sought, 2], [pointed, 1]].filter(([prefix]) => prefix);
    this.drawing.draw(this.size, this.part, image, this.highlight, marks);
    this.canvas.classList.toggle("address-map-zoomed", this.part.span < this.ranges.side);
    this.describe(pointed);
    this.root.dataset.drawn = this.number;
  }

  prefixAt({ column, row }) {
    const cell = curveCell(Math.floor(column), Math.floor(row), this.ranges.order);
    return cell < this.ranges.covered ? this.ranges.prefixAround(cell) : null;
  }

  // The texts of datasets only ever become text nodes.
  describe(prefix) {
    const labels = (position) => this.ranges.views.map((view) => view.labels[view.values[position]]);
    const texts = prefix ? [this.ranges.prefixText(prefix), ...labels(prefix.position)] : [];
    this.answer.querySelectorAll("dd").forEach((cell, at) => (cell.textContent = texts[at] ?? ""));
    if (!prefix) return;
    // The answer lies on the side of the place where there is more room.
    const { left, top, span } = this.part;
    const places = [this.pointed.column - left, this.pointed.row - top].map((at) => (at / span) * this.size);
    const [across, down] = places.map((at) => (at < this.size / 2 ? "1rem" : "calc(-100% - 1rem)"));
    const [x, y] = places.map((at) => `${at}px`);
    Object.assign(this.answer.style, { left: x, top: y, translate: `${across} ${down}` });
  }

  // The cell of a pixel; without one that which is pointed at, or the middle.
  place(pixel) {
    const { left, top, span } = this.part;
    const { x, y } = pixel ?? { x: this.size / 2, y: this.size / 2 };
    if (!pixel && this.pointed) return this.pointed;
    return { column: left + (x / this.size) * span, row: top + (y / this.size) * span };
  }

  point(pixel) {
    this.pointed = pixel && this.inside(this.place(pixel));
    this.changed();
  }

  inside({ column, row }) {
    const [inner, lower] = [column, row].map((at) => clamp(at, 0, this.ranges.side - 1));
    return { column: inner, row: lower };
  }

  step(columns, rows) {
    const { left, top, span } = this.part;
    const { column, row } = this.place();
    const length = span / STEPS_ACROSS;
    this.pointed = this.inside({ column: column + columns * length, row: row + rows * length });
    // Move just as far as the place needs to be inside.
    const near = (start, at) => clamp(start, at + 1 - span, at);
    this.move(near(left, this.pointed.column), near(top, this.pointed.row));
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
    this.choose(null);
    this.move(0, 0, this.ranges.side);
  }

  // Show an address or prefix, or highlight the first label of the view that holds a text.
  seek(text) {
    const prefix = this.ranges.prefixOf(parsePrefix(text));
    const named = (name) => name.toLowerCase().includes(text.toLowerCase());
    const label = this.ranges.views[this.number].labels.findIndex(named);
    if (prefix) this.goTo(prefix);
    else if (label >= 0) this.choose(label);
    else this.say(`“${text}” is neither an IPv${this.ranges.family} address of this map nor a name of this view.`);
  }

  // Show and mark a prefix.
  goTo(prefix) {
    const { left, top, width, height } = curveRectangle(prefix.first, prefix.bits, this.ranges.order);
    const span = clamp(Math.max(width, height), 4 * this.leastSpan, this.ranges.side);
    Object.assign(this, { sought: prefix, pointed: { column: left, row: top } });
    this.say("");
    this.move(left + (width - span) / 2, top + (height - span) / 2, span);
  }
}

async function startAddressMap(root) {
  const data = JSON.parse(document.getElementById(root.dataset.source).textContent);
  const ranges = await AddressRanges.unpack(data);
  for (const element of root.querySelectorAll("[data-live]")) element.hidden = false;
  new AddressMap(root, ranges, data.colours);
}

document.querySelectorAll(".address-map").forEach(startAddressMap);
