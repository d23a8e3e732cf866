"""``geolookup report --against``: the numbers are those of diff, and errors leave no file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geolookup
from geolookup.dataset.intervals import Addresses
from geolookup.reports.changes.difference import Difference, change_view, difference
from geolookup.reports.changes.moved import moved_densities, moved_section
from geolookup.reports.changes.section import change_section
from tests.cli.program import run
from tests.comparison import oracle
from tests.comparison.conftest import NEW, OLD, dataset
from tests.datasets import SMALL

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

Rows = list[Sequence[str]]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("pair")
    old, new = (dataset(folder / name, world=text) for name, text in (("old", OLD), ("new", NEW)))
    return str(old), str(new)


def _tables(changed: Difference) -> dict[str, Rows]:
    """The rows of the section's tables and charts by caption, without the head."""
    values = change_section(changed).values
    shown = [*values["first"], *values["tables"], *values["details"]]
    tables = {each.caption: [*each.rows] for each in shown}
    return tables | {each.title: [*each.rows] for each in values["charts"]}


@pytest.fixture(scope="module")
def tables(pair: tuple[str, str]) -> dict[str, Rows]:
    return _tables(difference(*pair))


def _reported(folder: Path, new: str, *options: str, status: int = 0) -> str:
    output = folder / "report.html"
    done = run("report", new, "--output", str(output), *options)
    assert done.returncode == status, done.stderr
    return output.read_text(encoding="utf-8")


def _number(text: str) -> float:
    number = float(text.replace(",", "").rstrip(" %km"))
    return number / 100 if text.endswith("%") else number


def _columns(tables: dict[str, Rows], at: int, family: str) -> dict[str, list[str]]:
    """The rows of tables in one family, by name: all numbers but those that are left out."""
    coverage = [text for row in tables["Coverage"] for text in row[1 + 2 * at : 3 + 2 * at]]
    moved = {row[0]: [*row[1:]] for row in tables[f"Moved, in {family}"]}
    return {
        **moved,
        "Coverage": [*filter(None, coverage)],
        "Distance": [*tables["Distance"][at][1:]],
    }


def _expected(part: dict[str, Any]) -> dict[str, list[float]]:
    """The same, as the JSON of diff has them."""
    known, far = part["coverage"], part["kilometres"]
    shares = {level: [s["count"], s["of"], s["share"]] for level, s in part["moved"].items()}
    lost, gained = ([known[each][key] for key in ("count", "share")] for each in ("lost", "gained"))
    return {
        **shares,
        "Coverage": [known["old"], known["new"], *lost, *gained],
        "Distance": [far[each] for each in ("of", "p50", "p90", "p99", "max")],
    }


def test_the_numbers_are_those_of_diff(pair: tuple[str, str], tables: dict[str, Rows]) -> None:
    parts = json.loads(run("diff", *pair, "--json").stdout)["parts"]
    names = ("IPv4 addresses", "IPv6 /64 networks")
    for at, (family, part) in enumerate(zip(names, parts.values(), strict=True)):
        found, expected = _columns(tables, at, family), _expected(part)
        assert set(found) == set(expected)
        for name, numbers in expected.items():
            assert [*map(_number, found[name])] == pytest.approx(numbers, rel=1e-4, abs=1e-4), name
        metrics = {row[0]: _number(row[1 + at]) for row in tables["Metrics that gates may name"]}
        assert metrics == pytest.approx(part["metrics"], rel=1e-5)


def test_kinds_add_up_to_what_is_known(tables: dict[str, Rows]) -> None:
    rows = tables["By kind of change"]
    assert {row[0]: row[1] for row in rows} == {
        "lost": "128",
        "gained": "256",
        "country moved": "64",
        "region moved": "0",
        "city moved": "0",
        "other location value": "128",
        "network value": "0",
        "unchanged": "192",
    }


def test_flows_name_both_countries(tables: dict[str, Rows]) -> None:
    assert tables["IPv4 addresses that changed country"] == [("US", "CA", "64", "100.00 %")]
    assert tables["IPv6 /64 networks that changed country"][0][:2] == ("FR", "DE")


def test_every_address_of_the_map_has_the_kind_that_lookups_show(pair: tuple[str, str]) -> None:
    changed = difference(*pair)
    with geolookup.open(pair[0]) as old, geolookup.open(pair[1]) as new:
        for family, windows in _WINDOWS.items():
            view = change_view(changed, family)
            texts = [str(ip_address(first) + at) for first, size in windows for at in range(size)]
            addresses = Addresses.of(family, (int(ip_address(each)) for each in texts))
            labels = [view.labels[at] for at in view.values[view.starts.search(addresses) - 1]]
            seen = [oracle.seen(old, new, each) for each in texts]
            kinds = [each and (oracle.kind(each) or "unknown") for each in seen]
            assert labels == [each or "special-purpose" for each in kinds]


#: First addresses, and how many from there on.
_WINDOWS = {
    4: [("8.8.7.250", 270), ("9.9.9.0", 257), ("10.255.255.250", 12), ("11.0.0.0", 257)],
    6: [("2a00::", 3), ("2a00:0:7fff:ffff:ffff:ffff:ffff:fffe", 4), ("fd00::", 2)],
}


def test_places_have_what_moved_there_and_from_there(pair: tuple[str, str]) -> None:
    found = {each.name: each for each in moved_densities(difference(*pair))}

    def places(name: str) -> list[tuple[float, ...]]:
        each = found[name]
        return list(zip(each.latitudes, each.longitudes, each.weights, strict=True))

    assert places("ipv6-moved-from-here") == [(48.86, 2.35, 2**31)]
    assert places("ipv6-moved-here") == [(52.52, 13.41, 2**31)]
    assert places("ipv4-moved-here") == [(45.42, -75.7, 64)]
    [(latitude, longitude, count)] = places("ipv4-moved-from-here")
    assert count == 64
    assert np.isnan([latitude, longitude]).all()


def test_a_dataset_against_itself_has_not_changed() -> None:
    changed = difference(SMALL, SMALL)
    assert change_section(changed).values["note"].startswith("Nothing has changed from")
    assert change_section(changed).values["charts"] == []
    tables = _tables(changed)
    assert {row[1] for row in tables["By kind of change"][:-1]} == {"0"}
    assert not any(row[1] != "0" for row in tables["Moved, in IPv4 addresses"])
    assert moved_section(changed) is None


@pytest.mark.long
def test_a_failed_gate_is_status_1_with_a_page(pair: tuple[str, str], tmp_path: Path) -> None:
    gates = ("--fail-if", "ipv6.country_moved > 2%", "--fail-if", "ipv4.km_max > 800")
    html = _reported(tmp_path, pair[1], "--against", pair[0], *gates, status=1)
    plain = re.sub(r"<[^>]*>", " ", html)
    assert re.search(r"ipv6.country_moved &gt; 2%\s+ipv6.country_moved is 50 %\s+fails", plain)
    assert re.search(r"ipv4.km_max &gt; 800\s+ipv4.km_max is 0 km\s+passes", plain)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--against", "missing"], "missing"),
        (["--against", str(SMALL), "--fail-if", "contry_moved > 2%"], "'country_moved'"),
        (["--fail-if", "country_moved > 2%"], "--fail-if needs --against"),
    ],
    ids=["old", "gate", "no-old"],
)
def test_errors_are_one_line_and_leave_no_file(
    options: list[str], told: str, tmp_path: Path
) -> None:
    done = run("report", str(SMALL), "--output", str(tmp_path / "report.html"), *options)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
