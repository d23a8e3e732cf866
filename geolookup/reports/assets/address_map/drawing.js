// What a map shows: its layer, the highlighted label, the grid of prefixes with their texts, and
// the marks of the prefix that was sought and of the one that is pointed at.

const GRID_FONT = "11px system-ui, sans-serif";
const GRID_MARGIN = 6;
const GRID_LINE = "rgb(128 128 128 / .5)";
// Light with a dark edge: visible on every colour, on white and on black.
const MARK_LIGHT = "#fff";
const MARK_DARK = "#000";
// A highlight has at most 2^11 pixels a side. A veil of the page's colour covers the other labels.
const HIGHLIGHT_ORDER = 11;
const VEIL_ALPHA = 210;

function colourBytes(hex, alpha) {
  return new Uint32Array(new Uint8Array([...[1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)), alpha]).buffer)[0];
}

// A picture of the square: clear where a label is, or in a colour, and a veil elsewhere.
function highlightPicture(ranges, view, label, colour) {
  const order = Math.min(HIGHLIGHT_ORDER, ranges.order);
  const [size, cells] = [2 ** order, 4 ** (ranges.order - order)];
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const image = new ImageData(size, size);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(colourBytes(dark ? "#14171a" : "#ffffff", VEIL_ALPHA));
  const fill = colour ? colourBytes(colour, 255) : 0;
  ranges.each(view, label, (start, end) => {
    const last = Math.ceil(end / cells);
    for (let at = Math.ceil(start / cells); at < last;) {
      // The largest square of 4^level pixels from here on.
      let level = 0;
      while (level < order && at % 4 ** (level + 1) === 0 && at + 4 ** (level + 1) <= last) level += 1;
      const { left, top, width } = curveRectangle(at, 2 * level, order);
      for (let row = top; row < top + width; row++) pixels.fill(fill, row * size + left, row * size + left + width);
      at += 4 ** level;
    }
  });
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// The text of a grid square. IPv4: the octets that its length reaches; IPv6: without "::" at the end.
function gridText(ranges, prefix) {
  const length = ranges.length(prefix.bits);
  const text = addressText(ranges.family, ranges.address(prefix.first));
  if (ranges.family === 6) return text.replace(/::$/, "");
  const octets = text.split(".").slice(0, Math.ceil(length / 8)).join(".");
  return length % 8 ? `${octets}/${length}` : octets;
}

class MapDrawing {
  constructor(canvas, ranges) {
    Object.assign(this, { canvas, ranges, context: canvas.getContext("2d") });
  }

  // Draw at `size` CSS pixels. `part` is the square that is shown, in cells: {left, top, span};
  // `pictures` are of the whole square, `marks` are [prefix, width].
  draw(size, part, pictures, marks) {
    const ratio = this.canvas.width / size;
    Object.assign(this, { part, scale: size / part.span });
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, size, size);
    for (const picture of pictures) this.drawPicture(picture, size);
    this.level = this.gridLevel();
    this.drawGrid();
    for (const mark of marks) this.drawMark(...mark);
  }

  drawPicture(picture, size) {
    const { left, top, span } = this.part;
    const pixels = (picture.naturalWidth ?? picture.width) / this.ranges.side;
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(picture, left * pixels, top * pixels, span * pixels, span * pixels, 0, 0, size, size);
  }

  // The finest level whose squares are wide enough for their texts, else the level of blocks.
  gridLevel() {
    const most = Math.floor(this.ranges.blockBits / 2);
    this.context.font = GRID_FONT;
    for (let level = 0; level < most; level++) {
      if (this.textsFit(level)) return level;
    }
    return most;
  }

  // Whether squares are wide enough for the longest text among the last four: they end with the
  // largest numbers.
  textsFit(level) {
    const firsts = [1, 2, 3, 4].map((back) => Math.max(0, this.ranges.covered - back * 4 ** level));
    const widths = firsts.map((first) =>
      this.context.measureText(gridText(this.ranges, { first, bits: 2 * level })).width);
    return Math.max(...widths) + GRID_MARGIN <= 2 ** level * this.scale;
  }

  drawGrid() {
    const side = 2 ** this.level;
    const { left, top, span } = this.part;
    Object.assign(this.context, { lineWidth: 1, strokeStyle: GRID_LINE });
    this.context.beginPath();
    for (let at = Math.ceil(left / side) * side; at <= left + span; at += side) this.line(at, top, at, top + span);
    for (let at = Math.ceil(top / side) * side; at <= top + span; at += side) this.line(left, at, left + span, at);
    this.context.stroke();
    if (this.textsFit(this.level)) this.drawTexts(side);
  }

  line(fromColumn, fromRow, toColumn, toRow) {
    this.context.moveTo(...this.pixel(fromColumn, fromRow));
    this.context.lineTo(...this.pixel(toColumn, toRow));
  }

  pixel(column, row) {
    const { left, top } = this.part;
    return [Math.round((column - left) * this.scale) + 0.5, Math.round((row - top) * this.scale) + 0.5];
  }

  drawTexts(side) {
    const { left, top, span } = this.part;
    Object.assign(this.context, { textBaseline: "top", lineJoin: "round", lineWidth: 3 });
    Object.assign(this.context, { strokeStyle: "rgb(0 0 0 / .85)", fillStyle: MARK_LIGHT });
    for (let row = Math.floor(top / side); row * side < top + span; row++) {
      for (let column = Math.floor(left / side); column * side < left + span; column++) {
        this.drawText(column, row, side);
      }
    }
  }

  drawText(column, row, side) {
    const first = curveCell(column, row, this.ranges.order - this.level) * side * side;
    if (first >= this.ranges.covered) return;
    const text = gridText(this.ranges, { first, bits: 2 * this.level });
    const [x, y] = this.pixel(column * side, row * side);
    this.context.strokeText(text, x + 2.5, y + 2.5);
    this.context.fillText(text, x + 2.5, y + 2.5);
  }

  // The outline of a prefix, at least 6 pixels a side; dark around light.
  drawMark({ first, bits }, width) {
    const { left, top, width: columns, height: rows } = curveRectangle(first, bits, this.ranges.order);
    const [w, h] = [columns, rows].map((length) => Math.max(length * this.scale, 6));
    const [x, y] = this.pixel(left + columns / 2, top + rows / 2);
    for (const [lineWidth, strokeStyle] of [[width + 2, MARK_DARK], [width, MARK_LIGHT]]) {
      Object.assign(this.context, { lineWidth, strokeStyle });
      this.context.strokeRect(x - w / 2, y - h / 2, w, h);
    }
  }
}
