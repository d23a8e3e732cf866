// The part of the curve's square that a map shows: a square, in cells.

// Zooming ends where the map shows 16 cells a side.
const LEAST_SPAN = 16;

class MapWindow {
  constructor(side) {
    this.side = side;
    this.reset();
  }

  reset() {
    Object.assign(this, { left: 0, top: 0, span: this.side });
  }

  get whole() {
    return this.span === this.side;
  }

  // Zoom by a factor around a fixed point.
  zoom(factor, column, row) {
    const span = this.clampSpan(this.span / factor);
    const change = span / this.span;
    this.moveTo(column - (column - this.left) * change, row - (row - this.top) * change, span);
  }

  pan(columns, rows) {
    this.moveTo(this.left + columns, this.top + rows, this.span);
  }

  // Show a rectangle as large as it fits, in the middle, yet at least `least` cells a side.
  show({ left, top, width, height }, least) {
    const span = this.clampSpan(Math.max(width, height, least));
    this.moveTo(left + (width - span) / 2, top + (height - span) / 2, span);
  }

  // Move just as far as a point needs to be inside.
  include(column, row) {
    const near = (start, point) => Math.min(Math.max(start, point + 1 - this.span), point);
    this.moveTo(near(this.left, column), near(this.top, row), this.span);
  }

  clampSpan(span) {
    return Math.min(this.side, Math.max(Math.min(LEAST_SPAN, this.side), span));
  }

  moveTo(left, top, span) {
    const inside = (start) => Math.min(Math.max(0, start), this.side - span);
    Object.assign(this, { left: inside(left), top: inside(top), span });
  }
}
