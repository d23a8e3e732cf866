"""An MMDB with the ranges and English city values of a dataset, for the peers that read one.

Strategy: neighbouring intervals of one location are put together, as vendors'
own writers do, and written as networks; all networks of a location share one
record. The public writer is plain Python and takes minutes at city scale, so
the file is cached; ``peers_check`` compares it with the dataset before it is timed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import workload
from geolookup import format as fmt
from geolookup.address import BITS, MAX

#: Readers want "City" in the type of a file with cities; no vendor made this one.
_TYPE = "geolookup-benchmark-City"
Record = dict[str, Any]
Network = tuple[int, int, int, int]  # location row, family, first address, prefix length


def networks(dataset: Path, family: int) -> Iterator[Network]:
    """Yield the networks of all that has a location, in address order."""
    rows = workload.table(dataset, family)["location"].to_numpy()
    starts = workload.read(dataset, family).starts
    changes = [0, *(np.flatnonzero(np.diff(rows)) + 1).tolist()]
    ends = [*(starts[at] - 1 for at in changes[1:]), MAX[family]]
    for at, end in zip(changes, ends, strict=True):
        if row := int(rows[at]):
            for first, length in _aligned(family, starts[at], end):
                yield row, family, first, length


def _aligned(family: int, first: int, last: int) -> Iterator[tuple[int, int]]:
    while first <= last:
        alignment = (first & -first).bit_length() - 1 if first else BITS[family]
        bits = min(alignment, (last - first + 1).bit_length() - 1)
        yield first, BITS[family] - bits
        first += 1 << bits


def records(dataset: Path) -> list[Record]:
    """Return the city record of every location row, in the members of MaxMind's schema."""
    places, countries, zones = (
        workload.arrow(dataset / name) for name in (fmt.LOCATION, fmt.COUNTRY, fmt.ZONE)
    )
    country, zone = countries.drop_columns("json").to_pylist(), zones["zone"].to_pylist()
    return [
        _record(place, country[place["country"]], zone[place["zone"]])
        for place in places.drop_columns("json").to_pylist()
    ]


def _record(place: Record, country: Record, zone: str | None) -> Record:
    region = {"iso_code": place["region_code"], "names": {"en": place["region_name"]}}
    whole = {
        "city": {"names": {"en": place["city_name"]}},
        "continent": {
            "code": country["continent_code"],
            "names": {"en": country["continent_name"]},
        },
        "country": {
            "iso_code": country["country_code"],
            "names": {"en": country["country_name"]},
        },
        "location": {
            "latitude": place["latitude"],
            "longitude": place["longitude"],
            "time_zone": zone,
        },
        "postal": {"code": place["postal_code"]},
        "subdivisions": [region] if place["region_code"] else None,
    }
    return _known(whole)


def _known(members: Record) -> Record:
    """Leave out what is unknown, as an MMDB does."""
    kept = {
        name: _known(value) if isinstance(value, dict) else value for name, value in members.items()
    }
    return {name: value for name, value in kept.items() if value not in (None, {}, "")}


def write(dataset: Path, target: Path, listed: Iterable[Network] | None = None) -> None:
    """Write the MMDB of a dataset."""
    from mmdb_writer import MMDBWriter
    from netaddr import IPNetwork, IPSet

    listed = listed or (each for family in (4, 6) for each in networks(dataset, family))
    writer = MMDBWriter(
        6, _TYPE, languages=["en"], description="geolookup benchmark", ipv4_compatible=True
    )
    known = records(dataset)
    for row, group in groupby(sorted(listed), itemgetter(0)):
        ranges = IPSet(IPNetwork((first, length), version) for _, version, first, length in group)
        writer.insert_network(ranges, known[row])
    writer.to_db_file(str(target))


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
