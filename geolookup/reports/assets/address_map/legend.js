// The choices beside a map: which view its colours show, and which label stands out.

const NUMBER_TEXT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const MOST_SUGGESTIONS = 20;

// A new element with text; the texts of datasets only ever become text nodes.
function textElement(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

// Radio buttons of the views in a fieldset; `choose` gets the view.
function addViewChoices(fieldset, name, views, choose) {
  for (const [index, view] of views.entries()) {
    const label = textElement("label", "");
    const radio = Object.assign(document.createElement("input"), {
      type: "radio", name: `${name}-view`, value: view.name, checked: index === 0,
    });
    radio.addEventListener("change", () => choose(view));
    label.append(radio, textElement("span", view.title));
    fieldset.append(label);
  }
}

// The labels with colours of their own, with their shares of the map, and all others as one.
class MapLegend {
  constructor(root, ranges, highlight) {
    Object.assign(this, { root, ranges, highlight, sizes: new Map() });
    this.list = root.querySelector(".address-map-legend");
    this.search = root.querySelector(".address-map-search");
    this.suggestions = root.querySelector("datalist");
    this.state = root.querySelector(".address-map-highlighted");
    this.search.addEventListener("input", () => this.suggest());
    this.search.form.addEventListener("submit", (event) => this.submit(event));
    this.search.form.addEventListener("reset", () => this.choose(null));
  }

  show(view) {
    this.view = view;
    this.shares = this.sharesOf(view);
    const own = Math.min(view.labels.length, view.colours.length - 1);
    const rows = Array.from({ length: own }, (_, label) => this.row(label, view.labels[label]));
    const rest = view.labels.length - own;
    if (rest === 1) rows.push(this.row(own, view.labels[own]));
    else if (rest > 1) rows.push(this.others(own, rest));
    this.list.replaceChildren(...rows);
    this.search.form.reset();
  }

  sharesOf(view) {
    if (!this.sizes.has(view)) this.sizes.set(view, this.ranges.sizes(view));
    return this.sizes.get(view).map((size) => size / this.ranges.covered);
  }

  row(label, text) {
    const button = textElement("button", "", { type: "button", value: label });
    button.setAttribute("aria-pressed", "false");
    button.append(...this.entry(label, text, this.shares[label]));
    button.addEventListener("click", () => this.choose(label === this.chosen ? null : label));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }

  others(own, rest) {
    const item = textElement("li", "", { className: "address-map-others" });
    const share = this.shares.slice(own).reduce((sum, each) => sum + each, 0);
    item.append(...this.entry(own, `${NUMBER_TEXT.format(rest)} others`, share));
    return item;
  }

  entry(label, text, share) {
    const swatch = textElement("span", "", { className: "address-map-swatch" });
    swatch.style.background = this.view.colours[label];
    const name = textElement("span", text, { className: "address-map-label", title: text });
    return [swatch, name, textElement("span", percentText(share), { className: "address-map-share" })];
  }

  // Suggest the first labels that hold the text; all of them would be too many elements.
  suggest() {
    const found = this.matches(this.search.value, MOST_SUGGESTIONS);
    this.suggestions.replaceChildren(
      ...found.map((label) => textElement("option", "", { value: this.view.labels[label] })),
    );
    const exact = found.find((label) => this.view.labels[label] === this.search.value);
    if (exact !== undefined) this.choose(exact);
  }

  matches(text, most) {
    const sought = text.trim().toLocaleLowerCase("en");
    const found = [];
    for (let label = 0; sought && label < this.view.labels.length && found.length < most; label++) {
      if (this.view.labels[label].toLocaleLowerCase("en").includes(sought)) found.push(label);
    }
    return found;
  }

  submit(event) {
    event.preventDefault();
    const [first] = this.matches(this.search.value, 1);
    if (first !== undefined) this.choose(first);
    else this.state.textContent = `Nothing in this view is named “${this.search.value}”.`;
  }

  choose(label) {
    this.chosen = label;
    for (const button of this.list.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(Number(button.value) === label && label !== null));
    }
    this.state.textContent = label === null
      ? "" : `Highlighted: ${this.view.labels[label]} (${percentText(this.shares[label])} of the map)`;
    this.highlight(label);
  }
}
