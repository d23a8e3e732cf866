// Colours by the logarithm of a weight, and their legend.

// `colours` go from dark to light; the largest weight has the colour that stands out most from the page.
class WorldScale {
  constructor(colours, dark, weights) {
    this.colours = dark ? colours : [...colours].reverse();
    let [least, most] = [Infinity, 0];
    for (const weight of weights) {
      if (!weight) continue;
      least = Math.min(least, weight);
      most = Math.max(most, weight);
    }
    Object.assign(this, { least, most });
  }

  // Returns 0 for the least weight and 1 for the largest.
  share(weight) {
    const range = Math.log(this.most / this.least);
    return range ? Math.log(weight / this.least) / range : 1;
  }

  // Returns the position of a weight's colour.
  step(weight) {
    return Math.round(this.share(weight) * (this.colours.length - 1));
  }

  // Draws the legend; its labels are the powers of ten, and the ends if these are few.
  show(legend, write) {
    const [bar, labels] = legend.children;
    bar.style.background = `linear-gradient(to right, ${this.colours.join(",")})`;
    legend.hidden = !this.most;
    const shown = this.most ? this.labelled() : [];
    labels.replaceChildren(...shown.map((weight) => this.label(weight, write(weight))));
  }

  label(weight, text) {
    const label = document.createElement("span");
    label.textContent = text;
    // Left of its place by its own share: no label juts out at an end.
    label.style.left = `${100 * this.share(weight)}%`;
    label.style.transform = `translateX(${-100 * this.share(weight)}%)`;
    return label;
  }

  labelled() {
    const [low, high] = [Math.ceil(Math.log10(this.least)), Math.floor(Math.log10(this.most))];
    const step = Math.max(1, Math.ceil((high - low) / 4));
    const powers = [];
    for (let power = low; power <= high; power += step) powers.push(10 ** power);
    return powers.length > 1 ? powers : [...new Set([this.least, this.most])];
  }
}
