"""MaxMind's MMDB and CSV of the same content: the same intervals, locations and networks.

Strategy: the records that the real MMDB fixtures were made of are written as Blocks, Locations
and providers, in MaxMind's own columns, and go through the reader of the CSV.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.builder.sources.formats.test_maxmind import BLOCKS, PLACES, PROVIDERS
from tests.builder.sources.formats.test_mmdb import folded, lookup
from tests.builder.sources.readings import Read, one
from tests.skips import needs

pytestmark = needs("maxminddb")

#: Product: its Blocks.
PRODUCTS = {
    "GeoIP2-City": "city",
    "GeoIP2-Country": "country",
    "GeoIP2-Enterprise": "enterprise",
    "GeoIP2-Precision-Enterprise": "enterprise",
    "GeoIP2-ISP": "isp",
    "GeoIP2-Connection-Type": "connection",
    "GeoLite2-City": "city",
    "GeoLite2-Country": "country",
    "GeoLite2-ASN": "asn",
}
PLACE_KEYS = {
    "continent_code": ("continent", "code"),
    "country_iso_code": ("country", "iso_code"),
    "subdivision_1_iso_code": ("subdivisions", 0, "iso_code"),
    "subdivision_1_name": ("subdivisions", 0, "names", "en"),
    "city_name": ("city", "names", "en"),
    "time_zone": ("location", "time_zone"),
}
BLOCK = {
    "postal_code": ("postal", "code"),
    "latitude": ("location", "latitude"),
    "longitude": ("location", "longitude"),
}
PROVIDER = (
    *("isp", "organization", "autonomous_system_number", "autonomous_system_organization"),
    *("connection_type", "user_type"),
)
Row = Mapping[str, Any]


class Tables:
    """Locations and providers as they come up, each with the number it is referred to by."""

    def __init__(self) -> None:
        self.places: dict[tuple[Any, ...], int] = {}
        self.providers: dict[tuple[Any, ...], int] = {}

    def place_key(self, record: Any) -> str:
        result = tuple(lookup(record, path) for path in PLACE_KEYS.values())
        return str(self.places.setdefault(result, len(self.places) + 1)) if any(result) else ""

    def registered(self, record: Any) -> str:
        """The country of registration, which counts where there is no place."""
        return self.place_key({"country": lookup(record, ("registered_country",)) or {}})

    def provider(self, record: Any) -> str:
        traits = lookup(record, ("traits",)) or {}
        result = tuple(traits.get(name) for name in PROVIDER)
        return str(self.providers.setdefault(result, len(self.providers) + 1) if any(result) else 0)

    def block(self, network: str, record: Any) -> Row:
        cells = {name: lookup(record, path) for name, path in BLOCK.items()}
        return {
            **{name: record.get(name) for name in PROVIDER},  # of the flat products
            **cells,
            "network": folded(network),
            "geoname_id": self.place_key(record),
            "registered_country_geoname_id": self.registered(record),
            "isp_id": self.provider(record),
        }


def written(header: str, rows: Iterator[Row]) -> str:
    stream = io.StringIO(newline="")
    names = header.rstrip("\n").split(",")
    table = csv.DictWriter(stream, names, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return stream.getvalue()


def delivered(records: list[tuple[str, Any]], blocks: str) -> dict[str, str | bytes]:
    """The CSV files that say what the records say."""
    tables = Tables()
    rows = [tables.block(network, record) for network, record in records]
    places = (
        {"geoname_id": at, "locale_code": "en", **dict(zip(PLACE_KEYS, place_key, strict=True))}
        for place_key, at in tables.places.items()
    )
    providers = (
        {"isp_id": at, **dict(zip(PROVIDER, provider, strict=True))}
        for provider, at in tables.providers.items()
    )
    return {
        "X-Blocks-IPv4.csv": written(BLOCKS[blocks], iter(rows)),
        "X-Locations-en.csv": written(PLACES, places),
        "X-ISP.csv": written(PROVIDERS, providers),
    }


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_same_intervals(read: Read, shared_data: Path, product: str) -> None:
    folder = shared_data / "maxmind-db"
    listed = json.loads((folder / "source-data" / f"{product}-Test.json").read_text("utf-8"))
    records = [pair for entry in listed for pair in entry.items()]
    files = delivered(records, PRODUCTS[product])
    from_csv = read(files, one("maxmind", "*.csv"))
    assert from_csv.source.read == len(records)
    path = folder / "test-data" / f"{product}-Test.mmdb"
    assert read({}, one("mmdb", str(path))).intervals() == from_csv.intervals()
