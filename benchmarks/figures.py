"""The figures about speed on pages come from published output: ``python -m benchmarks.figures``.

Without ``--write`` it lists what differs, and exits with 1 if anything does. A page shows a table
below the comment ``<!-- NAME: title -->``, the missed goals below ``<!-- missed -->``; the README
has its own table between two comments. A figure in a sentence is a ``Claim``: its words have a
place ``{}`` for each number.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contenders import table as who
from benchmarks.harness.processes import ROOT
from benchmarks.harness.reports import PUBLISHED, published_tables

README, PAGE = ROOT / "README.md", ROOT / "docs" / "reference" / "benchmarks.md"
_NUMBER = r"[\d,.]*\d"
_SHOWN = re.compile(r"(?<=^<!-- )(\w+): (.+)( -->\n\n```text\n)(?:.*\n)*?(?=```$)", re.MULTILINE)
_MISSED = re.compile(r"(?<=^<!-- missed -->\n\n)(?:\|.*\n)*", re.MULTILINE)
_SPEED = re.compile(r"(?<=^<!-- speed -->\n\n)(?:.*\n)*?(?=\n<!-- end of speed -->$)", re.MULTILINE)
_ONE, _FIRST = "ns per lookup, one thread", "ns per lookup of a new process, 100,000 addresses"
_SMALL = "ns per lookup, countries only"
_ANY, _POPULAR = "uniform v4 hit", "zipf v4 hit"


def value(name: str, title: str, row: str, column: str) -> float:
    """Return a published number; KeyError if there is none."""
    cell = published_tables(name)[title][1][row][column]
    return float(re.split(r"[^\d.,]", cell)[0].replace(",", ""))


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a page and where its numbers come from; each is divided and rounded.

    ``sources`` are the name of the output, the title of the table, the row, the column, the divisor
    and the decimals.
    """

    page: str
    words: str
    sources: tuple[tuple[str, str, str, str, float, int], ...]

    def rewritten(self, page: str) -> str:
        """Return a page with the published numbers in the sentence; its line breaks stay."""
        parts = (re.escape(part).replace(r"\ ", r"\s+") for part in self.words.split("{}"))
        match = re.search(f"({_NUMBER})".join(parts), page)
        if match is None:
            raise LookupError(f"{self.page} does not say: {self.words}")
        for at, (name, title, row, column, divisor, decimals) in reversed(
            list(enumerate(self.sources, 1))
        ):
            number = f"{value(name, title, row, column) / divisor:,.{decimals}f}"
            page = page[: match.start(at)] + number + page[match.end(at) :]
        return page


_START = "start to first answer, over bare"
CLAIMS = (
    Claim(
        "README.md",
        "in about {} µs as JSON",
        (("peers", _ONE, who.JSON, _ANY, 1000, 1),),
    ),
    Claim(
        "README.md",
        "answers takes {} ms (maxminddb: {} in C, {} in Rust; a bare interpreter: {})",
        tuple(
            ("peers", "whole process", row, "start ms", 1, 0)
            for row in (who.JSON, who.C_DICT, who.RUST_DICT, "bare interpreter")
        ),
    ),
    Claim(
        "README.md",
        "The dataset has {} MB, the MMDB file {}.",
        tuple(("peers", "whole process", row, "file MB", 1, 0) for row in (who.JSON, who.C_DICT)),
    ),
    Claim(
        "README.md",
        "{} ns a row in geolookup, {} in maxminddb-polars",
        (
            ("tables", "ns per row, one thread", who.OWN_ONE, "IPv4", 1, 0),
            ("tables", "ns per row, one thread", who.POLARS_ONE, "IPv4", 1, 0),
        ),
    ),
    Claim(
        "README.md",
        "{} million rows in GeoLite2's layout compile in {} s on two cores, with {} GB of memory",
        (
            ("build", "geolite", "rows", "total", 1e6, 1),
            ("build", "geolite", "compile", "total", 1, 0),
            ("build", "geolite", "peak memory", "total", 1, 2),
        ),
    ),
    Claim(
        "README.md",
        "Without a C compiler, a lookup takes about {} µs",
        (("peers", _ONE, f"{who.DICT}, Python kernel", _ANY, 1000, 0),),
    ),
    Claim(
        "docs/use/history.md",
        "about {} times the time",
        (("past", "past", "enrich as of each row's time / enrich", "is", 1, 0),),
    ),
    Claim(
        "docs/use/tables.md",
        "about {} ns a row for one field on one core, {} ns on two",
        (
            ("tables", "ns per row, one thread", who.OWN_ONE, "IPv4", 1, 0),
            ("tables", "ns per row, two threads", who.OWN_ONE, "IPv4", 1, 0),
        ),
    ),
    Claim(
        "docs/reference/benchmarks.md",
        "a second: {} million of a CSV of 3 columns, {} million of a log, {} million of a Parquet",
        (
            ("tables", "whole files", "CSV of 3 columns, one field", "M rows/s", 1, 1),
            ("tables", "whole files", "log to CSV, one field", "M rows/s", 1, 1),
            ("tables", "whole files", "Parquet, one field", "M rows/s", 1, 1),
        ),
    ),
    Claim(
        "docs/concepts/store.md",
        "unpacks one, in {} s. The archives of a year of weekly data of all cities take {} GB",
        (
            ("past", "whole process", "open as of the oldest", "wall s", 1, 1),
            ("past", "52 generations of 3,700,000 rows", "archives", "MB", 1000, 1),
        ),
    ),
    Claim("docs/index.md", "**{} µs** a lookup", (("peers", _ONE, who.DICT, _ANY, 1000, 0),)),
    Claim(
        "docs/index.md",
        "**{} ms** from the start of Python to the first answer, {} of them",
        tuple(
            ("peers", "whole process", row, "start ms", 1, 0)
            for row in (who.JSON, "bare interpreter")
        ),
    ),
)
#: The rows of the README's table, ours in bold, and its columns.
_ROWS = {
    "**geolookup, JSON bytes**": who.JSON,
    "maxminddb-zig, JSON query": who.ZIG_JSON,
    "maxminddb-rust `get` + `orjson.dumps`": who.RUST_JSON,
    "maxminddb (C) `get` + `orjson.dumps`": who.C_ORJSON,
    "maxminddb (C) `get` + `json.dumps`": who.C_JSON,
    "**geolookup, dict**": who.DICT,
    "maxminddb-rust `get`": who.RUST_DICT,
    "maxminddb (C) `get`": who.C_DICT,
}
_COLUMNS = {
    "popular addresses (zipf)": (_ONE, _POPULAR),
    "any address (uniform)": (_ONE, _ANY),
    "first 100,000 of a new process": (_FIRST, "first pass"),
}
_JSON_PEERS = (who.ZIG_JSON, who.RUST_JSON, who.C_ORJSON, who.C_JSON)
_DICT_PEERS = (who.RUST_DICT, who.C_DICT)


