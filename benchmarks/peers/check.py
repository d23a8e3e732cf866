"""Whether the MMDB and the dataset say the same, before the peers that read them are timed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import geolookup

Record = dict[str, Any]


class UnequalError(ValueError):
    """The MMDB and the dataset differ in what they say of an address."""


def check(dataset: Path, file: Path, addresses: Iterable[str]) -> None:
    """Raise UnequalError, without the address, where MMDB and dataset say something else."""
    import maxminddb

    with geolookup.open(dataset) as engine, maxminddb.open_database(file) as reader:
        for address in addresses:
            ours: Any = engine.data(address)
            for name, value in flat(reader.get(address)).items():
                group, _, member = name.partition(".")
                if ours[group][member] != value:
                    raise UnequalError(f"the MMDB and the dataset differ in {name}; remove both")


def flat(record: Any) -> Record:
    """Return a city record's values by their paths in ``data``."""
    found = record if isinstance(record, dict) else {}
    region = found.get("subdivisions", [{}])[0]
    place = found.get("location", {})
    return {
        "location.continent_code": found.get("continent", {}).get("code"),
        "location.continent_name": _english(found.get("continent")),
        "location.country_code": found.get("country", {}).get("iso_code"),
        "location.country_name": _english(found.get("country")),
        "location.region_code": region.get("iso_code"),
        "location.region_name": _english(region),
        "location.city_name": _english(found.get("city")),
        "location.postal_code": found.get("postal", {}).get("code"),
        "location.latitude": place.get("latitude"),
        "location.longitude": place.get("longitude"),
        "time.zone": place.get("time_zone"),
    }


def _english(named: Any) -> Any:
    return (named or {}).get("names", {}).get("en")
