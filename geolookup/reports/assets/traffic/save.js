// A button that saves the cells of the map of the world as GeoJSON (RFC 7946).

// Returns a point for each cell that holds something: its centre, and its count.
function geoJson({ cells, weights, unit }) {
  const bounds = [...cells.grid.bounds(cells.cells)];
  const features = bounds.map(({ north, south, west, east }, at) => ({
    type: "Feature",
    geometry: {
      type: "Point",
      coordinates: [(west + east) / 2, (north + south) / 2].map((degrees) => Number(degrees.toFixed(4))),
    },
    properties: { [unit]: weights[at] },
  }));
  return JSON.stringify({ type: "FeatureCollection", features: features.filter((_, at) => weights[at]) });
}

for (const root of document.querySelectorAll("[data-world]")) {
  const make = () => geoJson(root.worldMap.layers.find((layer) => layer instanceof WorldLayer));
  const button = saveButton("Save cells as GeoJSON", "requests by place", "geojson", "application/geo+json", make);
  root.querySelector(".world-legend").after(button);
}
