// Classes of weights on a logarithmic scale, their colours, and their legend, as
// pictures/log_classes.py makes them.

const CLASS_DIGITS = [[1, 2, 5], [1, 3], [1]];
const TICKS = [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"]];

// Returns the bounds of classes from `least` to `most`, the finest that make at most `classes`;
// of more powers of ten the largest are kept.
function classBounds(least, most, classes) {
  // A power lower: log10 of a number just below a power may be rounded up to it.
  const [first, last] = [Math.floor(Math.log10(least)) - 1, Math.floor(Math.log10(most))];
  let used;
  for (const digits of CLASS_DIGITS) {
    const bounds = [];
    for (let power = first; power <= last; power += 1) {
      bounds.push(...digits.map((digit) => Number(`${digit}e${power}`)));
    }
    used = bounds.filter((bound) => bound <= most);
    used = used.slice(Math.max(0, used.filter((bound) => bound <= least).length - 1));
    if (used.length <= classes) return used;
  }
  return [used[0], ...used.slice(1 - classes)];
}

// Returns the label of a bound in few characters: 200, 10k, 3M, 1B, 100T.
function tickText(number) {
  const [size, letter] = TICKS.find(([least]) => number >= least) ?? [1, ""];
  return `${smallCount.format(number / size)}${letter}`;
}

// `colours` are lists from dark to light, by the number of classes from 1 on; the largest weights
// have the colour that stands out most from the page.
class WorldScale {
  constructor(colours, dark, weights) {
    let [least, most] = [Infinity, 0];
    for (const weight of weights) {
      if (!weight) continue;
      least = Math.min(least, weight);
      most = Math.max(most, weight);
    }
    this.bounds = most ? classBounds(least, most, colours.length) : [];
    const shown = colours[this.bounds.length - 1] ?? [];
    this.colours = dark ? shown : [...shown].reverse();
  }

  // Returns the position of a weight's class.
  step(weight) {
    return Math.max(0, this.bounds.findLastIndex((bound) => bound <= weight));
  }

  // Draws the legend: the classes with their lower bounds.
  show(legend) {
    legend.hidden = !this.bounds.length;
    legend.replaceChildren(...this.bounds.map((bound, at) => {
      const part = document.createElement("span");
      part.textContent = tickText(bound);
      part.style.setProperty("--class", this.colours[at]);
      return part;
    }));
  }
}
