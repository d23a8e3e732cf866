// A density by country: its areas are the shapes of countries, at every size of the map.

const COUNTRY_PLACE_KM = 10; // how precise the place of a point without a country is told

class CountryLayer {
  // `shapes` are paths in the plane of the map, by the codes of countries.
  constructor({ name, unit, countries }, shapes) {
    Object.assign(this, { name, unit });
    this.every = countries.map(([code, title, weight]) => (
      { code, title, weight, shape: shapes.get(code) }
    ));
    this.narrow(null);
    this.probe = document.createElement("canvas").getContext("2d");
  }

  // Shows the countries of some weights, by code; null: all countries.
  narrow(weights) {
    this.countries = weights
      ? this.every.map((each) => ({ ...each, weight: weights.get(each.code) })).filter(({ weight }) => weight)
      : this.every;
    this.weights = this.countries.map(({ weight }) => weight);
    this.total = this.weights.reduce((sum, weight) => sum + weight, 0);
  }

  areasAt() {
    return this;
  }

  text(areas, [x, y], place) {
    const found = this.countries.find(({ shape }) => this.probe.isPointInPath(shape, x, -y));
    if (!found) return `${placeText(place, COUNTRY_PLACE_KM)}: no ${this.unit}`;
    const { title, weight } = found;
    return `${title}: ${countText(weight)} ${this.unit}, ${percentText(weight / this.total)}`;
  }

  unitText() {
    return `${this.unit} per country`;
  }
}
