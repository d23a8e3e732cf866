"""Files in the layouts of vendors, with rows of our own, for the pages that presume such a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

_UNKNOWN = "-", "-", "-", "-", "0.000000", "0.000000", "-", "-"
_LONDON = "GB", "United Kingdom", "England", "London", "51.50853", "-0.12574", "WC2N", "+00:00"
#: First and last address of each row of a database DB11, and its cells.
_DB11 = (
    (0, 1359103231, _UNKNOWN),
    (1359103232, 1359103487, _LONDON),
    (1359103488, 4294967295, _UNKNOWN),
)
_LITE = """\
network,country,country_code,continent,continent_code,asn,as_name,as_domain
8.8.8.0/24,United States,US,North America,NA,AS15169,Google LLC,google.com
81.2.69.0/24,United Kingdom,GB,Europe,EU,AS20712,Andrews & Arnold Ltd,aa.net.uk
"""
_CITIES = {
    "81.2.69.0/24": ("EU", "GB", "London", "Europe/London"),
    "2001:218::/32": ("AS", "JP", "Tokyo", "Asia/Tokyo"),
}


def _mmdb(path: Path) -> None:
    from mmdb_writer import MMDBWriter
    from netaddr import IPSet

    writer = MMDBWriter(6, "GeoLite2-City", languages=["en"], ipv4_compatible=True)
    for network, (continent, country, city, zone) in _CITIES.items():
        record = {
            "continent": {"code": continent},
            "country": {"iso_code": country},
            "city": {"names": {"en": city}},
            "location": {"time_zone": zone},
        }
        writer.insert_network(IPSet([network]), record)
    writer.to_db_file(str(path))


def _db11() -> str:
    rows = ((str(first), str(last), *cells) for first, last, cells in _DB11)
    return "".join('"{}"\n'.format('","'.join(row)) for row in rows)


def _text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content, encoding="utf-8")


#: How to write each file.
FILES: dict[str, Callable[[Path], object]] = {
    "GeoLite2-City.mmdb": _mmdb,
    "IP2LOCATION-LITE-DB11.CSV": _text(_db11()),
    "ipinfo_lite.csv": _text(_LITE),
}


if __name__ == "__main__":
    FILES[sys.argv[1]](Path(sys.argv[1]))
