// A density of a map of the world: its weights by cell, and what the map says of them.

const wholeCount = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const smallCount = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

// Returns a number with thousands separators; three digits of one below 10.
function countText(number) {
  return number < 10 ? smallCount.format(number) : wholeCount.format(number);
}

function kilometres(km) {
  return `${km < 10 ? smallCount.format(km) : wholeCount.format(km)} km`;
}

// Returns coordinates in as many digits as an area of so many km justifies.
function placeText([latitude, longitude], km) {
  const digits = km >= 100 ? 0 : km >= 10 ? 1 : 2;
  const text = (value, [positive, negative]) => (
    `${Math.abs(value).toFixed(digits)}° ${value < 0 ? negative : positive}`
  );
  return `${text(latitude, "NS")}, ${text(longitude, "EW")}`;
}

class WorldLayer {
  constructor({ name, unit }, weights, cells) {
    Object.assign(this, { name, unit, weights, cells });
    this.total = weights.reduce((sum, weight) => sum + weight, 0);
  }

  areasAt(scale) {
    return areasAt(this.cells, this.weights, scale);
  }

  // Returns a text for a point of the plane; `place` is the same point in degrees.
  text(areas, point, place) {
    const weight = areas.weightAt(...point);
    const share = percentText(weight / this.total);
    const said = weight ? `${countText(weight)} ${this.unit}, ${share},` : `no ${this.unit}`;
    const km = kilometres(areas.km);
    return `${placeText(place, areas.km)}: ${said} within ${km} by ${km}`;
  }

  unitText({ km }) {
    return `${this.unit} per ${kilometres(km)} by ${kilometres(km)}`;
  }
}
