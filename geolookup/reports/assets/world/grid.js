// The cells of the globe that weights are summed by, as geolookup/pictures/globe.py numbers them.

class WorldGrid {
  constructor(km, columns) {
    Object.assign(this, { km, columns, rows: columns.length });
    this.firsts = new Int32Array(this.rows);
    for (let row = 1; row < this.rows; row += 1) {
      this.firsts[row] = this.firsts[row - 1] + columns[row - 1];
    }
  }

  // Returns the number of the cell that holds a place in degrees.
  cell(latitude, longitude) {
    const row = Math.min(this.rows - 1, Math.floor(((90 - latitude) / 180) * this.rows));
    const columns = this.columns[row];
    const column = Math.floor(((longitude + 180) / 360) * columns);
    return this.firsts[row] + Math.min(columns - 1, Math.max(0, column));
  }

  // Returns {north, south, west, east} of each of ascending cells, in degrees.
  *bounds(cells) {
    let row = 0;
    for (const cell of cells) {
      while (row + 1 < this.rows && this.firsts[row + 1] <= cell) row += 1;
      const column = cell - this.firsts[row];
      const width = 360 / this.columns[row];
      const north = 90 - (row * 180) / this.rows;
      const west = column * width - 180;
      yield { north, south: north - 180 / this.rows, west, east: west + width };
    }
  }
}

// Returns the position of a number in ascending ones, or -1.
function positionOf(values, value) {
  let [begin, end] = [0, values.length];
  while (begin < end) {
    const middle = (begin + end) >>> 1;
    if (values[middle] < value) begin = middle + 1;
    else end = middle;
  }
  return values[begin] === value ? begin : -1;
}
