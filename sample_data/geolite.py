"""The country database that the package geoip2fast carries, as a file for ``geolookup score``.

It is GeoLite2 Country of MaxMind. Nothing of it is in the bundled dataset. Its date is that of the
package: 2024-06-18 in geoip2fast 1.2.2.
"""

from __future__ import annotations

import csv
import gzip
import pickle
from collections.abc import Iterator
from importlib.resources import files
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

_FILE = "geoip2fast-ipv6.dat.gz"


def write_ranges(path: Path) -> None:
    """Write its networks with their countries as a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("network", "country_code"))
        writer.writerows(_networks())


def _networks() -> Iterator[tuple[str, str]]:
    with (files("geoip2fast") / _FILE).open("rb") as file, gzip.open(file) as stream:
        # As trusted as the code of the package.
        *_, (_, names, firsts, countries, lengths) = pickle.load(stream)  # noqa: S301
    for chunk in zip(firsts, countries, lengths, strict=True):
        for first, country, length in zip(*chunk, strict=True):
            # "DE:Germany", and "02:Private Network Class A" for special-purpose space.
            code = names[country].partition(":")[0]
            if code.isalpha():
                address = IPv6Address(first) if first >> 32 else IPv4Address(first)
                yield f"{address}/{length}", code
