"""What a comparison says as a whole, its pages, its measures, and the gates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import geolookup
from geolookup.errors import DatasetError, DiffError
from tests.comparison.conftest import dataset
from tests.damage import copied
from tests.internals.comparison import comparison as diff
from tests.internals.comparison import (
    diff_metrics,
    joint_intervals,
    lay_over,
    open_dataset,
    quantiles,
)
from tests.internals.contract import special
from tests.internals.dataset import layout as fmt


def test_space_that_became_private_is_not_compared(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert diff.diff(*pair).parts["ipv4"].moved["country"].count == 64
    parts = [(0, 0x080807FF, special.PUBLIC), (0x08080800, 0x080808FF, special.PRIVATE)]
    parts.append((0x08080900, 2**32 - 1, special.PUBLIC))
    monkeypatch.setattr(
        joint_intervals, "partition", {4: parts, 6: special.partition(6)}.__getitem__
    )
    part = diff.diff(*pair).parts["ipv4"]
    assert (part.moved["country"].count, part.moved["country"].of) == (0, 128)


def _rewritten(folder: Path, file: str, column: str, at: int, value: int) -> None:
    """Put another value into a column, where the manifest says it lies."""
    manifest = json.loads((folder / fmt.MANIFEST).read_bytes())
    described = manifest["files"][file]["columns"][column]
    width = pa.type_for_alias(described["type"].replace("dictionary<values=", "")).bit_width // 8
    offset = described["buffers"][1][0] + at * width
    data = bytearray((folder / file).read_bytes())
    data[offset : offset + width] = value.to_bytes(width, "little")
    (folder / file).write_bytes(data)


def test_damage_is_told(pair: tuple[Path, Path], tmp_path: Path) -> None:
    for file, column, told in (
        (fmt.IPV4, "start", "out of order"),
        (fmt.IPV4, "location", "outside its table"),
        (fmt.IPV4, "network", "outside its table"),
        (fmt.IPV6, "start_high", "out of order"),
        (fmt.IPV6, "location", "outside its table"),
        (fmt.PROVENANCE[4], "start", "out of order"),
        (fmt.PROVENANCE[4], "location", "outside its table"),
        (fmt.LOCATION, "country", "outside its table"),
        (fmt.LOCATION, "zone", "outside its table"),
    ):
        damaged = copied(pair[1], tmp_path / f"{file}-{column}")
        _rewritten(damaged, file, column, 1, 200)
        _rewritten(damaged, file, column, 2, 199)
        for sides in ((pair[0], damaged), (damaged, pair[0])):
            with pytest.raises(DatasetError, match=told):
                diff.diff(*sides)
    files = json.loads((pair[1] / fmt.MANIFEST).read_bytes())["files"]
    for column, table in (("country", fmt.COUNTRY), ("zone", fmt.ZONE)):  # just outside
        damaged = copied(pair[1], tmp_path / column)
        _rewritten(damaged, fmt.LOCATION, column, 1, files[table]["rows"])
        with pytest.raises(DatasetError, match="outside its table"):
            diff.diff(pair[0], damaged)
    damaged = copied(pair[1], tmp_path / "refused by Arrow")
    path = damaged / fmt.LOCATION
    path.write_bytes(path.read_bytes()[:-6] + b"\0" * 6)
    with pytest.raises(DatasetError, match="damaged"):
        diff.diff(pair[0], damaged)


_LEVELS = ("location", "country", "region", "city")
#: Cells in OLD and in NEW: country, code and name of the region, city, coordinates. Then what moved
#: at each level: + moved, = stayed, . cannot be compared.
_CASES = (
    ("US,,,Paris,,", "US,,,Paris,,", "= = . ="),
    ("US,,,Paris,,", "FR,,,Paris,,", "+ + . +"),
    ("US,TX,,Paris,,", "US,CA,,Paris,,", "+ = + ="),  # another region alone is the same city
    ("US,TX,,Paris,,", "FR,TX,,Paris,,", "+ + + +"),
    ("US,TX,,,,", "FR,TX,,,,", "+ + + ."),
    ("US,,Texas,Paris,,", "US,,Texas,Paris,,", "= = = ="),
    ("US,,Texas,Paris,,", "US,,Utah,Paris,,", "+ = + ="),
    ("US,TX,Texas,Paris,,", "US,,Utah,Paris,,", "+ = + ="),  # by name where one has no code
    ("US,TX,Texas,Paris,,", "US,TX,Tejas,Paris,,", "= = = ="),  # by code where both have one
    ("US,TX,Texas,Paris,,", "US,CA,Texas,Paris,,", "+ = + ="),
    ("US,TX,,Paris,,", "US,,Texas,Paris,,", "= = . ="),
    ("US,TX,,Paris,,", "US,TX,,Austin,,", "+ = = +"),
    ("US,,,Paris,,", "US,,,,,", "= = . ."),
    (",,,Paris,,", "US,,,Paris,,", "= . . ="),
    (",,,Paris,,", "US,,,Austin,,", "+ . . +"),
    ("US,,,,,", ",TX,,,,", ". . . ."),
    # Springfield in Illinois and in Missouri, 306 km apart: two cities.
    ("US,IL,,Springfield,39.78,-89.65", "US,MO,,Springfield,37.21,-93.29", "+ = + +"),
    ("US,IL,,Springfield,39.78,-89.65", "US,MO,,Springfield,,", "+ = + ="),
    # 99 and 101 km apart.
    ("US,IL,,Springfield,39,-89", "US,MO,,Springfield,39.89,-89", "+ = + ="),
    ("US,IL,,Springfield,39,-89", "US,MO,,Springfield,39.91,-89", "+ = + +"),
    # Vendors divide Finland in different ways; the coordinates are 2 km apart.
    ("FI,18,,Helsinki,60.17,24.94", "FI,01,Uusimaa,Helsinki,60.18,24.96", "+ = + ="),
    # Far apart in one region: the same city, in the middle of two areas.
    ("US,AK,,Sitka,57.05,-135.33", "US,AK,,Sitka,59.05,-135.33", "= = = ="),
    ("CH,ZH,,Zürich,,", "CH,ZH,,Zurich,,", "= = = ="),
    ("CH,,Genève,Saint-Denis,,", "CH,,GENEVE,saint denis,,", "= = = ="),
)


def test_each_level_of_each_case(tmp_path: Path) -> None:
    head = "network,country_code,region_code,region_name,city_name,latitude,longitude\n"
    sides = [
        head + "".join(f"20.{at}.0.0/16,{case[side]}\n" for at, case in enumerate(_CASES))
        for side in (0, 1)
    ]
    old, new = (
        dataset(tmp_path / name, world=text) for name, text in zip("on", sides, strict=True)
    )
    actual = lay_over(open_dataset(old), open_dataset(new)).changes["ipv4"]
    shown: dict[str, list[str]] = {}
    for level in _LEVELS:
        move = actual.moves.by_level[level]
        masks = zip(move.compared[actual.location_of], move.moved[actual.location_of], strict=True)
        shown[level] = ["+" if moved else "=" if compared else "." for compared, moved in masks]
    for case, marks in zip(_CASES, zip(*shown.values(), strict=True), strict=True):
        assert " ".join(marks) == case[2], case
    # The same rule scores: what moved is wrong.
    levels = (
        geolookup.score(new, truth=tmp_path / "o" / "world.csv").datasets[0].parts["ipv4"].levels
    )
    for level in _LEVELS[1:]:
        expected = [case[2].split()[_LEVELS.index(level)] for case in _CASES]
        agreement = levels[level]
        counts = (agreement.agree.count, agreement.wrong.count)
        assert counts == (expected.count("=") << 16, expected.count("+") << 16), level


def test_more_networks_than_63_bits_can_count(tmp_path: Path) -> None:
    head = "network,country_code\n"
    old = dataset(tmp_path / "old", world=f"{head}2a00::/32,FR\n")
    new = dataset(tmp_path / "new", world=f"{head}::/0,FR\n")
    known = diff.diff(old, new).parts["ipv6"].coverage.new
    assert 2**63 < known < 2**64


def test_quantiles_are_the_least_distances_that_enough_do_not_exceed() -> None:
    for moved, weights, expected in (
        ([9, 5, 1], [1, 3, 6], (10, 1, 5, 9, 9)),
        ([1, 5], [1, 1], (2, 1, 5, 5, 5)),  # exactly half is not beyond 1 km
        ([*range(100)], [1] * 100, (100, 49, 89, 98, 99)),
        ([np.nan, 2], [7, 1], (1, 2, 2, 2, 2)),
        ([np.nan], [7], (0, 0, 0, 0, 0)),
    ):
        result = quantiles(np.array(moved, np.float64), np.array(weights, np.float64))
        assert (result.of, result.p50, result.p90, result.p99, result.max) == expected


def test_gates_are_read() -> None:
    for text, family, metric, test, limit in (
        ("country_moved > 2%", None, "country_moved", ">", 0.02),
        ("country_moved>0.02", None, "country_moved", ">", 0.02),
        (" ipv4.km_p50 >= 10 ", "ipv4", "km_p50", ">=", 10.0),
        ("ipv6.coverage_gained<0.1 %", "ipv6", "coverage_gained", "<", 0.001),
        ("null_gained.location.city_name <= .5", None, "null_gained.location.city_name", "<=", 0.5),
        ("ipv4.null_gained.city > 1", "ipv4", "null_gained.location.city_name", ">", 1.0),
        ("changed.city_name > 1", None, "changed.location.city_name", ">", 1.0),
        ("changed.network.asn == 0", None, "changed.network.asn", "==", 0.0),
        ("country_moved > 1", None, "country_moved", ">", 1.0),
        ("country_moved > 100%", None, "country_moved", ">", 1.0),
    ):
        (gate,) = diff_metrics().gates(text)
        assert (gate.part, gate.metric, gate.test, gate.limit) == (family, metric, test, limit)
        assert gate.text == text.strip()


_NO_GATES = {
    **dict.fromkeys(
        ("", "country_moved", "country_moved > ", "country_moved => 2", "country_moved > -1",
         "country_moved > nan", "country_moved > 2% extra"),
        "write one like",
    ),
    "country_move > 2%": "did you mean 'country_moved'?",
    "ipv5.country_moved > 2%": "country_moved",
    "null_gained.citi > 2%": "no metric 'null_gained.citi'",
    "qqqq > 1": "docs/data/compare.md",
    "km_p50 > 2%": "kilometres",
    "country_moved > 2": "write a percentage",
    "country_moved > 101%": "write a percentage",
}  # fmt: skip


def test_malformed_gates_are_errors() -> None:
    for text, told in _NO_GATES.items():
        with pytest.raises(DiffError, match="gate") as raised:
            diff_metrics().gates(text)
        assert told in str(raised.value), text
