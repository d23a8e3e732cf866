"""docs/benchmarks.md: every figure about speed on a page is a row of a benchmark named there."""

from __future__ import annotations

import re

import pytest

from benchmarks.__main__ import COMMANDS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
MEASURED, _, USED = PAGE.partition("\n## Where figures are used\n")
CLAIMS = [
    tuple(cell.strip(" `") for cell in line.strip("|").split(" | "))
    for line in USED.splitlines()
    if line.startswith("| `")
]
#: How a page speaks of speed.
SPEED = re.compile(
    r"[\d.,]+ (?:ns|µs)\b|times as (?:fast|long)|requests a second\b(?! *,)|rows a second|"
    r"a microsecond|\b(?:faster|slower)\b|\bs on (?:one|two) cores?|ms to a bare"
)
#: Rates of plans, and units of stamps: no figures about speed.
OTHER = re.compile(r"\d requests a second, [\d,]+ for|\(25 a second|requests a second\. ")
PAGES = sorted(
    {ROOT / "README.md", *(ROOT / "docs").rglob("*.md")} - {ROOT / "docs" / "benchmarks.md"}
)


@pytest.mark.parametrize(("page", "words", "benchmark", "row"), CLAIMS)
def test_a_figure_is_where_the_table_says(page: str, words: str, benchmark: str, row: str) -> None:
    assert words in (ROOT / page).read_text(encoding="utf-8")
    assert benchmark in COMMANDS
    sections = {
        re.findall(r"`(\w+)", each.partition("\n")[0])[0]: each
        for each in MEASURED.split("\n## ")[1:]
    }
    assert row in sections[benchmark]


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_every_figure_about_speed_is_in_the_table(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for claimed, words, _, _ in CLAIMS:
        if claimed == page:
            text = text.replace(words, "")
    assert SPEED.findall(OTHER.sub("", text)) == []


def test_the_figures_of_the_readme_are_those_of_the_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (?!n?s? ?per)(.+) \|$", readme.partition("\n## Benchmarks\n")[2], re.MULTILINE
    )
    figures = [figure for row in rows for figure in re.findall(r"\b\d[\d,]+\b", row)]
    assert len(figures) >= 12
    assert set(figures) <= set(re.findall(r"\b\d[\d,]+\b", MEASURED))


def test_every_measurement_is_on_the_page() -> None:
    data = {"generate", "geolite", "single"}  # the first two write sources; `peers` has the third
    assert set(re.findall(r"^## .*`(\w+)", MEASURED, re.MULTILINE)) == set(COMMANDS) - data
