// What of a density is drawn at one size of the map: its cells where these are large enough to
// see, else sums by squares of the map, equal areas of the globe.

const EARTH_KM = 6371.0072; // the radius of the sphere that has the area of WGS 84
const LEAST_PX = 4; // the side of the smallest square

class WorldCells {
  // `cells` ascend. The corners are four points of each cell, in the plane of the map.
  constructor(grid, cells) {
    Object.assign(this, { grid, cells, count: cells.length });
    this.x = new Float32Array(this.count);
    this.y = new Float32Array(this.count);
    this.corners = new Float32Array(8 * this.count);
    let at = 0;
    for (const bounds of grid.bounds(cells)) this.place(at++, bounds);
  }

  place(at, { north, south, west, east }) {
    [this.x[at], this.y[at]] = projected((north + south) / 2, (west + east) / 2);
    const corners = [[north, west], [north, east], [south, east], [south, west]];
    this.corners.set(corners.flatMap(([latitude, longitude]) => projected(latitude, longitude)), 8 * at);
  }
}

// The cells themselves: area `at` is the cell at that position.
class CellAreas {
  constructor(cells, weights) {
    Object.assign(this, { cells, weights, km: cells.grid.km });
  }

  *drawn({ left, right, bottom, top }) {
    const { x, y, corners } = this.cells;
    const margin = (2 * this.km) / EARTH_KM;
    for (let at = 0; at < this.weights.length; at += 1) {
      const seen = x[at] > left - margin && x[at] < right + margin
        && y[at] > bottom - margin && y[at] < top + margin;
      if (seen && this.weights[at]) {
        yield { weight: this.weights[at], corners: corners.subarray(8 * at, 8 * at + 8) };
      }
    }
  }

  weightAt(x, y) {
    const place = unprojected(x, y);
    const at = place ? positionOf(this.cells.cells, this.cells.grid.cell(...place)) : -1;
    return at < 0 ? 0 : this.weights[at];
  }
}

// Squares of the plane: area row * across + column, from the south-west. Few of them hold
// something where the map is enlarged.
class SquareAreas {
  constructor(cells, weights, side) {
    Object.assign(this, { side, km: side * EARTH_KM, sums: new Map() });
    this.across = Math.ceil((2 * EARTH_WIDTH) / side) + 1;
    weights.forEach((weight, at) => {
      if (!weight) return;
      const area = this.area(cells.x[at], cells.y[at]);
      this.sums.set(area, (this.sums.get(area) ?? 0) + weight);
    });
  }

  get weights() {
    return this.sums.values();
  }

  area(x, y) {
    const column = Math.floor((x + EARTH_WIDTH) / this.side);
    return Math.floor((y + EARTH_HEIGHT) / this.side) * this.across + column;
  }

  *drawn({ left, right, bottom, top }) {
    const { side } = this;
    for (const [area, weight] of this.sums) {
      const x = (area % this.across) * side - EARTH_WIDTH;
      const y = Math.floor(area / this.across) * side - EARTH_HEIGHT;
      if (x < right && x + side > left && y < top && y + side > bottom) {
        yield { weight, corners: [x, y, x + side, y, x + side, y + side, x, y + side] };
      }
    }
  }

  weightAt(x, y) {
    const inside = Math.abs(x) <= EARTH_WIDTH && Math.abs(y) <= EARTH_HEIGHT;
    return inside ? this.sums.get(this.area(x, y)) ?? 0 : 0;
  }
}

// Returns the areas for a map of so many px for each unit of the plane.
function areasAt(cells, weights, scale) {
  const unit = cells.grid.km / EARTH_KM;
  const doublings = Math.ceil(Math.log2(LEAST_PX / (unit * scale)));
  if (doublings <= 0) return new CellAreas(cells, weights);
  return new SquareAreas(cells, weights, unit * 2 ** doublings);
}
