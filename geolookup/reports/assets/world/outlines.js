// Land and borders of Natural Earth, as paths in the plane of the map; y grows to the south.

async function worldPaths({ steps, countries, land, borders }) {
  const [rings, lines] = await Promise.all([worldLines(land, steps), worldLines(borders, steps)]);
  const shapes = countryShapes(countries, rings);
  const whole = new Path2D();
  for (const shape of shapes.values()) whole.addPath(shape);
  return { land: whole, countries: shapes, borders: worldPath(lines, false) };
}

// Returns the land of each country by its code; `codes` belong to the rings.
function countryShapes(codes, rings) {
  const ringsOf = new Map(codes.map((code) => [code, []]));
  codes.forEach((code, at) => ringsOf.get(code).push(rings[at]));
  return new Map(Array.from(ringsOf, ([code, own]) => [code, worldPath(own, true)]));
}

// Returns the points of each line.
async function worldLines({ lengths, latitudes, longitudes }, steps) {
  const [counts, north, east] = await Promise.all(
    [lengths, latitudes, longitudes].map(unpackIntegers),
  );
  let at = 0;
  return Array.from(counts, (count) => {
    const points = Array.from({ length: count }, (_, next) => (
      projected(north[at + next] / steps, east[at + next] / steps)
    ));
    at += count;
    return points;
  });
}

function worldPath(lines, closed) {
  const path = new Path2D();
  for (const points of lines) {
    points.forEach(([x, y], at) => (at ? path.lineTo(x, -y) : path.moveTo(x, -y)));
    if (closed) path.closePath();
  }
  return path;
}

// The edge of the map: the date line on both sides.
function worldEdge() {
  const parallels = Array.from({ length: 91 }, (_, at) => 2 * at - 90);
  const east = parallels.map((latitude) => projected(latitude, 180));
  const west = parallels.reverse().map((latitude) => projected(latitude, -180));
  return worldPath([[...east, ...west]], true);
}
