"""What is measured of a change, and the gates: what they say and when they fail."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup import comparison as diff
from geolookup.comparison.compare import read
from geolookup.comparison.gates import verdict_line
from geolookup.comparison.report import count_text
from geolookup.comparison.weighted import distinct
from geolookup.errors import DiffError
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


def test_gates_are_read() -> None:
    for text, family, metric, test, limit in (
        ("country_moved > 2%", None, "country_moved", ">", 0.02),
        ("country_moved>0.02", None, "country_moved", ">", 0.02),
        (" ipv4.km_p50 >= 10 ", "ipv4", "km_p50", ">=", 10.0),
        ("ipv6.coverage_gained<0.1 %", "ipv6", "coverage_gained", "<", 0.001),
        ("null_gained.location.city_name <= .5", None, "null_gained.location.city_name", "<=", 0.5),
        ("changed.network.asn == 0", None, "changed.network.asn", "==", 0.0),
        ("country_moved > 1", None, "country_moved", ">", 1.0),
        ("country_moved > 100%", None, "country_moved", ">", 1.0),
    ):
        gate = diff.parse_gate(text)
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
    "null_gained.city_name > 2%": "null_gained.location.city_name",
    "qqqq > 1": "docs/diff.md",
    "km_p50 > 2%": "kilometres",
    "country_moved > 2": "write a percentage",
    "country_moved > 101%": "write a percentage",
}  # fmt: skip


def test_what_is_no_gate_is_told() -> None:
    for text, told in _NO_GATES.items():
        with pytest.raises(DiffError, match="gate") as raised:
            diff.parse_gate(text)
        assert told in str(raised.value), text


_FAILED: tuple[tuple[str, list[str]], ...] = (
    # OLD knows 512 addresses, NEW 128 of 9.9.9.0/24 less; of IPv6 all are known still.
    ("coverage_lost > 25%", []),
    ("coverage_lost >= 25%", ["ipv4.coverage_lost"]),
    ("coverage_lost == 25%", ["ipv4.coverage_lost"]),
    ("coverage_lost < 25%", ["ipv6.coverage_lost"]),
    ("coverage_lost <= 25%", ["ipv4.coverage_lost", "ipv6.coverage_lost"]),
    ("ipv6.coverage_lost >= 25%", []),
    # 64 of the 384 that both know in IPv4, half of IPv6.
    ("country_moved > 40%", ["ipv6.country_moved"]),
    ("ipv4.country_moved > 16.6%", ["ipv4.country_moved"]),
    ("ipv4.country_moved > 16.7%", []),
    ("km_max > 800", ["ipv6.km_max"]),
)


def test_gates_measure_families(pair: tuple[Path, Path]) -> None:
    compared = diff.compare(*pair)
    for gate, failed in _FAILED:
        assert diff.judge(diff.parse_gate(gate), compared).failed == failed, gate


def test_a_failed_gate_states_what_it_measured_in_its_unit(pair: tuple[Path, Path]) -> None:
    compared = diff.compare(*pair)
    km = compared.parts["ipv6"].metrics["km_max"]
    for gate, said in (
        (
            "coverage_lost <= 25%",
            "ipv4.coverage_lost is 25 %, ipv6.coverage_lost is 0 %, the limit is 25 %",
        ),
        (" km_max > 800", f"ipv6.km_max is {km:.6g} km, the limit is 800 km"),
        ("ipv4.country_moved > 0.1", "ipv4.country_moved is 16.6667 %, the limit is 10 %"),
    ):
        verdict = diff.judge(diff.parse_gate(gate), compared)
        assert verdict_line(verdict) == f"gate failed: {gate.strip()}: {said}"
    assert (verdict.gate, verdict.limit) == ("ipv4.country_moved > 0.1", 0.1)


def test_requests_are_measured_together(pair: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "requests.txt"
    path.write_text("8.8.8.129\n8.8.8.1\n8.8.8.1\n2a00::1\n", encoding="utf-8")
    comparison = diff.compare(*pair, diff.Traffic(path))
    verdict = diff.judge(diff.parse_gate("country_moved >= 25%"), comparison)
    assert verdict.failed == ["country_moved"]
    assert verdict.measured == {"country_moved": 0.25}
    verdict = diff.judge(diff.parse_gate("ipv6.country_moved > 0"), comparison)
    assert verdict.measured == {"ipv6.country_moved": 0.0}
