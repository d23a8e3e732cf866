"""Tables of pages saved as CSV: every row, numbers without separators, no formula."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from tests.browser import OF_PAGES, Reader
from tests.internals.pictures import bars
from tests.internals.reports import Table, charts_section, page

pytestmark = OF_PAGES
_FORMULAS = [
    "=HYPERLINK(1)",
    "+1",
    "@a",
    "-x",
    "-2+3+cmd|' /C calc'!A0",
    "\n=1",
    "\uff1d1+1",
    "\uff0d1",
]
_TEXTS = ['"quoted", with a comma', "-", "a\nb", "-1.5", "-12.50 %", "a=1"]


def _saved(reader: Reader, folder: Path, at: int) -> tuple[str, list[list[str]]]:
    """Press a button; return the name of the file and its rows."""
    with reader.page.expect_download() as download:
        reader.page.get_by_role("button", name="Save as CSV").nth(at).click()
    target = folder / "saved.csv"
    download.value.save_as(target)
    text = target.read_text("utf-8")
    return download.value.suggested_filename, list(csv.reader(io.StringIO(text, newline="")))


def test_a_table_is_saved_whole(reader: Reader, tmp_path: Path) -> None:
    rows = [(f"Row {at}", f"{1000 * at:,}", "12.50 %", "1,234.5") for at in range(30)]
    table = Table("Rows, by number", ("Name", "count", "share", "km"), rows)
    chart = bars("chart", "A chart", "rows", [("a", 1234567.0)], head="name")
    path = tmp_path / "page.html"
    path.write_text(page("T", "L", [charts_section("s", "S", "N", [chart], [table])]), "utf-8")
    reader.open(path.as_uri())
    reader.page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
    assert _saved(reader, tmp_path, 0) == ("a-chart.csv", [["name", "rows"], ["a", "1234567"]])
    name, saved = _saved(reader, tmp_path, 1)
    assert name == "rows-by-number.csv"
    assert saved[0] == ["Name", "count", "share", "km"]
    assert saved[1:] == [[f"Row {at}", f"{1000 * at}", "12.50 %", "1234.5"] for at in range(30)]
    assert reader.problems == []


def test_a_spreadsheet_runs_no_cell_as_a_formula(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page("T", "L", []), "utf-8")
    script = path.read_text("utf-8").partition('<script type="module">')[2]
    reader.open(path.as_uri())
    text = script.partition("</script>")[0]
    cells = json.dumps(_FORMULAS + _TEXTS)
    made = reader.page.evaluate(f"() => {{ {text}\nreturn csvText([{cells}]); }}")
    assert list(csv.reader(io.StringIO(made, newline=""))) == [
        [*(f"'{text}" for text in _FORMULAS), *_TEXTS]
    ]
