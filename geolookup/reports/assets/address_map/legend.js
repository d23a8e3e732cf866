// Which label stands out: one of the legend, or one that is found by its name.

const MOST_SUGGESTIONS = 20;

// A new element with text; the texts of datasets only ever become text nodes.
function textElement(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

class MapLegend {
  // `highlight` gets a label of the shown view, or null.
  constructor(root, highlight) {
    Object.assign(this, { root, highlight });
    this.form = root.querySelector(".address-map-find");
    this.search = this.form.querySelector("input");
    this.state = root.querySelector(".address-map-highlighted");
    root.querySelectorAll("[data-label]").forEach((item) => this.addButton(item));
    this.search.addEventListener("input", () => this.suggest());
    this.form.addEventListener("submit", (event) => this.submit(event));
    this.form.addEventListener("reset", () => this.choose(null));
  }

  addButton(item) {
    const label = Number(item.dataset.label);
    const button = textElement("button", "", { type: "button", value: label, ariaPressed: "false" });
    button.append(...item.childNodes);
    button.addEventListener("click", () => this.choose(label === this.chosen ? null : label));
    item.append(button);
  }

  show(view) {
    this.view = view;
    this.form.reset();
  }

  // Suggest the first labels that hold the text; all of them would be too many elements.
  suggest() {
    const matches = this.matches(this.search.value, MOST_SUGGESTIONS);
    this.form.querySelector("datalist").replaceChildren(
      ...matches.map((label) => textElement("option", "", { value: this.view.labels[label] })),
    );
    const exact = matches.find((label) => this.view.labels[label] === this.search.value);
    if (exact !== undefined) this.choose(exact);
  }

  matches(text, most) {
    const sought = text.trim().toLocaleLowerCase("en");
    const matches = [];
    for (let label = 0; sought && label < this.view.labels.length && matches.length < most; label++) {
      if (this.view.labels[label].toLocaleLowerCase("en").includes(sought)) matches.push(label);
    }
    return matches;
  }

  submit(event) {
    event.preventDefault();
    const [first] = this.matches(this.search.value, 1);
    if (first !== undefined) this.choose(first);
    else this.state.textContent = `Nothing in this view is named “${this.search.value}”.`;
  }

  choose(label) {
    this.chosen = label;
    for (const button of this.root.querySelectorAll("[data-label] button")) {
      button.ariaPressed = String(Number(button.value) === label && label !== null);
    }
    this.state.textContent = label === null ? "" : `Highlighted: ${this.view.labels[label]}`;
    this.highlight(label);
  }
}
