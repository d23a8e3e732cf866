"""Stand-ins for the readers of other libraries: the content of the records of MaxMind.

Strategy: a dataset combines the databases of geoip2. A method fits a dataset that has any field
that distinguishes its database; so ``country`` fits a dataset of cities. Bounded caches keep the
arguments of the models by row. Each call copies them: a model keeps its arguments, and its user can
change them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from marshal import dumps, loads
from typing import TYPE_CHECKING, Any

from geolookup.contract.fields import MAXMIND
from geolookup.contract.tzdatabase import zone_file
from geolookup.dataset.files import outside
from geolookup.kernel.python_rows import Cache

if TYPE_CHECKING:
    from geolookup.dataset.metadata import Metadata
    from geolookup.kernel.protocol import State

Arguments = dict[str, Any]
#: geoip2's words for the connection types of the contract that are named otherwise.
CONNECTION_TYPES = {"Residential": "Cable/DSL", "Mobile": "Cellular"}
#: The language of all names of a dataset.
LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Kind:
    """A database of geoip2: its name in ``database_type``, and the content of its records.

    Its method fits a dataset that has a field of each set in ``fields``. ``paths`` maps positions
    in a record to fields of a dataset: keys, joined by dots; a number is an index of a list. A
    record leaves false Booleans out. ``arguments`` returns the arguments of the model from a
    location and a network row, empty if the database would have no record. The caller can change
    them.
    """

    database: str
    fields: tuple[frozenset[str], ...] = ()
    paths: Mapping[str, str] = field(default_factory=dict)
    arguments: Callable[[Rows, int, int], Arguments] = lambda *_: {}


class Rows:
    """Values of the models, by row of an open dataset, and the methods that fit it."""

    def __init__(self, state: State) -> None:
        reading = _Reading(state)
        self.state = state
        self.methods = fitting(state.dataset.manifest.metadata().fields)
        self.locations = Cache(reading.location)
        self.networks = Cache(reading.network)


class _Reading:
    """Reads rows. It has no reference to the caches: that would be a cycle."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._zones = state.dataset.zones()

    def location(self, row: int) -> tuple[bytes, bytes]:
        """Return the members of a location row in City and in Country, ready to copy."""
        state = self._state
        try:
            location = state.record(row, 0)["location"]
            zone = self._zones[state.dataset.location_zones[row]]
        except IndexError:
            raise outside(state.dataset.path) from None
        values = {f"location.{name}": value for name, value in location.items()}
        values["time.zone"] = zone if zone and zone_file(zone) else None
        city, country = (dumps(_nest(paths, values)) for paths in (_CITY_PATHS, _COUNTRY_PATHS))
        return city, country

    def network(self, row: int) -> Arguments:
        """Return the record of a network row in the databases of networks."""
        try:
            network = self._state.record(0, row)["network"]
        except IndexError:
            raise outside(self._state.dataset.path) from None
        values = {f"network.{name}": value for name, value in network.items()}
        word = network["connection_type"]
        values["network.connection_type"] = CONNECTION_TYPES.get(word, word)
        return _nest(_TRAITS, values)


def fitting(fields: Collection[str]) -> frozenset[str]:
    """Return the methods that fit a dataset with these fields."""
    return frozenset(
        method
        for method, kind in KINDS.items()
        if kind.fields and all(not any_of.isdisjoint(fields) for any_of in kind.fields)
    )


def build_epoch(metadata: Metadata) -> int:
    """Return the Unix time at which the date of the data begins in UTC; 0 if undated."""
    date = metadata.age.date
    if date is None:
        return 0
    return int(dt.datetime.fromisoformat(f"{date[:10]}T00:00+00:00").timestamp())


def database_type(methods: Collection[str]) -> str:
    """Return the type of a database that all these methods fit."""
    return "-".join(
        ["geolookup", *(KINDS[method].database for method in KINDS if method in methods)]
    )


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


def _country(rows: Rows, location: int, _network: int) -> Arguments:
    arguments: Arguments = loads(rows.locations[location][1])  # noqa: S302 - made here
    return arguments


def _city(rows: Rows, location: int, _network: int) -> Arguments:
    arguments: Arguments = loads(rows.locations[location][0])  # noqa: S302 - made here
    return arguments


def _enterprise(rows: Rows, location: int, network: int) -> Arguments:
    arguments = _city(rows, location, network)
    traits = rows.networks[network]
    if traits:
        arguments["traits"] = dict(traits)
    return arguments


def _of_network(paths: Collection[str]) -> Callable[[Rows, int, int], Arguments]:
    """Return a function that makes the arguments of a model from the network row."""

    def arguments(rows: Rows, _location: int, network: int) -> Arguments:
        members = rows.networks[network]
        return {name: members[name] for name in paths if name in members}

    return arguments


def _paths(*begins: str) -> dict[str, str]:
    """Return the fields at the paths that begin so, without ``traits.``."""
    paths = {path: field.path for path, field in MAXMIND.items() if path.startswith(begins)}
    return {path.removeprefix("traits."): name for path, name in paths.items()}


_ENTERPRISE_PATHS = {path: field.path for path, field in MAXMIND.items()}
_TRAITS = _paths("traits.")
_COUNTRY_PATHS = _paths("continent.", "country.")
_CITY_PATHS = _COUNTRY_PATHS | _paths("subdivisions.", "city.", "postal.", "location.")
_ASN_PATHS = _paths("traits.autonomous_system_")
_ISP_PATHS = _ASN_PATHS | _paths("traits.isp", "traits.organization")
_CONNECTION_PATHS = _paths("traits.connection_type")

_COUNTRY = frozenset(("location.continent_code", "location.country_code"))
_CITY = frozenset(
    f"location.{name}"
    for name in ("region_code", "region_name", "city_name", "postal_code", "latitude")
)
_ASN = frozenset(("network.asn", "network.asn_organization"))
_ISP = frozenset(("network.isp", "network.organization"))
_CONNECTION = frozenset(("network.connection_type",))
_NETWORK = _ASN | _ISP | _CONNECTION | {"network.user_type"}

#: The methods of a reader, in the order in which ``database_type`` names their databases.
KINDS = {
    "enterprise": Kind("Enterprise", (_CITY, _NETWORK), _ENTERPRISE_PATHS, _enterprise),
    "city": Kind("City", (_CITY,), _CITY_PATHS, _city),
    "country": Kind("Country", (_COUNTRY,), _COUNTRY_PATHS, _country),
    "isp": Kind("ISP", (_ISP,), _ISP_PATHS, _of_network(_ISP_PATHS)),
    "asn": Kind("ASN", (_ASN,), _ASN_PATHS, _of_network(_ASN_PATHS)),
    "connection_type": Kind(
        "Connection-Type", (_CONNECTION,), _CONNECTION_PATHS, _of_network(_CONNECTION_PATHS)
    ),
    "anonymous_ip": Kind("Anonymous-IP"),
    "anonymous_plus": Kind("Anonymous-Plus"),
    "domain": Kind("Domain"),
}
