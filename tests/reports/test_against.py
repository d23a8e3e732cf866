"""``geolookup report --against`` and ``--truth``: their numbers equal the numbers of lookups, of
changed rows and of scores."""

from __future__ import annotations

from collections import Counter
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.comparison import oracle
from tests.comparison.conftest import old_and_new
from tests.datasets import SMALL
from tests.internals.comparison import diff_table
from tests.internals.dataset import Addresses
from tests.internals.pictures import wording
from tests.internals.reports import (
    Difference,
    change_section,
    change_sentences,
    change_view,
    difference,
    ranges_section,
    truth_section,
)
from tests.reports.shown import close, number, numbers, of_sections

OLD, NEW = old_and_new()
#: Where the map is compared with lookups: first addresses, and how many from there on.
_MAPPED = {
    4: [("8.8.7.250", 270), ("9.9.9.0", 257), ("10.255.255.250", 12), ("11.0.0.0", 257)],
    6: [("2a00::", 3), ("2a00:0:7fff:ffff:ffff:ffff:ffff:fffe", 4), ("fd00::", 2)],
}


@pytest.fixture(scope="module")
def changed() -> Difference:
    return difference(OLD, NEW)


def test_every_address_of_the_map_has_the_kind_that_lookups_show(changed: Difference) -> None:
    with geolookup.open(OLD) as old, geolookup.open(NEW) as new:
        for family, windows in _MAPPED.items():
            view = change_view(changed, family)
            texts = [str(ip_address(first) + at) for first, size in windows for at in range(size)]
            addresses = Addresses.of(family, (int(ip_address(text)) for text in texts))
            labels = [view.labels[at] for at in view.values[view.starts.search(addresses) - 1]]
            seen = [oracle.seen(old, new, text) for text in texts]
            kinds = [entry and (oracle.kind(entry) or "unknown") for entry in seen]
            assert labels == [kind or "special-purpose" for kind in kinds]


def test_changes_have_the_numbers_of_changed_rows(changed: Difference) -> None:
    sums, flows = Counter[str](), Counter[str]()
    for row in diff_table(OLD, NEW).read_all().to_pylist():
        if row["family"] == 4:
            sums[row["kind"]] += int(row["addresses"])
            sides = (row[f"location_country_code_{side}"] for side in ("before", "after"))
            if row["kind"] == "country moved":
                flows[" → ".join(sides)] += int(row["addresses"])
    section = change_section(changed)
    tables = of_sections([section])
    kinds = {row[0]: numbers(row[1:]) for row in tables["IPv4 addresses by kind of change"]}
    assert {kind: count for kind, (count, _) in kinds.items()} == sums
    known = sum(changed.by_kind("ipv4").values())
    assert [share for _, share in kinds.values()] == close(sums[kind] / known for kind in kinds)
    share = f"{sums.total() / known:.2%}".replace("%", " %")
    first, *_ = change_sentences(changed)
    assert first == f"{share} of the known IPv4 addresses have another answer."
    shown = tables["IPv4 addresses that changed country"]
    assert {flow: number(count) for flow, count, _ in shown} == flows
    metrics = changed.judged.parts["ipv4"].metrics
    paths: dict[str, str] = {field.short_name: field.path for field in geolookup.fields()}
    for name, *texts in tables["Fields: IPv4 addresses"]:
        path = paths.get(name, name)
        names = (f"{kind}.{path}" for kind in ("null_gained", "null_lost", "changed"))
        assert numbers(texts) == close(metrics[name] for name in names)
    everything = tables["Locations by their source: IPv4 addresses"][0]
    levels = ("country", "region", "city")
    assert numbers(everything[1:4]) == close(metrics[f"{level}_moved"] for level in levels)


_COLUMNS = ("location_country_code", "location_region_name", "location_city_name", "network_asn")


def _text(row: dict[str, Any], column: str) -> str:
    before, after = (
        "-" if row[f"{column}_{side}"] is None else str(row[f"{column}_{side}"])
        for side in ("before", "after")
    )
    return before if before == after else f"{before} → {after}"


@pytest.mark.parametrize("most", [1, 1000])
def test_the_largest_changed_ranges_are_listed(
    changed: Difference, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("geolookup.reports.ranges.MOST", most)
    section = ranges_section(changed)
    assert section is not None
    tables = of_sections([section])
    every = diff_table(OLD, NEW, "country_code", "region_name", "city_name", "asn").read_all()
    for family in (4, 6):
        rows = [row for row in every.to_pylist() if row["family"] == family]
        largest = sorted(rows, key=lambda row: -row["addresses"])[:most]
        shown = tables[f"IPv{family} ranges that changed"]
        ends = (f"first_ipv{family}", f"last_ipv{family}")
        assert [tuple(row[:2]) for row in shown] == [
            tuple(str(ip_address(row[end])) for end in ends) for row in largest
        ]
        sizes = [float(row["addresses"]) / (1 if family == 4 else 2**64) for row in largest]
        assert numbers([row[2] for row in shown]) == close(sizes)
        assert [row[3:] for row in shown] == [
            [row["kind"], *(_text(row, column) for column in _COLUMNS)] for row in largest
        ]
        part, whole = (sum(row["addresses"] for row in part) for part in (largest, rows))
        share = wording.percent(float(part / whole))
        of = "1 range" if len(rows) == 1 else f"{len(rows)} ranges"
        note = f"IPv{family}: {len(largest)} of {of} whose country, region, city or AS differs, "
        note += f"with {share} of their addresses."
        assert note in section.values["note"]


def test_a_dataset_against_itself_has_not_changed() -> None:
    changed = difference(SMALL, SMALL)
    tables = of_sections([change_section(changed)])
    assert set(tables) == {
        f"{head}{unit}{tail}"
        for unit in ("IPv4 addresses", "IPv6 /64 networks")
        for head, tail in (("", " by kind of change"), ("Fields: ", ""))
    }
    assert not any(tables.values())
    assert all(text.startswith("0.00 %") for text in change_sentences(changed))
    assert ranges_section(changed) is None


def test_the_page_has_the_numbers_of_a_score(tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("8.8.8.0/25,US,,Boston,\n9.9.9.0/24,DE,,Bern,\n11.0.0.0/24,,,Lima,\n", "utf-8")
    score = geolookup.score(NEW, truth=truth)
    tables = of_sections([truth_section(score)])
    part = score.datasets[0].parts["ipv4"]
    rows = {row[0]: numbers(row[1:]) for row in tables["Agreement: IPv4 addresses"]}
    for level in ("country", "city"):
        agreement = part.levels[level]
        shares = (agreement.agree.share, agreement.wrong.share, agreement.missing.share)
        assert rows[level] == close((agreement.agree.of, *shares))
    assert rows["country"] == close([384, 1 / 3, 1 / 3, 1 / 3])
