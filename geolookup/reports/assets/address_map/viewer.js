// Address maps: each element .address-map becomes a map of the data that it names.

// Zooming ends where the map shows 16 cells of the table a side.
const LEAST_CELLS = 16;
const STEPS_ACROSS = 64; // of the arrow keys
const HIGHLIGHT = "#e0007a";

const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

// A new element with text; the texts of datasets only ever become text nodes.
function textElement(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

class AddressMap {
  constructor(root, ranges) {
    Object.assign(this, { root, ranges, sought: null, pointed: null, chosen: null });
    this.part = { left: 0, top: 0, span: ranges.side }; // what is shown, in cells
    this.leastSpan = Math.min(ranges.side, LEAST_CELLS * 2 ** Math.ceil(ranges.bits / 2));
    this.find = (name) => root.querySelector(`.address-map-${name}`);
    this.say = (name, text) => (this.find(name).textContent = text);
    [this.image, this.canvas] = ["square img", "square canvas"].map(this.find);
    this.firstLayer = this.image.src;
    this.drawing = new MapDrawing(this.canvas, ranges);
    this.listen();
    this.show(0);
    new ResizeObserver(() => this.changed()).observe(this.canvas);
  }

  listen() {
    followPointers(this.canvas, this);
    followKeys(this.canvas, this.root, this);
    this.image.addEventListener("load", () => this.changed());
    this.find("views").addEventListener("change", ({ target }) => this.show(Number(target.value)));
    this.find("find").addEventListener("reset", () => this.choose(null));
    for (const [name, action] of [["find", "highlightFirst"], ["go", "goTo"]]) {
      this.find(name).addEventListener("submit", (event) => {
        event.preventDefault();
        this[action](this.find(`${name} input`).value.trim());
      });
    }
    for (const item of this.root.querySelectorAll("[data-label]")) {
      const label = Number(item.dataset.label);
      const button = Object.assign(document.createElement("button"), { type: "button", value: label });
      button.append(...item.childNodes);
      button.addEventListener("click", () => this.choose(label === this.chosen ? null : label));
      item.append(button);
    }
  }

  show(number) {
    this.view = this.ranges.views[number];
    this.image.src = this.view.layer ?? this.firstLayer;
    this.root.querySelectorAll(".address-map-view").forEach((view, at) => (view.hidden = at !== number));
    this.find("find").reset(); // which chooses no label, and so draws
  }

  // Highlight a label, or none: in its colour, unless that is a grey.
  choose(label) {
    const { colours, labels, values } = this.view;
    const colour = label > 1 && label < colours.length - 1 ? "transparent" : HIGHLIGHT;
    this.chosen = label;
    this.highlight = label === null ? null : highlightPicture(this.ranges, values, label, colour);
    for (const button of this.root.querySelectorAll("[data-label] button")) {
      button.ariaPressed = String(button.value === String(label));
    }
    this.say("highlighted", label === null ? "" : `Highlighted: ${labels[label]}`);
    this.changed();
  }

  // Highlight the first label that holds a text.
  highlightFirst(text) {
    const sought = text.toLowerCase();
    const label = this.view.labels.findIndex((name) => sought && name.toLowerCase().includes(sought));
    if (label >= 0) this.choose(label);
    else this.say("highlighted", `Nothing in this view is named “${text}”.`);
  }

  // Draw in the next frame; data-drawn is absent until then.
  changed() {
    delete this.root.dataset.drawn;
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = null;
    this.size = this.canvas.clientWidth;
    if (!this.size || !this.image.complete) return;
    const pointed = this.pointed && this.prefixAt(this.pointed);
    const pictures = [this.image, this.highlight].filter(Boolean);
    const marks = [[this.sought, 2], [pointed, 1]].filter(([prefix]) => prefix);
    this.drawing.draw(this.size, this.part, pictures, marks);
    this.canvas.classList.toggle("address-map-zoomed", this.part.span < this.ranges.side);
    this.describe(pointed);
    this.root.dataset.drawn = this.view.name;
  }

  prefixAt({ column, row }) {
    const cell = curveCell(Math.floor(column), Math.floor(row), this.ranges.order);
    return cell < this.ranges.covered ? this.ranges.prefixAround(cell) : null;
  }

  describe(prefix) {
    const lines = prefix ? [["Prefix", this.ranges.prefixText(prefix)]] : [];
    for (const { title, labels, values } of prefix ? this.ranges.views : []) {
      lines.push([title, labels[values[prefix.position]]]);
    }
    this.find("place").replaceChildren(...lines.flatMap(([term, text]) =>
      [textElement("dt", term), textElement("dd", text)]));
    this.find("tip").hidden = !prefix;
    if (prefix) this.showTip(new Set(lines.map(([, text]) => text))); // "unknown" once
  }

  // The tip lies on the side of the place where there is more room.
  showTip(texts) {
    const tip = this.find("tip");
    tip.replaceChildren(...[...texts].map((text) => textElement("span", text)));
    const { left, top, span } = this.part;
    const [x, y] = [this.pointed.column - left, this.pointed.row - top].map((at) => at / span);
    const [across, down] = [x, y].map((at) => (at < 0.5 ? "1rem" : "calc(-100% - 1rem)"));
    Object.assign(tip.style, { left: `${100 * x}%`, top: `${100 * y}%`, translate: `${across} ${down}` });
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
    this.move(0, 0, this.ranges.side);
  }

  // Show and mark an address or prefix.
  goTo(text) {
    const prefix = parsePrefix(text);
    this.sought = prefix && this.ranges.prefixOf(prefix);
    this.say("message", this.sought ? "" : `“${text}” is not an IPv${this.ranges.family} address or prefix of this map.`);
    if (!this.sought) return;
    const { left, top, width, height } = curveRectangle(this.sought.first, this.sought.bits, this.ranges.order);
    const span = clamp(Math.max(width, height), 4 * this.leastSpan, this.ranges.side);
    this.pointed = { column: left, row: top };
    this.move(left + (width - span) / 2, top + (height - span) / 2, span);
  }
}

async function startAddressMap(root) {
  const data = JSON.parse(document.getElementById(root.dataset.source).textContent);
  const ranges = await AddressRanges.unpack(data);
  for (const element of root.querySelectorAll("[data-live]")) element.hidden = false;
  new AddressMap(root, ranges);
}

document.querySelectorAll(".address-map").forEach(startAddressMap);
