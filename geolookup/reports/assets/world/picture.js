// How a density of the world is drawn: land and areas, kept until they change, and rings.

const WORLD_COLOURS = {
  light: { land: "#e9e9e6", border: "#ffffff", edge: "#8a8f94", ring: "#c2185b", cursor: "#1f2328" },
  dark: { land: "#2b3035", border: "#14171a", edge: "#71767b", ring: "#ff6fa5", cursor: "#e6e6e6" },
};
const LINE_PX = 0.75; // of borders and the edge of the map

class WorldPicture {
  constructor(canvas, paths) {
    Object.assign(this, { canvas, paths, shown: canvas.getContext("2d") });
    this.context = new OffscreenCanvas(1, 1).getContext("2d");
  }

  // Takes the size of the element in device pixels; this clears the drawing.
  resize(width, height) {
    this.ratio = devicePixelRatio;
    const [across, down] = [width, height].map((length) => Math.max(1, Math.round(length * this.ratio)));
    for (const each of [this.canvas, this.context.canvas]) Object.assign(each, { width: across, height: down });
  }

  // Paints land and areas for later.
  paint(mapWindow, areas, scale, dark) {
    Object.assign(this, { mapWindow, colours: dark ? WORLD_COLOURS.dark : WORLD_COLOURS.light });
    this.clear(this.context);
    this.toPlane();
    this.context.fillStyle = this.colours.land;
    this.context.fill(this.paths.land);
    const byCountry = areas instanceof CountryLayer;
    if (byCountry) this.paintCountries(areas.countries, scale);
    this.paintLines(this.paths.borders, this.colours.border);
    this.paintLines(this.paths.edge, this.colours.edge);
    if (!byCountry) this.paintAreas(areas, scale);
  }

  // Shows the painted areas, and rings {at, radius, colour}, whose colours are names.
  show(rings) {
    this.clear(this.shown);
    this.shown.drawImage(this.context.canvas, 0, 0);
    this.shown.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    for (const { at, radius, colour } of rings) this.ring(at, radius, this.colours[colour]);
  }

  clear(context) {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  toPlane() {
    const { scale, box } = this.mapWindow;
    const ratio = scale * this.ratio;
    this.context.setTransform(ratio, 0, 0, ratio, -box.left * ratio, box.top * ratio);
  }

  paintLines(path, colour) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = LINE_PX / this.mapWindow.scale;
    this.context.stroke(path);
  }

  paintCountries(countries, scale) {
    for (const { shape, weight } of countries) {
      this.context.fillStyle = scale.colours[scale.step(weight)];
      this.context.fill(shape);
    }
  }

  // Each area is a path of its own: to fill a path of many takes ten times as long.
  paintAreas(areas, scale) {
    const { box } = this.mapWindow;
    const ratio = this.mapWindow.scale * this.ratio;
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    for (const { weight, corners } of areas.drawn(box)) {
      this.context.fillStyle = scale.colours[scale.step(weight)];
      this.context.beginPath();
      for (let at = 0; at < 8; at += 2) {
        // Whole pixels: neither gaps nor seams between neighbours.
        const column = Math.round((corners[at] - box.left) * ratio);
        const row = Math.round((box.top - corners[at + 1]) * ratio);
        this.context.lineTo(column, row);
      }
      this.context.fill();
    }
  }

  ring(at, radius, colour) {
    this.shown.beginPath();
    this.shown.arc(...this.mapWindow.canvas(...at), radius, 0, 2 * Math.PI);
    this.shown.strokeStyle = colour;
    this.shown.lineWidth = 2;
    this.shown.stroke();
  }
}
