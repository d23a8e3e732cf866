"""Every number of a score is what looking all addresses of the truth up gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from tests.comparison import oracle
from tests.comparison.conftest import dataset
from tests.internals.comparison import ScoredPart
from tests.oracle import Source, SourceRow, deciding
from tests.range_strategies import addresses_in, any_cells, as_csv, rows_within
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
    "postal_code": ("1", "2"),
}
_PLACES = (("50.9", "7.0"), ("50.7", "7.1"), ("50.2", "6.9"), ("-33.8688", "151.2"))
_NAMES = [*_CELLS, "latitude", "longitude"]
_addresses = [*map(str, addresses_in(WINDOWS))]
LEVELS = {
    "country": ("country_code",),
    "region": ("region_code", "region_name"),
    "city": ("city_name",),
}
KINDS = ("agree", "wrong", "missing")

#: An address, and what the truth and a dataset state of it.
Case = tuple[Any, oracle.SeenAnswers]


#: A text, or an empty one, for each of ``_NAMES``.
_cells = st.tuples(any_cells(_CELLS), st.sampled_from((("", ""), *_PLACES))).map(
    lambda drawn: {**drawn[0], "latitude": drawn[1][0], "longitude": drawn[1][1]}
)
_sources = st.lists(rows_within(WINDOWS, _cells), min_size=1, max_size=6)
_datasets = st.lists(_sources, min_size=1, max_size=2)
_single = st.lists(st.tuples(st.sampled_from(_addresses), _cells), min_size=1, max_size=30)
_requests = st.lists(st.sampled_from(_addresses), max_size=30)


def _stated(row: SourceRow) -> oracle.Answer:
    degrees = ("latitude", "longitude")
    return {
        f"location.{key}": float(cell) if key in degrees else cell
        for key, cell in row.cells.items()
        if cell
    }


def _cases(truths: list[list[SourceRow]], engine: geolookup.Engine) -> list[Case]:
    actual = []
    for text in _addresses:
        address = ip_address(text)
        rows = (deciding(truth, address) for truth in truths)
        row = next((row for row in rows if row is not None and any(row.cells.values())), None)
        seen = oracle.seen(engine, engine, text)
        if row is not None and seen is not None:
            pair = oracle.SeenAnswers(_stated(row), seen.new, None, seen.new_source)
            actual.append((address, pair))
    return actual


def _states(side: oracle.Answer, keys: Sequence[str]) -> bool:
    return any(side.get(f"location.{key}") is not None for key in keys)


def _level(level: str, pair: oracle.SeenAnswers) -> str | None:
    """``agree``, ``wrong`` or ``missing``; None where it does not count."""
    if not _states(pair.old, LEVELS[level]):
        return None
    if not _states(pair.new, LEVELS[level]):
        return "missing"
    moved = oracle.has_moved(level, pair)
    return None if moved is None else "wrong" if moved else "agree"


def _field(key: str, pair: oracle.SeenAnswers) -> str | None:
    path = f"location.{key}"
    truth, answer = pair.old.get(path), pair.new.get(path)
    if truth is None or answer is None:
        return None if truth is None else "missing"
    if key.endswith("_name"):
        truth, answer = map(oracle.folded, (truth, answer))
    return "agree" if truth == answer else "wrong"


Weighted = Sequence[tuple[oracle.SeenAnswers, Fraction]]


def _same(actual: Any, cases: Weighted, verdict: Callable[[oracle.SeenAnswers], Any]) -> None:
    """Hold the shares of an agreement, and their counts."""
    sums: Counter[str | None] = Counter()
    for pair, weight in cases:
        sums[verdict(pair)] += weight  # type: ignore[assignment]
    sums.pop(None, None)
    _same_shares(actual, {kind: Fraction(sums[kind]) for kind in KINDS}, Fraction(sums.total()))


def _same_shares(actual: Any, sums: dict[str, Fraction], total: Fraction) -> None:
    for name, weight in sums.items():
        share = getattr(actual, name)
        assert (share.count, share.of) == (oracle.whole(weight), oracle.whole(total)), name
        assert share.share == pytest.approx(float(weight / total) if total else 0.0, rel=1e-9)


def _check_measures(actual: Any, cases: Weighted) -> None:
    for level in LEVELS:
        _same(actual.levels[level], cases, partial(_level, level))
    far = sorted(
        (km, weight)
        for pair, weight in cases
        if (km := oracle.kilometres_of(pair)) is not None and weight
    )
    total = sum((weight for _, weight in far), Fraction())
    assert actual.kilometres.of == oracle.whole(total)
    for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)):
        passed, expected = Fraction(), 0.0
        for km, weight in far:
            if passed * 100 < total * percent:
                expected = km
            passed += weight
        assert getattr(actual.kilometres, name) == pytest.approx(expected, abs=1e-6)
    near = {
        f"within_{limit}": sum((w for km, w in far if km <= limit), Fraction())
        for limit in (50, 100)
    }
    _same_shares(actual.kilometres, near, total)
    located = [(pair, weight) for pair, weight in cases if _states(pair.old, ("latitude",))]
    lacking = sum((w for pair, w in located if not _states(pair.new, ("latitude",))), Fraction())
    of_truth = sum((weight for _, weight in located), Fraction())
    _same_shares(actual.kilometres, {"missing": lacking}, of_truth)


def _check(part: ScoredPart, cases: Weighted) -> None:
    assert part.of == oracle.whole(sum((weight for _, weight in cases), Fraction()))
    _check_measures(part, cases)
    for key in _NAMES:
        if f"location.{key}" in part.fields:
            agreement = part.fields[f"location.{key}"]
            _same(agreement, cases, partial(_field, key))
        else:
            assert not any(_states(pair.old, (key,)) for pair, weight in cases if weight)
    names = {pair.new_source for pair, weight in cases if weight} - {None}
    assert {source.source for source in part.sources} == names
    for source in part.sources:
        _check_measures(source, [case for case in cases if case[0].new_source == source.source])
    for name, value in part.metrics.items():
        level, _, kind = name.partition("_")
        if level in LEVELS:
            share = getattr(part.levels[level], kind)
            assert value == (share.share if share.of else None)


def _check_parts(
    parts: Any, cases: Sequence[Case], unit: Fraction, asked: list[str] | None
) -> None:
    sizes = {4: Fraction(1), 6: unit}
    counts = None if asked is None else Counter(map(ip_address, asked))
    weighted = [
        (address, pair, sizes[address.version] if counts is None else Fraction(counts[address]))
        for address, pair in cases
    ]
    assert list(parts) == ["ipv4", "ipv6", *([] if asked is None else ["all"])]
    for name, part in parts.items():
        _check(part, [(p, w) for a, p, w in weighted if name in ("all", f"ipv{a.version}")])


@settings(max_examples=scaled(3, 12))
@given(
    st.lists(_datasets, min_size=1, max_size=2),
    st.lists(_sources, min_size=1, max_size=2),
    _requests,
    _single,
)
def test_numbers_are_those_of_lookups(
    datasets: list[list[list[SourceRow]]],
    truths: list[list[SourceRow]],
    asked: list[str],
    single: list[tuple[str, dict[str, str]]],
) -> None:
    """Of ranges as the truth, of requests, and of a table of addresses."""
    of_ranges = {f"truth{at}.csv": as_csv(Source(rows)) for at, rows in enumerate(truths)}
    head = "IP Address,Country,Region_Code,Region Name,City,Postal,Lat,Lon"
    lines = (",".join((ip, *map(cells.__getitem__, _NAMES))) for ip, cells in single)
    table = "\n".join([head, *lines, ""])
    single_rows = [
        SourceRow(ip_address(ip), ip_address(ip), {**cells, "postal_code": ""})
        for ip, cells in single
    ]
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder, paths = Path(name), []
        for at, sources in enumerate(datasets):
            texts = {f"s{number}": as_csv(Source(item)) for number, item in enumerate(sources)}
            paths.append(dataset(folder / f"d{at}", **texts))
        engines = [stack.enter_context(geolookup.open(path)) for path in paths]
        (folder / "asked.txt").write_text("\n".join([*asked, "10.0.0.1", "x", ""]), "utf-8")
        for file, text in {**of_ranges, "table.csv": table}.items():
            (folder / file).write_text(text, encoding="utf-8")
        for files, stated, unit, requests in (
            ([*of_ranges], truths, Fraction(1, 2**64), None),
            ([*of_ranges], truths, Fraction(1, 2**64), asked),
            (["table.csv"], [single_rows], Fraction(1), None),
        ):
            options: dict[str, Any] = {
                "truth": [folder / file for file in files],
                "traffic": None if requests is None else folder / "asked.txt",
            }
            cases = [_cases(stated, engine) for engine in engines]
            if not cases[0]:
                with pytest.raises(geolookup.errors.DiffError, match="no row"):
                    geolookup.score(paths, **options)
                continue
            report = geolookup.score(paths, **options)
            for of_dataset, scored in zip(cases, report.datasets, strict=True):
                _check_parts(scored.parts, of_dataset, unit, requests)
