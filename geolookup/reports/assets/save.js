// Buttons that save tables as CSV (RFC 4180).

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

// Returns the text of tables with one head: the further rows of a long table are in a second one.
function tablesText(tables) {
  const rows = [...tables].flatMap((table, at) => [...table.rows].slice(at ? 1 : 0));
  return csvText(rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
}

// "By kind of change" is saved as by-kind-of-change.csv.
function fileName(title) {
  const name = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return `${name.slice(0, 80)}.csv`;
}

function save(part) {
  const text = tablesText(part.querySelectorAll("table"));
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const download = fileName(part.dataset.title);
  Object.assign(document.createElement("a"), { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href));
}

for (const part of document.querySelectorAll(".saved")) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "save", textContent: "Save as CSV" });
  button.setAttribute("aria-label", `Save as CSV: ${part.dataset.title}`);
  button.addEventListener("click", () => save(part));
  part.append(button);
}
