// What lies over the colours: the grid of prefixes with their texts, and the marks of the prefix
// that was sought and of the place that is pointed at.

const GRID_FONT = "11px system-ui, sans-serif";
const GRID_MARGIN = 6;
// Light with a dark edge: visible on every colour, on white and on black.
const MARK_LIGHT = "#fff";
const MARK_DARK = "#000";
const GRID_LINE = "rgb(128 128 128 / .55)";

// The text of a grid square. IPv4: the octets that its length reaches; IPv6: without "::" at the end.
function gridText(ranges, prefix) {
  const length = ranges.length(prefix.bits);
  const text = addressText(ranges.family, ranges.address(prefix.first));
  if (ranges.family === 6) return text.replace(/::$/, "");
  const octets = text.split(".").slice(0, Math.ceil(length / 8)).join(".");
  return length % 8 ? `${octets}/${length}` : octets;
}

class MapOverlay {
  constructor(canvas, ranges) {
    Object.assign(this, { canvas, ranges, context: canvas.getContext("2d") });
  }

  // Draw at `size` CSS pixels; `marks` are {sought, pointed}: prefixes or null.
  draw(size, mapWindow, marks) {
    const ratio = this.canvas.width / size;
    Object.assign(this, { size, mapWindow, scale: size / mapWindow.span });
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, size, size);
    this.level = this.gridLevel();
    this.drawGrid();
    if (marks.sought) this.drawMark(marks.sought, 2);
    if (marks.pointed) this.drawMark(marks.pointed, 1);
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

  // The length of the prefixes in the grid.
  get gridLength() {
    return this.ranges.length(2 * this.level);
  }

  drawGrid() {
    const side = 2 ** this.level;
    const { left, top, span } = this.mapWindow;
    this.context.lineWidth = 1;
    this.context.strokeStyle = GRID_LINE;
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
    const { left, top } = this.mapWindow;
    return [Math.round((column - left) * this.scale) + 0.5, Math.round((row - top) * this.scale) + 0.5];
  }

  drawTexts(side) {
    const { left, top, span } = this.mapWindow;
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
    const grown = (length) => Math.max(length * this.scale, 6);
    const centre = this.pixel(left + columns / 2, top + rows / 2);
    const box = [centre[0] - grown(columns) / 2, centre[1] - grown(rows) / 2, grown(columns), grown(rows)];
    for (const [lineWidth, strokeStyle] of [[width + 2, MARK_DARK], [width, MARK_LIGHT]]) {
      Object.assign(this.context, { lineWidth, strokeStyle });
      this.context.strokeRect(...box);
    }
  }
}
