// Views of the traffic page, drawn again for the rows of a filter: [label, counts] as in the
// table of a view; a count of null is hidden.

const viewCount = new Intl.NumberFormat("en-US");

function viewText(count) {
  return count === null ? "hidden" : viewCount.format(count);
}

// Returns an element with children: elements or texts.
function viewElement(name, ...children) {
  const element = document.createElement(name);
  element.append(...children);
  return element;
}

function viewMark(length, kind) {
  const mark = document.createElement("i");
  mark.style.setProperty("--length", length);
  if (kind) mark.className = `part-${kind}`;
  return mark;
}

class TrafficView {
  constructor(figure) {
    Object.assign(this, { figure, kind: figure.dataset.kind });
    this.body = figure.querySelector("tbody");
    this.marks = [...figure.querySelectorAll(".marks i")];
    this.titles = [...figure.querySelectorAll("figcaption, caption")];
    this.head = [...figure.querySelectorAll("thead th")].map((cell) => cell.textContent);
    [this.title] = this.titles[0].textContent.split(": known for ");
    this.labels = [...this.body.rows].map((row) => row.cells[0].textContent);
    this.lengths = this.marks.map((mark) => [mark.style.getPropertyValue("--length"), mark.title]);
    this.rows = [...this.body.children];
    this.originals = this.titles.map((title) => title.textContent);
    this.highest = figure.querySelector(".most");
    this.highestText = this.highest?.textContent;
  }

  // Shows the whole page again.
  reset() {
    this.body.replaceChildren(...this.rows);
    this.titles.forEach((title, at) => { title.textContent = this.originals[at]; });
    this.marks.forEach((mark, at) => {
      const [length, text] = this.lengths[at];
      mark.style.setProperty("--length", length);
      mark.title = text;
    });
    if (this.highest) this.highest.textContent = this.highestText;
  }

  // Shows rows of a country or network; `share` is the part of its requests in them.
  show(rows, name, share) {
    for (const title of this.titles) title.textContent = `${this.title}, ${name}: ${share} of its requests`;
    const most = rows.reduce((best, [, counts]) => Math.max(best, ...counts), 1);
    this.body.replaceChildren(...rows.map((row) => this.row(row, most)));
    if (this.highest) this.highest.textContent = `highest: ${viewText(most)}`;
    const counts = rows.flatMap(([, line]) => line);
    this.marks.forEach((mark, at) => {
      mark.style.setProperty("--length", (100 * counts[at]) / most);
      mark.title = mark.title.replace(/[^ ]+$/, viewText(counts[at]));
    });
  }

  row([label, counts], most) {
    const head = viewElement("th", label);
    head.scope = "row";
    if (this.kind === "bars") head.append(viewMark((100 * counts[0]) / most));
    if (this.kind === "parts") head.append(this.parts(counts));
    return viewElement("tr", head, ...counts.map((count) => viewElement("td", viewText(count))));
  }

  parts(counts) {
    const total = counts.reduce((sum, count) => sum + count, 0) || 1;
    const marks = counts.map((count, at) => viewMark((100 * count) / total, this.head[at + 1]));
    const parts = viewElement("span", ...marks);
    parts.className = "parts";
    return parts;
  }
}
