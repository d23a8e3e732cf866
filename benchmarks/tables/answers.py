"""The answers in a contender's table, in one comparable form.

Strategy: every contender turns its own table into lists of values by path of the contract; a
digest of each list, ordered by address, goes from its process to the parent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from benchmarks.peers.check import UnequalError, flat

Values = dict[str, list[Any]]
ADDRESS = "ip"
#: The column that contenders add which name none of our fields.
ANSWER = "found"
_COUNTRY = "location.country_code"
#: The members of the struct of polars-iptools. It has the continent's name, not its code.
_IPTOOLS = {
    "country_iso": _COUNTRY,
    "country": "location.country_name",
    "subdivision_iso": "location.region_code",
    "subdivision": "location.region_name",
    "city": "location.city_name",
    "postalcode": "location.postal_code",
    "latitude": "location.latitude",
    "longitude": "location.longitude",
    "timezone": "time.zone",
}


def fields(table: Any, paths: Iterable[str]) -> Values:
    """Read the columns that ``Engine.enrich`` adds for ``paths``."""
    names = {ADDRESS: ADDRESS} | {path: path.replace(".", "_") for path in paths}
    return {path: table[name].to_pylist() for path, name in names.items()}


def countries(table: Any) -> Values:
    """Read a column of country codes."""
    return {ADDRESS: _column(table, ADDRESS), _COUNTRY: _column(table, ANSWER)}


def city_records(table: Any) -> Values:
    """Read a column of structs with MaxMind's members; Polars has null for absent ones."""
    return _by_path(table, [flat(_present(value)) for value in _column(table, ANSWER)])


def _present(value: Any) -> Any:
    """Return a record without members that are null or empty."""
    if isinstance(value, list):
        return [_present(item) for item in value]
    if isinstance(value, dict):
        present = {name: _present(item) for name, item in value.items()}
        return {name: item for name, item in present.items() if item not in (None, {}, [])}
    return value


def iptools_records(table: Any) -> Values:
    """Read the structs of polars-iptools: it has an empty text instead of null."""
    records = _column(table, ANSWER)
    return _by_path(
        table, [{path: row[name] or None for name, path in _IPTOOLS.items()} for row in records]
    )


def _column(data: Any, name: str) -> list[Any]:
    column: list[Any] = (data if isinstance(data, pa.Table) else data.to_arrow())[name].to_pylist()
    return column


def _by_path(table: Any, records: list[dict[str, Any]]) -> Values:
    paths = records[0] if records else {}
    return {ADDRESS: _column(table, ADDRESS)} | {
        path: [record[path] for record in records] for path in paths
    }


def digests(values: Values) -> dict[str, str]:
    """Return a digest of each path's values, ordered by address: a join may change the order."""
    order = sorted(range(len(values[ADDRESS])), key=values[ADDRESS].__getitem__)
    return {
        path: hashlib.sha256(json.dumps([column[at] for at in order]).encode()).hexdigest()
        for path, column in values.items()
    }


def compare(digests_of: Mapping[str, Mapping[str, str]]) -> int:
    """Return how many columns were equal to another contender's; UnequalError names the difference.

    ``digests_of`` has the digests by contender, for those that answer the same addresses.
    """
    count = 0
    first_digests: dict[str, tuple[str, str]] = {}
    for name, paths in digests_of.items():
        for path, digest in paths.items():
            other, same = first_digests.setdefault(path, (name, digest))
            if digest != same:
                raise UnequalError(f"{name} and {other} differ in {path}")
            count += other != name
    return count
