// The counts of the filter, by classes of a country and a network, as
// geolookup/reports/traffic_cube.py makes them. A count of -1 is hidden.

async function trafficCube(data) {
  const names = Object.keys(data.tables);
  const [classes, totals, ...tables] = await Promise.all([
    unpackIntegers(data.classes),
    ...[data.totals, ...names.map((name) => data.tables[name])].map(unpackFloats),
  ]);
  const packed = Object.fromEntries(names.map((name, at) => [name, tables[at]]));
  return new TrafficCube(data, classes, totals, packed);
}

class TrafficCube {
  constructor({ countries, networks, cities }, classes, totals, tables) {
    Object.assign(this, { countries, networks, cities, classes, totals, tables });
  }

  // Returns the classes of a choice: axis 0 is the country, 1 the network.
  chosen([axis, number]) {
    return [...this.totals.keys()].filter((at) => this.classes[2 * at + axis] === number);
  }

  sum(classes) {
    return classes.reduce((sum, at) => sum + this.totals[at], 0);
  }

  // Returns a sum of each column of a table; null if all its cells are hidden.
  columns(name, classes) {
    const table = this.tables[name];
    const width = table.length / this.totals.length;
    return Array.from({ length: width }, (_, column) => {
      const shown = classes.map((at) => table[at * width + column]).filter((count) => count >= 0);
      return shown.length ? shown.reduce((sum, count) => sum + count, 0) : null;
    });
  }

  // Returns [name, key, classes] of the countries or networks that some classes have.
  groups(axis, classes) {
    const offers = axis ? this.networks : this.countries;
    const groups = offers.map(([key, name], number) => (
      [name, key, classes.filter((at) => this.classes[2 * at + axis] === number)]
    ));
    return groups.filter(([, , own]) => own.length);
  }
}
