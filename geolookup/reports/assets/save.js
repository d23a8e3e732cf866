// Tables as CSV files (RFC 4180): a button below each table.

const CSV_ROWS = "thead tr, tbody tr";

// Returns a cell; numbers lose their thousands separators.
function csvCell(text) {
  const plain = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(",", "") : text;
  // A spreadsheet would run "=HYPERLINK(...)" or "-1+cmd|..." as a formula, in some languages also
  // with full-width signs; an apostrophe makes it text. A hyphen or a negative number stays.
  const safe = /^(?!-[\d.,]*( %)?$)[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvText(rows) {
  return rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

// Returns the rows of tables with one head: the further rows of a long table are in a second one.
function tableRows(tables) {
  return [...tables].flatMap((table, at) => (
    [...table.querySelectorAll(at ? "tbody tr" : CSV_ROWS)].map(
      (row) => [...row.cells].map((cell) => cell.textContent.trim()),
    )
  ));
}

// Returns a name of letters, digits and hyphens: "By kind of change" is by-kind-of-change.csv.
function fileName(title, suffix) {
  return `${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80)}.${suffix}`;
}

// Saves a text as a file of the reader's.
function saveText(name, type, text) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href));
}

// Returns a button that saves what `make` returns when it is pressed.
function saveButton(label, title, suffix, type, make) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "save", textContent: label });
  button.setAttribute("aria-label", `${label}: ${title}`);
  button.addEventListener("click", async () => saveText(fileName(title, suffix), type, await make()));
  return button;
}

for (const each of document.querySelectorAll(".saved")) {
  const make = () => csvText(tableRows(each.querySelectorAll("table")));
  each.append(saveButton("Save as CSV", each.dataset.title, "csv", "text/csv", make));
}

for (const each of document.querySelectorAll("[data-file]")) {
  const packed = () => JSON.parse(document.getElementById(each.dataset.file).textContent);
  const make = async () => new TextDecoder().decode(await inflated(packed()));
  each.append(saveButton("Save as CSV", each.dataset.title, "csv", "text/csv", make));
}
