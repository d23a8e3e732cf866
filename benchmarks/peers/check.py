"""Whether the MMDB and the dataset say the same, before the peers that read them are timed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import geolookup

Record = dict[str, Any]


class UnequalError(ValueError):
    """The MMDB and the dataset have different values for an address."""


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
    city = record if isinstance(record, dict) else {}
    region = city.get("subdivisions", [{}])[0]
    location = city.get("location", {})
    return {
        "location.continent_code": city.get("continent", {}).get("code"),
        "location.continent_name": _english(city.get("continent")),
        "location.country_code": city.get("country", {}).get("iso_code"),
        "location.country_name": _english(city.get("country")),
        "location.region_code": region.get("iso_code"),
        "location.region_name": _english(region),
        "location.city_name": _english(city.get("city")),
        "location.postal_code": city.get("postal", {}).get("code"),
        "location.latitude": location.get("latitude"),
        "location.longitude": location.get("longitude"),
        "time.zone": location.get("time_zone"),
    }


def _english(names_holder: Any) -> Any:
    return (names_holder or {}).get("names", {}).get("en")
