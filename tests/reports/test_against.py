"""``geolookup report --against`` and ``--truth``: their numbers equal the numbers of lookups and
scores."""

from __future__ import annotations

import csv
import io
import zlib
from base64 import b64decode
from ipaddress import ip_address

import pytest

import geolookup
from tests.comparison import oracle
from tests.comparison.conftest import old_and_new
from tests.datasets import SMALL
from tests.internals.dataset import Addresses
from tests.internals.reports import (
    Difference,
    Section,
    change_section,
    change_view,
    difference,
    moved_section,
    ranges_section,
)
from tests.reports.shown import of_sections

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


def test_the_file_has_the_ranges_that_lookups_tell_apart(changed: Difference) -> None:
    section = ranges_section(changed)
    assert section is not None
    rows = list(csv.DictReader(io.StringIO(_unpacked(section))))
    with geolookup.open(OLD) as old, geolookup.open(NEW) as new:
        for row in rows:
            for end in (row["first"], row["last"]):
                seen = oracle.seen(old, new, end)
                assert seen is not None
                assert oracle.kind(seen) == row["change"]
                for side, answer in (("before", seen.old), ("after", seen.new)):
                    expected = [answer[path] for path in _IN_FILE.values()]
                    assert [row[f"{name}_{side}"] or None for name in _IN_FILE] == [
                        None if value is None else str(value) for value in expected
                    ]
        # All that changed is in the file, and nothing else.
        listed = {
            int(a): int(b) for a, b in (map(ip_address, (r["first"], r["last"])) for r in rows)
        }
        for first, count in _MAPPED[4]:
            for at in range(count):
                address = int(ip_address(first)) + at
                seen = oracle.seen(old, new, str(ip_address(address)))
                differs = seen is not None and oracle.kind(seen) not in (None, "unchanged")
                assert any(a <= address <= b for a, b in listed.items()) == differs, address
    assert section.values["notes"] == [
        f"IPv{f}: all {sum((':' in r['first']) == (f == 6) for r in rows)} ranges." for f in (4, 6)
    ]


_IN_FILE = {"country": "location.country_code", "region": "location.region_name",
            "city": "location.city_name", "asn": "network.asn"}  # fmt: skip


def _unpacked(section: Section) -> str:
    return zlib.decompress(b64decode(str(section.data["changed-ranges"])), -15).decode()


def test_a_dataset_against_itself_has_not_changed() -> None:
    changed = difference(SMALL, SMALL)
    section = change_section(changed)
    assert section.values["note"].startswith("Nothing has changed:")
    assert section.values["charts"] == []
    tables = of_sections([section])
    assert [row[0] for row in tables["By kind of change"]] == ["unchanged"]
    assert not [caption for caption in tables if caption.startswith(("Moved", "Distance"))]
    assert not [caption for caption in tables if "by their source" in caption]
    assert moved_section(changed) is None
    assert ranges_section(changed) is None
