// What a map shows: pictures of the square, the grid of prefixes with their texts, and marks.

const GRID_FONT = "11px system-ui, sans-serif";
const TEXT_MARGIN = 5; // px
const GRID_LINE = "rgb(128 128 128 / .5)";
const HIGHLIGHT_ORDER = 11; // at most 2^11 pixels a side
const FAINT = 0.18; // the opacity of the other labels

// A picture of the square: one label in a colour, the rest transparent.
function highlightPicture(ranges, values, label, colour) {
  const order = Math.min(HIGHLIGHT_ORDER, ranges.order);
  const cells = 4 ** (ranges.order - order);
  const canvas = new OffscreenCanvas(2 ** order, 2 ** order);
  const context = canvas.getContext("2d", { willReadFrequently: true }); // fast for many squares
  context.fillStyle = colour;
  values.forEach((value, position) => {
    if (value !== label) return;
    const last = Math.ceil(ranges.starts[position + 1] / cells);
    for (let at = Math.ceil(ranges.starts[position] / cells); at < last;) {
      // The largest square of 4^level pixels from here on.
      let level = 0;
      while (level < order && at % 4 ** (level + 1) === 0 && at + 4 ** (level + 1) <= last) level += 1;
      const { left, top, width } = curveRectangle(at, 2 * level, order);
      context.fillRect(left, top, width, width);
      at += 4 ** level;
    }
  });
  return canvas;
}

class MapDrawing {
  constructor(canvas, ranges) {
    Object.assign(this, { canvas, ranges, context: canvas.getContext("2d") });
  }

  // Draw at `size` CSS pixels the square of `span` cells a side whose [column, row] is `corner`.
  // `image` and `highlight`, if any, are of the whole square, `marks` are [prefix, width].
  draw({ size, corner, span }, image, highlight, marks) {
    Object.assign(this, { corner, span, scale: size / span });
    this.canvas.width = this.canvas.height = size * devicePixelRatio; // which clears it
    this.context.scale(devicePixelRatio, devicePixelRatio);
    this.context.imageSmoothingEnabled = false;
    this.drawPicture(image, image.naturalWidth, highlight ? FAINT : 1);
    if (highlight) this.drawPicture(highlight, highlight.width, 1);
    this.drawGrid();
    for (const mark of marks) this.drawMark(...mark);
  }

  drawPicture(picture, width, opacity) {
    const source = [...this.corner, this.span, this.span].map((cells) => (cells * width) / this.ranges.side);
    const size = this.span * this.scale;
    this.context.globalAlpha = opacity;
    this.context.drawImage(picture, ...source, 0, 0, size, size);
    this.context.globalAlpha = 1;
  }

  // Whether the squares of a level are wide enough for the longest text, such as 255.255/16.
  textsFit(level) {
    const length = this.ranges.length(2 * level);
    const [group, point, bits] = this.ranges.family === 4 ? ["255", ".", 8] : ["0000", ":", 16];
    const longest = `${Array(Math.ceil(length / bits)).fill(group).join(point)}/${length}`;
    return this.context.measureText(longest).width + TEXT_MARGIN <= 2 ** level * this.scale;
  }

  // The squares of the finest level that has room for texts, at most of blocks.
  drawGrid() {
    const most = Math.floor(this.ranges.blockBits / 2);
    this.context.font = GRID_FONT;
    this.level = 0;
    while (this.level < most && !this.textsFit(this.level)) this.level += 1;
    this.hasTexts = this.textsFit(this.level);
    const side = 2 ** this.level;
    const [left, top] = this.corner;
    Object.assign(this.context, { textBaseline: "top", lineJoin: "round", fillStyle: "#fff" });
    for (let row = Math.floor(top / side); row * side < top + this.span; row++) {
      for (let column = Math.floor(left / side); column * side < left + this.span; column++) {
        this.drawSquare(column, row, side);
      }
    }
  }

  drawSquare(column, row, side) {
    const first = curveCell(column, row, this.ranges.order - this.level) * side * side;
    if (first >= this.ranges.covered) return;
    const [x, y] = this.pixel(column * side, row * side);
    Object.assign(this.context, { lineWidth: 1, strokeStyle: GRID_LINE });
    this.context.strokeRect(x, y, side * this.scale, side * this.scale);
    if (!this.hasTexts) return;
    const text = this.ranges.prefixText({ first, bits: 2 * this.level }).replace(/(\.0)+\//, "/");
    Object.assign(this.context, { lineWidth: 3, strokeStyle: "#000" });
    this.context.strokeText(text, x + 2.5, y + 2.5);
    this.context.fillText(text, x + 2.5, y + 2.5);
  }

  pixel(...place) {
    return place.map((at, axis) => Math.round((at - this.corner[axis]) * this.scale) + 0.5);
  }

  // The outline of a prefix, at least 6 pixels a side. White with a black edge is visible on every colour.
  drawMark({ first, bits }, width) {
    const { left, top, width: columns, height: rows } = curveRectangle(first, bits, this.ranges.order);
    const [w, h] = [columns, rows].map((length) => Math.max(length * this.scale, 6));
    const [x, y] = this.pixel(left + columns / 2, top + rows / 2);
    for (const [lineWidth, strokeStyle] of [[width + 2, "#000"], [width, "#fff"]]) {
      Object.assign(this.context, { lineWidth, strokeStyle });
      this.context.strokeRect(x - w / 2, y - h / 2, w, h);
    }
  }
}
