"""The answers of all contenders in one comparable form.

Every contender turns its answers into values by path of the contract, one record for each address.
A digest of the values of each path goes from its process to the parent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: The fields that a city MMDB has too; IP_TOOLS has no code of the continent.
CITY_FIELDS = (
    *("location.continent_code", "location.continent_name", "location.country_code"),
    *("location.country_name", "location.region_code", "location.region_name"),
    *("location.city_name", "location.postal_code", "location.latitude", "location.longitude"),
    "time.zone",
)
COUNTRY = "location.country_code"
Record = dict[str, Any]  # by path
#: The column of addresses, and the one that other readers add.
ADDRESS, ANSWER = "ip", "answer"
#: The members of the struct of polars-iptools.
_IPTOOLS = {
    "country_iso": COUNTRY,
    "country": "location.country_name",
    "subdivision_iso": "location.region_code",
    "subdivision": "location.region_name",
    "city": "location.city_name",
    "postalcode": "location.postal_code",
    "latitude": "location.latitude",
    "longitude": "location.longitude",
    "timezone": "time.zone",
}


class UnequalError(ValueError):
    """Two contenders have different values for an address."""


def envelope(answer: Any) -> Record:
    """Read an envelope of geolookup, or its JSON."""
    data = (json.loads(answer) if isinstance(answer, bytes) else answer)["data"]
    return {path: data[path.split(".")[0]][path.split(".")[1]] for path in CITY_FIELDS}


def country(answer: Any) -> Record:
    """Read a country code."""
    return {COUNTRY: answer}


def country_first(answer: Any) -> Record:
    """Read the first of several values, the country code."""
    return {COUNTRY: answer[0]}


def mmdb(answer: Any) -> Record:
    """Read a record in MaxMind's members: a mapping, its JSON, or what a model has of it."""
    record = json.loads(answer) if isinstance(answer, str | bytes) else answer
    record = _present(record.to_dict() if hasattr(record, "to_dict") else record) or {}
    region = (record.get("subdivisions") or [{}])[0]
    location = record.get("location", {})
    return {
        "location.continent_code": record.get("continent", {}).get("code"),
        "location.continent_name": _english(record.get("continent")),
        COUNTRY: record.get("country", {}).get("iso_code"),
        "location.country_name": _english(record.get("country")),
        "location.region_code": region.get("iso_code"),
        "location.region_name": _english(region),
        "location.city_name": _english(record.get("city")),
        "location.postal_code": record.get("postal", {}).get("code"),
        "location.latitude": location.get("latitude"),
        "location.longitude": location.get("longitude"),
        "time.zone": location.get("time_zone"),
    }


def mmdb_country(answer: Any) -> Record:
    """Read the country of such a record."""
    return {COUNTRY: mmdb(answer)[COUNTRY]}


def with_network(answer: Any) -> Record:
    """Read a pair of a record and its network, of maxminddb-zig."""
    return mmdb(answer[0])


def with_network_country(answer: Any) -> Record:
    """Read the country of such a pair."""
    return mmdb_country(answer[0])


def _english(names_holder: Any) -> Any:
    return (names_holder or {}).get("names", {}).get("en")


def _present(value: Any) -> Any:
    """Return a record as dicts, without members that are null or empty: as columns have them."""
    if isinstance(value, list | tuple):
        return [_present(item) for item in value]
    if isinstance(value, Mapping):
        members = {name: _present(item) for name, item in value.items()}
        return {name: item for name, item in members.items() if item not in (None, {}, [])}
    return value


def own_columns(table: Any) -> Iterable[tuple[str, Record]]:
    """Read the columns that ``Engine.enrich`` adds."""
    columns = {
        name.replace("_", ".", 1): table[name].to_pylist()
        for name in table.column_names
        if name != ADDRESS
    }
    rows = zip(*columns.values(), strict=True)
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    return zip(table[ADDRESS].to_pylist(), records, strict=True)


def country_column(table: Any) -> Iterable[tuple[str, Record]]:
    """Read a column of country codes."""
    return _column(table, country)


def country_name_column(table: Any) -> Iterable[tuple[str, Record]]:
    """Read a column of names of countries."""
    return _column(table, lambda name: {"location.country_name": name})


def mmdb_column(table: Any) -> Iterable[tuple[str, Record]]:
    """Read a column of structs with MaxMind's members."""
    return _column(table, mmdb)


def iptools_column(table: Any) -> Iterable[tuple[str, Record]]:
    """Read the structs of polars-iptools: it has an empty text instead of null."""
    return _column(table, lambda row: {path: row[name] or None for name, path in _IPTOOLS.items()})


def _column(table: Any, read: Any) -> Iterable[tuple[str, Record]]:
    arrow = table.to_arrow() if hasattr(table, "to_arrow") else table
    pairs = zip(arrow[ADDRESS].to_pylist(), arrow[ANSWER].to_pylist(), strict=True)
    return ((address, read(value)) for address, value in pairs)


def digests(pairs: Iterable[tuple[str, Record]]) -> dict[str, str]:
    """Return a digest of each path's values, ordered by address: a join may change the order."""
    ordered = [record for _, record in sorted(pairs, key=lambda pair: pair[0])]
    columns = {path: [_comparable(record[path]) for record in ordered] for path in ordered[0]}
    return {
        path: hashlib.sha256(json.dumps(column).encode()).hexdigest()
        for path, column in columns.items()
    }


def _comparable(value: Any) -> Any:
    """Return a number as a float: JSON has 42 for a latitude of 42.0."""
    return float(value) if isinstance(value, int | float) else value


def compare(digests_of: Sequence[tuple[str, Mapping[str, str]]]) -> int:
    """Return how many columns equal another contender's; UnequalError names the difference."""
    count = 0
    first_digests: dict[str, tuple[str, str]] = {}
    for name, paths in digests_of:
        for path, digest in paths.items():
            other, same = first_digests.setdefault(path, (name, digest))
            if digest != same:
                raise UnequalError(f"{name} and {other} differ in {path}; nothing was timed")
            count += other != name
    return count
