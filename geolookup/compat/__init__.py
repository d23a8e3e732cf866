"""Stand-ins for the readers of other libraries: the content of the records of MaxMind.

Strategy: a dataset combines the databases of geoip2. A method fits a dataset that has any field
that distinguishes its database; so ``country`` fits a dataset of cities. A bounded cache keeps the
arguments of the models by row. Each call copies them: a model keeps its arguments, and its user can
change them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from marshal import dumps, loads
from typing import TYPE_CHECKING, Any, NamedTuple

from geolookup.contract.fields import MAXMIND
from geolookup.contract.tzdatabase import zone_file
from geolookup.dataset.files import outside

if TYPE_CHECKING:
    from geolookup.dataset.metadata import Metadata
    from geolookup.kernel import State

Arguments = dict[str, Any]
#: geoip2's words for the connection types of the contract that are named otherwise.
CONNECTION_TYPES = {"Residential": "Cable/DSL", "Mobile": "Cellular"}
#: The language of all names of a dataset.
LANGUAGE = "en"
_CACHED = 1 << 15  # records of all methods


class Kind(NamedTuple):
    """A database of geoip2: its name in ``database_type``, and the content of its records.

    ``paths`` maps positions in a record to fields of a dataset: keys, joined by dots; a number is
    an index of a list. A record leaves false Booleans out. A method fits a dataset that has, for
    each item of ``parts``, a field at a path that begins with one of its texts.
    """

    database: str
    parts: tuple[tuple[str, ...], ...]
    paths: Mapping[str, str]


class Rows:
    """Arguments of the models, by row of an open dataset, and the methods that fit it."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.methods = fitting(state.dataset.manifest.metadata().fields)
        self._packed = lru_cache(_CACHED)(partial(_arguments, state, state.dataset.zones()))

    def arguments(self, method: str, location: int, network: int) -> Arguments:
        """Return the arguments of a method's model; empty if its database had no record."""
        # Networks of a city share its entry in "city", cities of a network its entry in "isp".
        location = 0 if method in _OF_NETWORK else location
        network = 0 if method in _OF_LOCATION else network
        packed = self._packed(method, location, network)
        arguments: Arguments = loads(packed)  # noqa: S302 - made here
        return arguments


def _arguments(
    state: State, zones: Sequence[str | None], method: str, location: int, network: int
) -> bytes:
    """Return the arguments of a model for a location and a network row, ready to copy."""
    try:
        record = state.record(location, network)
        zone = zones[state.dataset.location_zones[location]]
    except IndexError:
        raise outside(state.dataset.path) from None
    values = {
        f"{group}.{name}": value
        for group in ("location", "network")
        for name, value in record[group].items()
    }
    values["time.zone"] = zone if zone and zone_file(zone) else None
    word = values["network.connection_type"]
    values["network.connection_type"] = CONNECTION_TYPES.get(word, word)
    return dumps(_nest(KINDS[method].paths, values))


def fitting(fields: Collection[str]) -> frozenset[str]:
    """Return the methods that fit a dataset with these fields."""
    return frozenset(
        method
        for method, kind in KINDS.items()
        if not any(set(fields).isdisjoint(_paths(*part).values()) for part in kind.parts)
    )


def build_epoch(metadata: Metadata) -> int:
    """Return the Unix time at which the date of the data begins in UTC; 0 if undated."""
    date = metadata.age.date or "1970-01-01"
    return int(dt.datetime.fromisoformat(f"{date[:10]}T00:00+00:00").timestamp())


def database_type(methods: Collection[str]) -> str:
    """Return the type of a database that all these methods fit."""
    databases = (kind.database for method, kind in KINDS.items() if method in methods)
    return "-".join(("geolookup", *databases))


def _nest(paths: Mapping[str, str], values: Mapping[str, Any]) -> Arguments:
    """Return the known values at their paths."""
    arguments: Arguments = {}
    for path, name in paths.items():
        value = values.get(name)
        if value is not None and value is not False:
            *groups, last = path.replace(".0.", ".").split(".")
            at = arguments
            for group in groups:
                at = at.setdefault(group, {})
            at[last] = value
    if "subdivisions" in arguments:
        arguments["subdivisions"] = [arguments["subdivisions"]]
    return arguments


def _paths(*begins: str) -> dict[str, str]:
    """Return the fields at the paths that begin so, without ``traits.``."""
    paths = {path: field.path for path, field in MAXMIND.items() if path.startswith(begins)}
    return {path.removeprefix("traits."): name for path, name in paths.items()}


_COUNTRY = ("continent.", "country.")
_CITY = ("subdivisions.", "city.", "postal.", "location.l")  # a time zone is of no city
_ASN = "traits.autonomous_system_"
_ISP = ("traits.isp", "traits.organization")
_CONNECTION = "traits.connection_type"

#: The methods of a reader, in the order in which ``database_type`` names their databases.
KINDS = {
    "enterprise": Kind(
        "Enterprise", (_CITY, ("traits.",)), {path: field.path for path, field in MAXMIND.items()}
    ),
    "city": Kind("City", (_CITY,), _paths(*_COUNTRY, *_CITY, "location.")),
    "country": Kind("Country", (_COUNTRY,), _paths(*_COUNTRY)),
    "isp": Kind("ISP", (_ISP,), _paths(_ASN, *_ISP)),
    "asn": Kind("ASN", ((_ASN,),), _paths(_ASN)),
    "connection_type": Kind("Connection-Type", ((_CONNECTION,),), _paths(_CONNECTION)),
}
#: The methods whose records do not depend on the network, and on the location.
_OF_LOCATION, _OF_NETWORK = {"city", "country"}, {"isp", "asn", "connection_type"}
