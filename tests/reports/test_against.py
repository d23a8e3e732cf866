"""``geolookup report --against`` and ``--truth``: their numbers equal the numbers of lookups, of
changed rows and of scores."""

from __future__ import annotations

from collections import Counter
from ipaddress import ip_address
from pathlib import Path

import pytest

import geolookup
from tests.comparison import oracle
from tests.comparison.conftest import old_and_new
from tests.datasets import SMALL
from tests.internals.comparison import diff_table
from tests.internals.dataset import Addresses
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
    assert first.startswith(f"{share} of the known IPv4 addresses have another answer;")
    shown = tables["IPv4 addresses that changed country"]
    assert {flow: number(count) for flow, count, _ in shown} == flows
    metrics = changed.judged.parts["ipv4"].metrics
    paths = {field.short_name: field.path for field in geolookup.fields()}
    for name, *texts in tables["Fields: IPv4 addresses"]:
        path = paths.get(name, name)
        names = (f"{kind}.{path}" for kind in ("null_gained", "null_lost", "changed"))
        assert numbers(texts) == close(metrics[name] for name in names)
    everything = tables["Locations by their source: IPv4 addresses"][0]
    levels = ("country", "region", "city")
    assert numbers(everything[1:4]) == close(metrics[f"{level}_moved"] for level in levels)


_FIELDS = ("location.country_code", "location.region_name", "location.city_name", "network.asn")


def _ranges(changed: Difference) -> tuple[str, dict[str, list[list[str]]]]:
    section = ranges_section(changed)
    assert section is not None
    return section.values["note"], of_sections([section])


def test_the_tables_have_the_ranges_that_lookups_tell_apart(changed: Difference) -> None:
    note, tables = _ranges(changed)
    rows = [row for table in tables.values() for row in table]
    with geolookup.open(OLD) as old, geolookup.open(NEW) as new:
        for first, last, _, _, *texts in rows:
            for end in (first, last):
                seen = oracle.seen(old, new, end)
                assert seen is not None
                sides = [
                    ["-" if answer[path] is None else str(answer[path]) for path in _FIELDS]
                    for answer in (seen.old, seen.new)
                ]
                assert texts == [a if a == b else f"{a} → {b}" for a, b in zip(*sides, strict=True)]
        # All whose country, region, city or AS differs are listed, and nothing else.
        listed = [tuple(int(ip_address(end)) for end in row[:2]) for row in rows]
        for first, count in _MAPPED[4]:
            for at in range(count):
                address = int(ip_address(first)) + at
                seen = oracle.seen(old, new, str(ip_address(address)))
                differs = seen is not None and any(
                    seen.old[path] != seen.new[path] for path in _FIELDS
                )
                assert any(a <= address <= b for a, b in listed) == differs, address
    for family in (4, 6):
        count = len(tables[f"IPv{family} ranges that changed"])
        assert f"IPv{family}: {count} of {count} ranges whose" in note


def test_the_largest_ranges_are_listed(
    changed: Difference, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = _ranges(changed)[1]["IPv4 ranges that changed"]
    sizes = [int(ip_address(row[1])) - int(ip_address(row[0])) + 1 for row in every]
    assert sizes == sorted(sizes, reverse=True) == [number(row[2]) for row in every]
    monkeypatch.setattr("geolookup.reports.ranges.MOST", 1)
    note, tables = _ranges(changed)
    assert tables["IPv4 ranges that changed"] == every[:1]
    share = f"{sizes[0] / sum(sizes):.2%}".replace("%", " %")
    assert f"IPv4: 1 of {len(sizes)} ranges" in note
    assert f"differs, with {share} of the addresses in them." in note


def test_a_dataset_against_itself_has_not_changed() -> None:
    changed = difference(SMALL, SMALL)
    section = change_section(changed)
    assert section.values["note"].startswith("Nothing has changed:")
    assert of_sections([section]) == {}
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
