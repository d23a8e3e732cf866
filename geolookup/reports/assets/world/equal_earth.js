// The Equal Earth projection of a sphere of radius 1, as geolookup/pictures/globe.py has it.

const EARTH = { a1: 1.340264, a2: -0.081106, a3: 0.000893, a4: 0.003796, root: Math.sqrt(3) };

function earthY(theta) {
  const { a1, a2, a3, a4 } = EARTH;
  const squared = theta * theta;
  return theta * (a1 + squared * (a2 + squared ** 2 * (a3 + squared * a4)));
}

function earthSlope(theta) {
  const { a1, a2, a3, a4 } = EARTH;
  const squared = theta * theta;
  return a1 + squared * (3 * a2 + squared ** 2 * (7 * a3 + squared * 9 * a4));
}

// The right and the upper end of the map.
const EARTH_WIDTH = (2 * Math.PI) / (EARTH.root * EARTH.a1);
const EARTH_HEIGHT = earthY(Math.PI / 3);

// Returns [x, y], to the east and to the north, of degrees.
function projected(latitude, longitude) {
  const theta = Math.asin((EARTH.root / 2) * Math.sin((latitude * Math.PI) / 180));
  const x = (longitude * Math.PI * Math.cos(theta)) / (90 * EARTH.root * earthSlope(theta));
  return [x, earthY(theta)];
}

// Returns [latitude, longitude], or null beside the map.
function unprojected(x, y) {
  if (Math.abs(y) > EARTH_HEIGHT) return null;
  let theta = y / EARTH.a1;
  for (let step = 0; step < 12; step += 1) theta -= (earthY(theta) - y) / earthSlope(theta);
  const sine = Math.max(-1, Math.min(1, (2 * Math.sin(theta)) / EARTH.root));
  const longitude = (90 * x * EARTH.root * earthSlope(theta)) / (Math.PI * Math.cos(theta));
  return Math.abs(longitude) > 180 ? null : [(Math.asin(sine) * 180) / Math.PI, longitude];
}
