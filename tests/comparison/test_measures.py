"""What is measured of a change: moves at each level, sums of combinations, counts as texts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from geolookup.comparison.compare import read
from geolookup.comparison.report import count_text
from geolookup.comparison.weighted import distinct
from tests.comparison.conftest import dataset

_LEVELS = ("location", "country", "region", "city")
#: Cells in OLD and in NEW: country, code and name of the region, city. Then what moved at each
#: level: + moved, = stayed, . cannot be compared.
_CASES = (
    ("US,,,Paris", "US,,,Paris", "= = . ="),
    ("US,,,Paris", "FR,,,Paris", "+ + . +"),
    ("US,TX,,Paris", "US,CA,,Paris", "+ = + +"),
    ("US,TX,,Paris", "FR,TX,,Paris", "+ + + +"),
    ("US,TX,,", "FR,TX,,", "+ + + ."),
    ("US,,Texas,Paris", "US,,Texas,Paris", "= = = ="),
    ("US,,Texas,Paris", "US,,Utah,Paris", "+ = + +"),
    ("US,TX,Texas,Paris", "US,,Utah,Paris", "+ = + +"),  # by name where one has no code
    ("US,TX,Texas,Paris", "US,TX,Tejas,Paris", "= = = ="),  # by code where both have one
    ("US,TX,Texas,Paris", "US,CA,Texas,Paris", "+ = + +"),
    ("US,TX,,Paris", "US,,Texas,Paris", "= = . ="),
    ("US,TX,,Paris", "US,TX,,Austin", "+ = = +"),
    ("US,,,Paris", "US,,,", "= = . ."),
    (",,,Paris", "US,,,Paris", "= . . ="),
    (",,,Paris", "US,,,Austin", "+ . . +"),
    ("US,,,", ",TX,,", ". . . ."),
)


def test_each_level_of_each_case(tmp_path: Path) -> None:
    head = "network,country_code,region_code,region_name,city_name\n"
    sides = [
        head + "".join(f"20.{at}.0.0/16,{case[side]}\n" for at, case in enumerate(_CASES))
        for side in (0, 1)
    ]
    old, new = (
        dataset(tmp_path / name, world=text) for name, text in zip("on", sides, strict=True)
    )
    found = read(old, new).changes["ipv4"]
    shown: dict[str, list[str]] = {}
    for level in _LEVELS:
        move = found.moves.by_level[level]
        masks = zip(move.compared[found.location_of], move.moved[found.location_of], strict=True)
        shown[level] = ["+" if moved else "=" if compared else "." for compared, moved in masks]
    for case, marks in zip(_CASES, zip(*shown.values(), strict=True), strict=True):
        assert " ".join(marks) == case[2], case


_numbers = st.integers(0, 2) | st.sampled_from([0xFFFF_FFFF, 0xFFFF_FFFE])


@given(st.lists(st.tuples(_numbers, _numbers, _numbers, st.integers(1, 9))))
def test_distinct(rows: list[tuple[int, int, int, int]]) -> None:
    columns = [np.array([row[at] for row in rows], np.uint32) for at in range(3)]
    found = distinct(columns, np.array([row[3] for row in rows], np.float64))
    expected: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        expected[row[:3]] += row[3]
    combinations = list(zip(*(column.tolist() for column in found.columns), strict=True))
    assert dict(zip(combinations, found.weight.tolist(), strict=True)) == expected
    assert [combinations[at] for at in found.of_row] == [row[:3] for row in rows]


def test_counts_are_readable() -> None:
    for number, text in (
        (0, "0"), (2**-48, "<0.001"), (0.25, "0.25"), (12_345.6, "12,346"), (2.0**60, "1.153e+18")
    ):  # fmt: skip
        assert count_text(number) == text
