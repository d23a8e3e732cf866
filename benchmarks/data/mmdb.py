"""An MMDB with the ranges and English city values of a dataset, or its ASes, to measure beside.

Strategy: neighbouring intervals of one row are put together, as vendors' own writers do, and
written as networks; all networks of a row share one record.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import workload
from geolookup.contract.address import BITS, MAX
from geolookup.dataset import layout as fmt

#: Readers want "City" in the type of a file with cities; no vendor made these.
_TYPES = {"city": "geolookup-benchmark-City", "asn": "geolookup-benchmark-ASN"}
Record = dict[str, Any]
Network = tuple[int, int, int, int]  # row, family, first address, prefix length


def networks(dataset: Path, family: int, column: str = "location") -> Iterator[Network]:
    """Yield the networks of all that has a location (or network) row, in address order."""
    rows = workload.table(dataset, family)[column].to_numpy()
    starts = workload.read(dataset, family).starts
    changes = [0, *(np.flatnonzero(np.diff(rows)) + 1).tolist()]
    ends = [*(starts[at] - 1 for at in changes[1:]), MAX[family]]
    for at, end in zip(changes, ends, strict=True):
        if row := int(rows[at]):
            for first, length in _blocks(family, starts[at], end):
                yield row, family, first, length


def _blocks(family: int, first: int, last: int) -> Iterator[tuple[int, int]]:
    while first <= last:
        alignment = (first & -first).bit_length() - 1 if first else BITS[family]
        bits = min(alignment, (last - first + 1).bit_length() - 1)
        yield first, BITS[family] - bits
        first += 1 << bits


def records(dataset: Path) -> list[Record]:
    """Return the city record of every location row, in the members of MaxMind's schema."""
    locations, countries, zones = (
        workload.arrow(dataset / name) for name in (fmt.LOCATION, fmt.COUNTRY, fmt.ZONE)
    )
    country, zone = countries.drop_columns("json").to_pylist(), zones["zone"].to_pylist()
    return [
        _record(location, country[location["country"]], zone[location["zone"]])
        for location in locations.drop_columns("json").to_pylist()
    ]


def systems(dataset: Path) -> list[Record]:
    """Return the ASN record of every network row."""
    rows = workload.arrow(dataset / fmt.NETWORK)
    return [
        _clean({"autonomous_system_number": asn, "autonomous_system_organization": holder})
        for asn, holder in zip(
            rows["asn"].to_pylist(), rows["asn_organization"].to_pylist(), strict=True
        )
    ]


def _record(location: Record, country: Record, zone: str | None) -> Record:
    region = {"iso_code": location["region_code"], "names": {"en": location["region_name"]}}
    members = {
        "city": {"names": {"en": location["city_name"]}},
        "continent": {
            "code": country["continent_code"],
            "names": {"en": country["continent_name"]},
        },
        "country": {
            "iso_code": country["country_code"],
            "names": {"en": country["country_name"]},
        },
        "location": {
            "latitude": location["latitude"],
            "longitude": location["longitude"],
            "time_zone": zone,
        },
        "postal": {"code": location["postal_code"]},
        "subdivisions": [region] if location["region_code"] else None,
    }
    return _clean(members)


def _clean(members: Record) -> Record:
    """Drop unknown members, as an MMDB does."""
    result = {
        name: _clean(value) if isinstance(value, dict) else value for name, value in members.items()
    }
    return {name: value for name, value in result.items() if value not in (None, {}, "")}


def write(dataset: Path, target: Path, selection: Iterable[Network] | None = None) -> None:
    """Write the City MMDB of a dataset, of all its networks or of a ``selection``."""
    selection = selection or (network for family in (4, 6) for network in networks(dataset, family))
    _write(target, _TYPES["city"], selection, records(dataset))


def write_systems(dataset: Path, target: Path) -> None:
    """Write the ASN MMDB of a dataset."""
    selection = (network for family in (4, 6) for network in networks(dataset, family, "network"))
    _write(target, _TYPES["asn"], selection, systems(dataset))


def _write(target: Path, kind: str, networks: Iterable[Network], records: Sequence[Record]) -> None:
    from mmdb_writer import MMDBWriter
    from netaddr import IPNetwork, IPSet

    writer = MMDBWriter(
        6, kind, languages=["en"], description="geolookup benchmark", ipv4_compatible=True
    )
    for row, group in groupby(sorted(networks), itemgetter(0)):
        ranges = IPSet(IPNetwork((first, length), version) for _, version, first, length in group)
        writer.insert_network(ranges, records[row])
    writer.to_db_file(str(target))


#: What may be written of a dataset, by name.
CONTENTS = {"city": write, "asn": write_systems}

if __name__ == "__main__":
    CONTENTS[sys.argv[3]](Path(sys.argv[1]), Path(sys.argv[2]))
