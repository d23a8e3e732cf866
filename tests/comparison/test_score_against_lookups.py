"""Every number of a score is what looking all addresses of the truth up gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from fractions import Fraction
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from tests.comparison.conftest import dataset
from tests.comparison.scoring import oracle
from tests.oracle import SourceRow, deciding
from tests.tiers import scaled

#: The windows of ranges: all their addresses can be looked up; the last of each family
#: reaches into private space, or from one /64 into the next.
WINDOWS = {
    "8.8.8.0": 16,
    "9.255.255.250": 12,
    "2a00::": 16,
    "2a00::ffff:ffff:ffff:fffa": 12,
}
_CELLS = {
    "country_code": ("US", "DE", "US"),
    "region_code": ("BY", "NW"),
    "region_name": ("Bavaria", "bavaria", "Bayern"),
    "city_name": ("Köln", "KOLN", "Bonn"),
}
_PLACES = (("50.9", "7.0"), ("50.7", "7.1"), ("50.2", "6.9"), ("-33.8688", "151.2"))
_NAMES = [*_CELLS, "latitude", "longitude"]
_addresses = [str(ip_address(item) + at) for item, size in WINDOWS.items() for at in range(size)]

Row = tuple[str, str, tuple[str, ...]]


@st.composite
def _cells(draw: st.DrawFn) -> tuple[str, ...]:
    named = [draw(st.sampled_from(("", *values))) for values in _CELLS.values()]
    return (*named, *draw(st.sampled_from((("", ""), *_PLACES))))


@st.composite
def _row(draw: st.DrawFn) -> Row:
    window = draw(st.sampled_from(list(WINDOWS)))
    one, other = sorted(draw(st.tuples(*[st.integers(0, WINDOWS[window] - 1)] * 2)))
    first, last = (str(ip_address(window) + item) for item in (one, other))
    return first, last, draw(_cells())


_sources = st.lists(_row(), min_size=1, max_size=6)
_datasets = st.lists(_sources, min_size=1, max_size=2)
_single = st.lists(st.tuples(st.sampled_from(_addresses), _cells()), min_size=1, max_size=30)
_requests = st.lists(st.sampled_from(_addresses), max_size=30)


def _csv(rows: Sequence[Row]) -> str:
    lines = [",".join((first, last, *cells)) for first, last, cells in rows]
    return "\n".join([",".join(("first", "last", *_NAMES)), *lines, ""])


def _source_rows(rows: Sequence[Row]) -> list[SourceRow]:
    return [
        SourceRow(
            ip_address(first),
            ip_address(last),
            {key: cell for key, cell in zip(_NAMES, cells, strict=True) if cell},
        )
        for first, last, cells in rows
    ]


def _values(row: SourceRow) -> dict[str, Any]:
    degrees = ("latitude", "longitude")
    return {key: float(cell) if key in degrees else cell for key, cell in row.cells.items()}


def _cases(truths: list[list[SourceRow]], engines: list[geolookup.Engine]) -> list[oracle.Case]:
    actual = []
    for text in _addresses:
        address = ip_address(text)
        rows = (deciding(truth, address) for truth in truths)
        row = next((row for row in rows if row is not None and row.cells), None)
        answers = [oracle.answer(engine, address) for engine in engines]
        if row is None or None in answers:
            continue
        cells, sources = zip(*(answer for answer in answers if answer), strict=True)
        actual.append(oracle.Case(address, id(row), _values(row), cells, sources))
    return actual


def _parts(
    cases: list[oracle.Case], unit: Fraction, asked: list[str] | None
) -> dict[str, dict[int, Fraction]]:
    sizes = [unit if case.address.version == 6 else Fraction(1) for case in cases]
    rows = Counter(case.row for case in cases)
    parts = {
        f"ipv{family}": {
            at: sizes[at] for at, item in enumerate(cases) if item.address.version == family
        }
        for family in (4, 6)
    }
    parts["networks"] = {at: Fraction(1, rows[entry.row]) for at, entry in enumerate(cases)}
    if asked is not None:
        counts = Counter(ip_address(request) for request in asked)
        parts["requests"] = {at: Fraction(counts[entry.address]) for at, entry in enumerate(cases)}
    return parts


@settings(max_examples=scaled(3, 12))
@given(
    st.lists(_datasets, min_size=1, max_size=2),
    st.lists(_sources, min_size=1, max_size=2),
    _requests,
    _single,
)
def test_numbers_are_those_of_lookups(
    datasets: list[list[list[Row]]],
    truths: list[list[Row]],
    asked: list[str],
    single: list[tuple[str, tuple[str, ...]]],
) -> None:
    """Of ranges as the truth, of requests, and of a table of addresses."""
    of_ranges = {f"truth{at}.csv": _csv(rows) for at, rows in enumerate(truths)}
    head = "IP Address,Country,Region_Code,Region Name,City,Lat,Lon"
    table = "\n".join([head, *(",".join((ip, *cells)) for ip, cells in single), ""])
    small, rows = Fraction(1, 2**64), [_source_rows(truth) for truth in truths]
    single_rows = [_source_rows([(ip, ip, cells) for ip, cells in single])]
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder, paths = Path(name), []
        for at, sources in enumerate(datasets):
            texts = {f"s{number}": _csv(item) for number, item in enumerate(sources)}
            paths.append(dataset(folder / f"d{at}", **texts))
        engines = [stack.enter_context(geolookup.open(path)) for path in paths]
        (folder / "asked.txt").write_text("\n".join([*asked, "10.0.0.1", "x", ""]), "utf-8")
        for file, text in {**of_ranges, "table.csv": table}.items():
            (folder / file).write_text(text, encoding="utf-8")
        of_rows, of_single = (_cases(listed, engines) for listed in (rows, single_rows))
        for files, cases, unit, requests in (
            ([*of_ranges], of_rows, small, None),
            ([*of_ranges], of_rows, small, asked),
            (["table.csv"], of_single, Fraction(1), None),
        ):
            options: dict[str, Any] = {
                "truth": [folder / file for file in files],
                "traffic": None if requests is None else folder / "asked.txt",
                "worst": 1000,
            }
            if not cases:
                with pytest.raises(geolookup.DiffError, match="no row"):
                    geolookup.score(paths, **options)
                continue
            report = geolookup.score(paths, **options)
            oracle.check(report, cases, _parts(cases, unit, requests), pytest.approx)
