// Starts the maps of the world of a page.

function worldJson(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

async function startWorld(root, paths) {
  const data = worldJson(root.dataset.world);
  const [columns, cells, ...weights] = await Promise.all([
    unpackIntegers(data.columns),
    unpackIntegers(data.cells),
    ...data.densities.map(({ countries, weights }) => (countries ? null : unpackFloats(weights))),
  ]);
  const placed = new WorldCells(new WorldGrid(data.km, columns), cells);
  const layers = weights.map((each, number) => (
    each ? new WorldLayer(data.densities[number], each, placed)
      : new CountryLayer(data.densities[number], paths.countries)
  ));
  root.worldMap = new WorldMap(root, data, paths, placed, layers);
}

async function startWorlds(roots) {
  const paths = { ...await worldPaths(worldJson("world-outlines")), edge: worldEdge() };
  for (const root of roots) await startWorld(root, paths);
}

startWorlds(document.querySelectorAll("[data-world]"));
