"""Every figure about speed on a page is what a benchmark printed, as ``published`` keeps it."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.__main__ import COMMANDS
from benchmarks.harness import published
from benchmarks.harness.measure import facts
from benchmarks.harness.reports import Outputs
from benchmarks.harness.tables import Number, Table
from benchmarks.harness.workload import arrow
from geolookup.contract import special
from geolookup.dataset import layout as fmt
from tests.conftest import ROOT
from tests.docs.blocks import unwrapped

README = unwrapped((ROOT / "README.md").read_text(encoding="utf-8"))
MEASURED = published.PAGE.read_text(encoding="utf-8")
USED = (ROOT / "benchmarks" / "figures.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: By page and words: the benchmark, the row and the printed cell of each figure.
CLAIMS: dict[tuple[str, str], list[list[str]]] = defaultdict(list)
for _line in USED.splitlines():
    if _line.startswith("| `"):
        _page, _words, *_source = (cell.strip(" `") for cell in _line.strip("|").split(" | "))
        CLAIMS[_page, _words].append(_source)
#: How a page speaks of speed.
SPEED = re.compile(
    r"[\d.,]+ (?:ns|µs)\b|times as (?:fast|long)|requests a second\b(?! *,)|rows a second|"
    r"\b(?:a|about \w+) microseconds?\b|\b(?:faster|slower)\b|\bs on (?:one|two) cores?|"
    r"ms to a bare"
)
#: Rates of plans, and units of stamps: no figures about speed.
OTHER = re.compile(r"\d requests a second, [\d,]+ for|\(25 a second|requests a second\. ")
#: Amounts that commands are given, and versions: on the page beside the measurements.
INPUTS = {"2026-11-22", "2026-11-23", "2026-11-26", "2026-11-27", "3.11.7", "100", "200", "1"}
#: Units of words in units of printed figures.
SCALES = {"microseconds": 1e3, "µs": 1e3, "million": 1e6, "kB": 1e3}


def _numbers(words: str) -> list[str]:
    words = words.replace("two microseconds", "2 microseconds")
    return re.findall(r"(?<![\w.,-])\d[\d.,-]*\d|(?<![\w.,-])\d", words)


def _value(printed: str) -> float:
    """Return the number that a cell begins with: 17.53 of ``17.53 ms``."""
    return float(re.split(r"[^\d.,]", printed)[0].replace(",", ""))


def _is_rounded(number: str, value: float) -> bool:
    _, _, decimals = number.partition(".")
    zeros = 0 if decimals else len(number) - len(number.rstrip("0"))
    return float(number) in (round(value, len(decimals)), round(value, -zeros))


def test_words_state_what_was_printed() -> None:
    for (page, words), sources in CLAIMS.items():
        assert words in unwrapped((ROOT / page).read_text("utf-8"))
        values = []
        for benchmark, row, printed in sources:
            assert benchmark in COMMANDS
            cells = [item for (_, name), item in published.rows(benchmark).items() if name == row]
            assert any(printed in cell for cell in cells), (words, row)
            units = [scale for unit, scale in SCALES.items() if unit in words]
            large = _value(printed) >= 1000
            values.append(_value(printed) / (units[0] if units and large else 1))
        numbers = _numbers(words)
        for number in numbers:
            assert any(_is_rounded(number, value) for value in values), (words, number)
        for entry in values:
            assert any(_is_rounded(number, entry) for number in numbers), (words, entry)
    assert len(CLAIMS) > 5


def test_figures_about_speed_are_in_the_table() -> None:
    for path in {ROOT / "README.md", *(ROOT / "docs").rglob("*.md")} - {published.PAGE}:
        page, text = path.relative_to(ROOT).as_posix(), unwrapped(path.read_text("utf-8"))
        for claimed, words in CLAIMS:
            text = text.replace(words, "") if claimed == page else text
        assert SPEED.findall(OTHER.sub("", text)) == [], page
    prose = unwrapped(BLOCK.sub("", MEASURED))
    assert {number.rstrip(",.") for number in _numbers(prose)} == INPUTS


def test_the_page_shows_tables_of_what_is_published_or_links_it() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in published.FOLDER.glob("*.txt")}
    shown, linked = [], re.findall(r"\]\(../../benchmarks/published/([\w-]+)\.txt\)", MEASURED)
    for section in MEASURED.split("\n## ")[1:]:
        for block in BLOCK.findall(section):
            (name,) = re.findall(r"`(\w+)", section.partition("\n")[0])
            tables = texts[name].rstrip().split("\n\n")
            assert {*block.rstrip().split("\n\n")} <= {*tables}
            shown.append(name)
            part = block != texts[name]
            assert part == (name in linked), f"{name}: a part needs a link to the whole"
    assert {*shown, *linked} == {*texts}
    assert all(text.rstrip().splitlines()[-1].startswith("CPython ") for text in texts.values())
    assert {benchmark for sources in CLAIMS.values() for benchmark, *_ in sources} <= {
        *shown,
        *linked,
    }
    data = {"generate", "geolite"}  # they write sources
    assert {text.split("-")[0] for text in texts} == set(COMMANDS) - data


def test_the_page_names_the_missed_goals() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in published.FOLDER.glob("*.txt")}
    section = MEASURED.partition("\n## Missed goals\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE))
    assert named == {name for name, text in texts.items() if " missed\n" in text}


def test_a_run_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "FOLDER", tmp_path / "published")
    monkeypatch.setattr(published, "PAGE", tmp_path / "page.md")
    published.PAGE.write_text("Nothing yet.", "utf-8")
    for cell in (Number(1234.5), "-"):
        table = Table("x", ("ns per lookup", "one", "two threads"), [("a row", cell, Number(2))])
        Outputs(None, None, "peers").tell([table], {"machine": facts(pinned=True)})
        printed = (tmp_path / "published" / "peers.txt").read_text("utf-8")
        if isinstance(cell, Number):
            assert published.rows("peers")["ns per lookup", "a row"] == ["1,234", "2"]
            assert published.header("peers", "ns per lookup") == ["one", "two threads"]
            published.PAGE.write_text(f"Before.\n```text\n{printed}```\nAfter.\n", "utf-8")
    assert published.rows("peers")["ns per lookup", "a row"] == ["-", "2"]
    assert published.PAGE.read_text("utf-8") == f"Before.\n```text\n{printed}```\nAfter.\n"


def test_a_run_replaces_the_tables_that_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published, "FOLDER", tmp_path)
    monkeypatch.setattr(published, "PAGE", tmp_path / "page.md")
    (tmp_path / "peers.txt").write_text("one  1\n\ntwo  2\n\nCPython 3\n", "utf-8")
    published.PAGE.write_text("```text\ntwo  2\n```\n", "utf-8")
    published.publish("peers", "one  5\n\ntwo  6\n\nCPython 3\n")
    assert published.PAGE.read_text("utf-8") == "```text\ntwo  6\n```\n"


def test_the_table_of_the_readme() -> None:
    section = README.partition("\n## Benchmarks\n")[2]
    head, *body = re.findall(r"^\| (.+) \|$", section.partition("\n## ")[0], re.MULTILINE)
    title, *columns = head.split(" | ")
    assert title == "ns per lookup, one core"
    names = {
        "popular addresses (zipf)": ("peers", "ns per lookup, one thread", "zipf v4 hit"),
        "any address (uniform)": ("peers", "ns per lookup, one thread", "uniform v4 hit"),
        "first pass of a new process": ("first", "ns per lookup, 100,000 addresses", "first pass"),
    }
    ours = {"geolookup, JSON bytes": "lookup_json", "geolookup, dict": "lookup"}
    figures: dict[str, list[float]] = {}
    for label, *cells in (re.sub(r"[*`]|\.dumps", "", row).split(" | ") for row in body):
        name = f"geolookup (compiled) {ours[label]}" if label in ours else label
        for column, cell in zip(columns, cells, strict=True):
            file, table, heading = names[column]
            at = published.header(file, table).index(heading)
            assert cell == published.rows(file)[table, name][at], (label, column)
        figures[label] = [_value(cell) for cell in cells]
    assert len(figures) == 7
    own = figures["geolookup, JSON bytes"]
    ratios = [
        their / our
        for label, row in figures.items()
        if "json" in label and label not in ours
        for their, our in zip(row, own, strict=True)
    ]
    assert (round(min(ratios)), round(max(ratios))) == (4, 20)  # "4 to 20 times as fast"


def test_the_coverage_that_the_readme_and_the_home_page_state() -> None:
    """Of the bundled dataset, from its files; the table has the rows of its own page."""
    folder = ROOT / "geolookup" / "world"
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert f"of the whole address space, {size / 1e6:.0f} MB." in README
    stated = dict(re.findall(r"^\| ([^|]+) \| (\d+\.\d\d%) \|$", README, re.MULTILINE))
    figures = (ROOT / "sample_data" / "README.md").read_text(encoding="utf-8")
    known = figures.partition("| known |")[2].partition("\n\n")[0]
    assert stated == dict(re.findall(r"^\| ([^|-]+) \| ([\d.]+%) \|", known, re.MULTILINE))
    shares = _shares(folder)
    assert stated["country"] == f"{shares['country_code']:.2%}"
    assert stated["AS"] == f"{shares['asn']:.2%}"
    assert "The currency follows from the country." in README
    assert stated["country"] == f"{shares['currency_code']:.2%}"
    home = unwrapped((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert f"**{int(100 * shares['country_code'])} %** of the public IPv4 addresses" in home
    assert f"{float(stated['city'][:-1]):.1f} % have a city" in home


def _shares(folder: Path) -> dict[str, float]:
    """Return the shares of the public IPv4 addresses with a value, interval by interval."""
    tables = {
        name: arrow(folder / name) for name in (fmt.IPV4, fmt.LOCATION, fmt.COUNTRY, fmt.NETWORK)
    }
    rows = tables[fmt.IPV4]
    starts = np.append(rows["start"].to_numpy().astype(np.int64), 1 << 32)
    country = tables[fmt.LOCATION]["country"].to_numpy()[rows["location"].to_numpy()]
    known = {
        "country_code": tables[fmt.COUNTRY]["country_code"].is_valid().to_numpy()[country],
        "currency_code": tables[fmt.COUNTRY]["currency_code"].is_valid().to_numpy()[country],
        "asn": tables[fmt.NETWORK]["asn"].is_valid().to_numpy()[rows["network"].to_numpy()],
    }
    public = [(a, b + 1) for a, b, kind in special.partition(4) if kind == special.PUBLIC]
    return {
        name: sum(_sum(starts, item, a, b) for a, b in public) / sum(b - a for a, b in public)
        for name, item in known.items()
    }


def _sum(starts: NDArray[np.int64], known: NDArray[np.bool_], begin: int, end: int) -> int:
    """Return how many addresses of [begin, end) lie in known intervals."""
    lengths = np.minimum(starts[1:], end) - np.maximum(starts[:-1], begin)
    return int(lengths[known & (lengths > 0)].sum())
