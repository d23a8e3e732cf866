// Which label stands out: one of the legend, or one that is found by its name.

// A new element with text; the texts of datasets only ever become text nodes.
function textElement(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

// Calls `choose(label or null)`; `map.view` is the view that is shown, `map.chosen` its label.
function listenToLegend(root, map) {
  const form = root.querySelector(".address-map-find");
  const search = form.querySelector("input");

  for (const item of root.querySelectorAll("[data-label]")) {
    const label = Number(item.dataset.label);
    const button = textElement("button", "", { type: "button", value: label, ariaPressed: "false" });
    button.append(...item.childNodes);
    button.addEventListener("click", () => map.choose(label === map.chosen ? null : label));
    item.append(button);
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const sought = search.value.trim().toLowerCase();
    const label = map.view.labels.findIndex((text) => sought && text.toLowerCase().includes(sought));
    if (label >= 0) map.choose(label);
    else map.say("highlighted", `Nothing in this view is named “${search.value}”.`);
  });
  form.addEventListener("reset", () => map.choose(null));
}
