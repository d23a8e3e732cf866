// The part of the plane that a map shows: a centre, and how many times the whole map is enlarged.

class WorldWindow {
  // `most` is the largest scale, in px for each unit of the plane.
  constructor(most) {
    Object.assign(this, { most, width: 1, height: 1 });
    this.reset();
  }

  reset() {
    Object.assign(this, { x: 0, y: 0, zoomed: 1 });
  }

  resize(width, height) {
    Object.assign(this, { width, height });
    this.keep();
  }

  get whole() {
    return Math.min(this.width / (2 * EARTH_WIDTH), this.height / (2 * EARTH_HEIGHT));
  }

  // How many px a unit of the plane has.
  get scale() {
    return this.whole * this.zoomed;
  }

  get box() {
    const [across, up] = [this.width / this.scale / 2, this.height / this.scale / 2];
    return { left: this.x - across, right: this.x + across, bottom: this.y - up, top: this.y + up };
  }

  // Returns the point of the plane at a place of the canvas, and the reverse.
  plane(column, row) {
    const { left, top } = this.box;
    return [left + column / this.scale, top - row / this.scale];
  }

  canvas(x, y) {
    const { left, top } = this.box;
    return [(x - left) * this.scale, (top - y) * this.scale];
  }

  pan(columns, rows) {
    this.x -= columns / this.scale;
    this.y += rows / this.scale;
    this.keep();
  }

  // Zoom by a factor around a fixed point of the canvas.
  zoom(factor, column, row) {
    const [x, y] = this.plane(column, row);
    this.zoomed = Math.max(1, Math.min(this.most / this.whole, this.zoomed * factor));
    const [nowX, nowY] = this.plane(column, row);
    this.x += x - nowX;
    this.y += y - nowY;
    this.keep();
  }

  // Move just as far as a point of the plane needs to be inside.
  include(x, y) {
    const { left, right, bottom, top } = this.box;
    this.x += Math.min(0, x - left) + Math.max(0, x - right);
    this.y += Math.min(0, y - bottom) + Math.max(0, y - top);
  }

  // The middle stays on the map, and the whole map in the middle.
  keep() {
    const room = 1 - 1 / this.zoomed;
    this.x = Math.max(-EARTH_WIDTH * room, Math.min(EARTH_WIDTH * room, this.x));
    this.y = Math.max(-EARTH_HEIGHT * room, Math.min(EARTH_HEIGHT * room, this.y));
  }
}
