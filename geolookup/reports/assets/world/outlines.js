// Land and borders of Natural Earth, as paths in the plane of the map; y grows to the south.

async function worldPaths({ steps, land, borders }) {
  const [rings, lines] = await Promise.all([worldLines(land, steps), worldLines(borders, steps)]);
  return { land: worldPath(rings, true), borders: worldPath(lines, false) };
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
