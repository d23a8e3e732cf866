"""``geolookup report --against`` and ``--truth``: their numbers equal the numbers of lookups, of
changed rows and of scores."""

from __future__ import annotations

import csv
import io
import zlib
from base64 import b64decode
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
    Section,
    change_section,
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
    tables = of_sections([change_section(changed)])
    kinds = {kind: number(count) for kind, count, _ in tables["IPv4 addresses by kind of change"]}
    assert {kind: count for kind, count in kinds.items() if kind != "unchanged"} == sums
    shares = [number(row[2]) for row in tables["IPv4 addresses by kind of change"]]
    assert shares == close(count / sum(kinds.values()) for count in kinds.values())
    shown = tables["IPv4 addresses that changed country"]
    assert {flow: number(count) for flow, count, _ in shown} == flows
    metrics = changed.judged.parts["ipv4"].metrics
    for path, *texts in tables["Fields: IPv4 addresses"]:
        names = (f"{kind}.{path}" for kind in ("null_gained", "null_lost", "changed"))
        assert numbers(texts) == close(metrics[name] for name in names)
    levels = {row[0]: number(row[3]) for row in tables["Moved: IPv4 addresses"]}
    assert list(levels.values()) == close(metrics[f"{level}_moved"] for level in levels)


def test_the_file_has_the_ranges_that_lookups_tell_apart(changed: Difference) -> None:
    section = ranges_section(changed)
    assert section is not None
    rows = list(csv.DictReader(io.StringIO(_unpacked(section))))
    with geolookup.open(OLD) as old, geolookup.open(NEW) as new:
        for row in rows:
            for end in (row["first"], row["last"]):
                seen = oracle.seen(old, new, end)
                assert seen is not None
                for side, answer in (("before", seen.old), ("after", seen.new)):
                    expected = [answer[path] for path in _IN_FILE.values()]
                    assert [row[f"{name}_{side}"] or None for name in _IN_FILE] == [
                        None if value is None else str(value) for value in expected
                    ]
        # All whose country, region, city or AS differs is in the file, and nothing else.
        listed = {
            int(a): int(b) for a, b in (map(ip_address, (r["first"], r["last"])) for r in rows)
        }
        for first, count in _MAPPED[4]:
            for at in range(count):
                address = int(ip_address(first)) + at
                seen = oracle.seen(old, new, str(ip_address(address)))
                differs = seen is not None and any(
                    seen.old[path] != seen.new[path] for path in _IN_FILE.values()
                )
                assert any(a <= address <= b for a, b in listed.items()) == differs, address
    for family in (4, 6):
        count = sum((":" in row["first"]) == (family == 6) for row in rows)
        assert f"IPv{family}: all {count} ranges whose" in section.values["note"]


_IN_FILE = {"country": "location.country_code", "region": "location.region_name",
            "city": "location.city_name", "asn": "network.asn"}  # fmt: skip


def _unpacked(section: Section) -> str:
    return zlib.decompress(b64decode(str(section.data["changed-ranges"]))).decode()


def test_the_file_has_the_largest_ranges(
    changed: Difference, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ranges_section(changed)
    monkeypatch.setattr("geolookup.reports.ranges.MOST", 1)
    section = ranges_section(changed)
    assert section is not None
    assert whole is not None
    every = [row for row in csv.DictReader(io.StringIO(_unpacked(whole))) if "." in row["first"]]
    sizes = [int(ip_address(r["last"])) - int(ip_address(r["first"])) + 1 for r in every]
    first = next(csv.DictReader(io.StringIO(_unpacked(section))))
    assert first == every[sizes.index(max(sizes))]
    share = f"{max(sizes) / sum(sizes):.2%}".replace("%", " %")
    assert f"IPv4: the 1 largest of {len(sizes)} ranges" in section.values["note"]
    assert f"differs, {share} of the addresses in them." in section.values["note"]


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
    rows = {row[0]: numbers(row[1:]) for row in tables["Agreement by level: IPv4 addresses"]}
    for level in ("country", "city"):
        agreement = part.levels[level]
        shares = (agreement.agree.share, agreement.wrong.share, agreement.missing.share)
        assert rows[level] == close((agreement.agree.of, *shares))
    assert rows["country"] == close([384, 1 / 3, 1 / 3, 1 / 3])
    assert tables["Truth"] == [["truth.csv", "geofeed", "3", "0", "0"]]