def _speed() -> str:
    """Return the README's sentence about JSON and its table."""
    tables = published_tables("peers")
    cells = {
        (row, column): tables[title][1][name][heading]
        for row, name in _ROWS.items()
        for column, (title, heading) in _COLUMNS.items()
        if name in tables[title][1]
    }
    columns = [(title, heading) for title, heading in _COLUMNS.values()]
    answers, dicts = _times(columns, who.JSON, _JSON_PEERS), _times(columns, who.DICT, _DICT_PEERS)
    sentence = (
        f"geolookup makes JSON answers {answers} times as fast as MMDB readers, and dicts"
        f"\n{dicts} times"
    )
    if _SMALL in tables:
        small = _times([(_SMALL, _POPULAR), (_SMALL, _ANY)], who.JSON, _JSON_PEERS)
        sentence += f". With records of a country only, JSON is {small} times as fast"
    rows = [
        f"| {row} | " + " | ".join(_bold(cells[row, column], row) for column in _COLUMNS) + " |"
        for row in _ROWS
        if (row, next(iter(_COLUMNS))) in cells
    ]
    head = f"| ns per lookup, one core | {' | '.join(_COLUMNS)} |"
    picture = (
        "![Bar chart of the nanoseconds per lookup in the table below: JSON answers and dict"
        " answers of geolookup and of each MMDB reader](docs/speed.svg)"
    )
    lines = [f"{sentence}.", "", picture, "", head, "|---" * (1 + len(_COLUMNS)) + "|", *rows, ""]
    return "\n".join(lines)


def _bold(cell: str, row: str) -> str:
    return f"**{cell}**" if row.startswith("**") else cell


def _times(columns: list[tuple[str, str]], ours: str, peers: tuple[str, ...]) -> str:
    """Return the least and the most times that an answer of a peer takes as long as ours.

    Both are rounded down: no more is claimed than the table shows.
    """
    tables = published_tables("peers")
    ratios = [
        value("peers", title, peer, column) / value("peers", title, ours, column)
        for title, column in columns
        for peer in peers
        if peer in tables[title][1]
    ]
    low, high = (f"{int(10 * ratio) / 10:g}" for ratio in (min(ratios), max(ratios)))
    return f"{low} to {high}"


def missed() -> Iterator[tuple[str, str, str, str]]:
    """Yield the output, the goal, the value and the bound of every goal that was missed."""
    for path in sorted(PUBLISHED.glob("*.txt")):
        for _, rows in published_tables(path.stem).values():
            for row, cells in rows.items():
                if cells.get("verdict") == "missed":
                    yield path.stem, row, cells["is"], cells["wanted"]


def _missed_table() -> str:
    rows = [f"| `{name}` | {' | '.join(cells)} |\n" for name, *cells in missed()]
    return "".join(["| benchmark | goal | is | wanted |\n|---|---|---|---|\n", *rows])


def _shown(match: re.Match[str]) -> str:
    name, title, between = match.groups()
    return f"{name}: {title}{between}{published_tables(name)[title][0]}\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Yield each page with figures, and its text with the published ones."""
    for path in sorted({README, PAGE, *(ROOT / claim.page for claim in CLAIMS)}):
        text = path.read_text(encoding="utf-8")
        if path == README:
            text = _filled(_SPEED, text, lambda _: _speed())
        if path == PAGE:
            text = _filled(_MISSED, _filled(_SHOWN, text, _shown), lambda _: _missed_table())
        for claim in CLAIMS:
            if ROOT / claim.page == path:
                text = claim.rewritten(text)
        yield path, text


def _filled(pattern: re.Pattern[str], page: str, figures: Callable[[re.Match[str]], str]) -> str:
    """Return a page with its figures; LookupError if it has no place for them."""
    page, count = pattern.subn(figures, page)
    if not count:
        raise LookupError(f"no page has a match of {pattern.pattern}")
    return page


def main(*options: str) -> int:
    """Compare the pages with the published figures, or write the pages and the picture."""
    stale = [(path, text) for path, text in pages() if path.read_text(encoding="utf-8") != text]
    if "--write" not in options:
        for path, _ in stale:
            print(f"{path.relative_to(ROOT)}: figures differ from benchmarks/published")
        return int(bool(stale))
    for path, text in stale:
        path.write_text(text, encoding="utf-8")
    from docs import pictures

    (pictures.FOLDER / "speed.svg").write_bytes(pictures.speed())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
