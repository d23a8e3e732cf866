// Address maps: each element .address-map becomes a map of the data that it names.

// Zooming ends where the map shows 16 cells of the table a side.
const LEAST_CELLS = 16;
const STEPS_ACROSS = 64; // of the arrow keys
const HIGHLIGHT = "#e0007a"; // of labels without a colour of their own

const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

class AddressMap {
  constructor(root, ranges, colours) {
    Object.assign(this, { root, ranges, colours, sought: null, pointed: null });
    Object.assign(this, { corner: [0, 0], span: ranges.side }); // of the visible square, in cells
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
    const pointed = this.pointed && this.ranges.prefixAround(...this.pointed);
    const marks = [[this.sought, 2], [pointed, 1]].filter(([prefix]) => prefix);
    this.drawing.draw(this, image, this.highlight, marks);
    this.canvas.classList.toggle("address-map-zoomed", this.span < this.ranges.side);
    this.describe(pointed);
    this.root.dataset.drawn = this.number;
  }

  // Texts of datasets become text nodes only.
  describe(prefix) {
    const labels = (position) => this.ranges.views.map((view) => view.labels[view.values[position]]);
    const texts = prefix ? [this.ranges.prefixText(prefix), ...labels(prefix.position)] : [];
    this.answer.querySelectorAll("dd").forEach((cell, at) => (cell.textContent = texts[at] ?? ""));
    if (!prefix) return;
    // The answer is on the side of the place with more room.
    const places = this.pointed.map((at, axis) => ((at - this.corner[axis]) / this.span) * this.size);
    const [left, top] = places.map((at) => `${at}px`);
    const sides = places.map((at) => (at < this.size / 2 ? "1rem" : "calc(-100% - 1rem)"));
    Object.assign(this.answer.style, { left, top, translate: sides.join(" ") });
  }

  // The [column, row] of a pixel [x, y]; without a pixel, of the pointer, or of the middle.
  place(pixel) {
    if (!pixel && this.pointed) return this.pointed;
    const scale = this.span / this.size;
    return (pixel ?? [this.size / 2, this.size / 2]).map((at, axis) => this.inside(this.corner[axis] + at * scale));
  }

  inside(at) {
    return clamp(at, 0, this.ranges.side - 1);
  }

  point(pixel) {
    this.pointed = pixel && this.place(pixel);
    this.changed();
  }

  // Move the cursor, and the map just as far as the cursor needs to be inside.
  step(...steps) {
    const length = this.span / STEPS_ACROSS;
    this.pointed = this.place().map((at, axis) => this.inside(at + steps[axis] * length));
    this.move(this.pointed.map((at, axis) => clamp(this.corner[axis], at + 1 - this.span, at)));
  }

  pan(...pixels) {
    this.move(this.corner.map((start, axis) => start - (pixels[axis] * this.span) / this.size));
  }

  // Zoom by a factor around a pixel, or the place that is pointed at; returns whether it changed.
  zoom(factor, pixel) {
    const before = this.span;
    const span = clamp(before / factor, this.leastSpan, this.ranges.side);
    this.move(this.place(pixel).map((at, axis) => at - (at - this.corner[axis]) * (span / before)), span);
    return span !== before;
  }

  move(corner, span = this.span) {
    this.corner = corner.map((start) => clamp(start, 0, this.ranges.side - span));
    this.span = span;
    this.changed();
  }

  reset() {
    Object.assign(this, { sought: null, pointed: null });
    this.choose(null);
    this.move([0, 0], this.ranges.side);
  }

  // Show an address or prefix, or on the whole map the first label of the view that holds a text, if
  // possible as whole words: IT is Italy rather than the United States.
  seek(text) {
    const prefix = this.ranges.prefixOf(parsePrefix(text));
    const names = this.ranges.views[this.number].labels.map((name) => name.toLowerCase());
    const words = (name) => ` ${name.replace(/[(),]/g, " ")} `;
    const whole = names.findIndex((name) => words(name).includes(words(text.toLowerCase())));
    const label = whole >= 0 ? whole : names.findIndex((name) => name.includes(text.toLowerCase()));
    if (prefix) this.goTo(prefix);
    else if (label >= 0) {
      this.reset();
      this.choose(label);
    } else this.say(`“${text}” is neither an IPv${this.ranges.family} address of this map nor a name of this view.`);
  }

  // Show and mark a prefix.
  goTo(prefix) {
    const { left, top, width, height } = curveRectangle(prefix.first, prefix.bits, this.ranges.order);
    const span = clamp(Math.max(width, height), 4 * this.leastSpan, this.ranges.side);
    Object.assign(this, { sought: prefix, pointed: [left, top] });
    this.say("");
    this.move([left + (width - span) / 2, top + (height - span) / 2], span);
  }
}

async function startAddressMap(root) {
  const data = JSON.parse(document.getElementById(root.dataset.source).textContent);
  const ranges = await AddressRanges.unpack(data);
  for (const element of root.querySelectorAll("[data-live]")) element.hidden = false;
  new AddressMap(root, ranges, data.colours);
}

document.querySelectorAll(".address-map").forEach(startAddressMap);
