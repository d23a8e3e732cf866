"""Tables of pages saved as CSV: every row, numbers without separators, no formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

from geolookup.comparison.changes import KINDS, UNCHANGED
from geolookup.pictures.charts import bars
from geolookup.reports.changed_ranges import without_formula
from geolookup.reports.page import page
from geolookup.reports.section import Table, charts_section
from tests.browser import OF_PAGES, Reader

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
    # The page hides the count, and the file has it.
    table = Table("Rows, by number", ("Name", "count", "share", "km"), rows, saved_only=(1,))
    chart = bars("chart", "A chart", "rows", [("a", 1234567.0)], head="name")
    path = tmp_path / "page.html"
    path.write_text(page("T", "L", [charts_section("s", "S", "N", [chart], [table])]), "utf-8")
    reader.open(path.as_uri())
    reader.page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
    assert _saved(reader, tmp_path, 0) == ("a-chart.csv", [["name", "rows"], ["a", "1234567"]])
    name, saved = _saved(reader, tmp_path, 1)
    assert name == "rows-by-number.csv"
    assert saved[0] == ["Name", "count", "share", "km"]
    assert not reader.page.get_by_text("29,000").is_visible()
    assert saved[1:] == [[f"Row {at}", f"{1000 * at}", "12.50 %", "1234.5"] for at in range(30)]
    assert reader.problems == []


def test_a_cell_is_no_formula_of_a_spreadsheet(reader: Reader, tmp_path: Path) -> None:
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
    assert [without_formula(text) for text in _FORMULAS] == [f"'{text}" for text in _FORMULAS]
    assert [without_formula(text) for text in _TEXTS] == _TEXTS


def test_the_ranges_that_changed_are_saved(reader: Reader, page: Callable[[str], Path]) -> None:
    path = page("against")
    reader.open(path.as_uri())
    button = reader.page.locator("#ranges").get_by_role("button", name="Save as CSV")
    with reader.page.expect_download() as download:
        button.click()
    assert download.value.suggested_filename == "ranges-that-changed.csv"
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8"))))
    stated = reader.page.locator("#ranges p").first.inner_text()
    count = sum(":" not in row["first"] for row in rows)
    assert stated.startswith((f"IPv4: all {count:,} ranges", f"IPv4: the {count:,} largest of "))
    assert {row["change"] for row in rows} <= {*KINDS[:UNCHANGED]}
