"""From the rows of a dataset to the arguments of geoip2's models, and which of them a dataset has.

Strategy: a dataset combines what geoip2's databases hold one by one. A method fits a dataset that
has any field that distinguishes its database; so ``country`` fits one of cities. What the models
need of a row is read once and kept in bounded caches; the arguments are made for each call,
because a model keeps them and its user may change them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from geolookup.contract.localtime import time_object
from geolookup.dataset.files import outside
from geolookup.kernel.python_rows import Cache

if TYPE_CHECKING:
    from geolookup.contract.types import Network
    from geolookup.kernel.protocol import State

Arguments = dict[str, Any]
#: geoip2's words for the connection types of the contract that are named otherwise.
_CONNECTION_TYPES = {"Residential": "Cable/DSL", "Mobile": "Cellular"}
#: The language of all names: that of the dataset.
_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Kind:
    """A database of geoip2: its name in ``database_type``, and what a method answers from it.

    The method fits a dataset that has a field of each of ``fields``. ``arguments`` returns those
    of the model from a location and a network row; nothing if the rows say nothing that the
    database would. The caller may change them.
    """

    database: str
    fields: tuple[frozenset[str], ...] = ()
    arguments: Callable[[Rows, int, int], Arguments] = lambda *_: {}


class Place(NamedTuple):
    """What the models state of a row of locations."""

    continent_code: str | None
    continent_name: str | None
    country_code: str | None
    country_name: str | None
    country_is_eu: bool | None
    region_code: str | None
    region_name: str | None
    city_name: str | None
    postal_code: str | None
    latitude: float | None
    longitude: float | None
    zone: str | None


class Rows:
    """What the models state of the rows of an open dataset, and the methods that fit it."""

    def __init__(self, state: State) -> None:
        reading = _Reading(state)
        self.state = state
        self.methods = fitting(state.dataset.manifest.metadata().fields)
        self.places = Cache(reading.place)  # None: nothing is known
        self.networks = Cache(reading.network)


class _Reading:
    """Reads rows; it does not refer to the caches, so that there is no reference cycle."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._zones = state.dataset.zones()

    def place(self, row: int) -> Place | None:
        state = self._state
        try:
            found = state.record(row, 0)["location"]
            zone = self._zones[state.dataset.location_zones[row]]
        except IndexError:
            raise outside(state.dataset.path) from None
        if all(value is None for value in found.values()):
            return None
        found["zone"] = time_object(zone, 0)["zone"]
        return Place._make(found[name] for name in Place._fields)

    def network(self, row: int) -> Network:
        try:
            found: Network = self._state.record(0, row)["network"]
        except IndexError:
            raise outside(self._state.dataset.path) from None
        return found


def fitting(fields: Collection[str]) -> frozenset[str]:
    """Return the methods that fit a dataset with these fields."""
    return frozenset(
        method
        for method, kind in KINDS.items()
        if kind.fields and all(not each.isdisjoint(fields) for each in kind.fields)
    )


def database_type(methods: Collection[str]) -> str:
    """Return the type of a database that all these methods fit."""
    return "-".join(["geolookup", *(KINDS[each].database for each in KINDS if each in methods)])


def _country(rows: Rows, location: int, _network: int) -> Arguments:
    place = rows.places[location]
    if place is None:
        return {}
    return {
        "continent": {"code": place.continent_code, "names": _names(place.continent_name)},
        "country": {
            "iso_code": place.country_code,
            "is_in_european_union": bool(place.country_is_eu),
            "names": _names(place.country_name),
        },
    }


def _city(rows: Rows, location: int, network: int) -> Arguments:
    place = rows.places[location]
    if place is None:
        return {}
    found = _country(rows, location, network)
    found["city"] = {"names": _names(place.city_name)}
    found["location"] = {
        "latitude": place.latitude,
        "longitude": place.longitude,
        "time_zone": place.zone,
    }
    found["postal"] = {"code": place.postal_code}
    code, name = place.region_code, place.region_name
    if code is not None or name is not None:
        found["subdivisions"] = [{"iso_code": code, "names": _names(name)}]
    return found


def _enterprise(rows: Rows, location: int, network: int) -> Arguments:
    found = _city(rows, location, network)
    user = _known("user_type", rows.networks[network]["user_type"])
    traits = _isp(rows, location, network) | _connection_type(rows, location, network) | user
    if traits:
        found["traits"] = traits
    return found


def _asn(rows: Rows, _location: int, network: int) -> Arguments:
    found = rows.networks[network]
    return _known("autonomous_system_number", found.get("asn")) | _known(
        "autonomous_system_organization", found["asn_organization"]
    )


def _isp(rows: Rows, location: int, network: int) -> Arguments:
    found = rows.networks[network]
    providers = _known("isp", found["isp"]) | _known("organization", found["organization"])
    return _asn(rows, location, network) | providers


def _connection_type(rows: Rows, _location: int, network: int) -> Arguments:
    word = rows.networks[network]["connection_type"]
    return _known("connection_type", _CONNECTION_TYPES.get(word or "", word))


def _known(name: str, value: object) -> Arguments:
    return {} if value is None else {name: value}


def _names(name: str | None) -> dict[str, str]:
    return {} if name is None else {_LANGUAGE: name}


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
    "enterprise": Kind("Enterprise", (_CITY, _NETWORK), _enterprise),
    "city": Kind("City", (_CITY,), _city),
    "country": Kind("Country", (_COUNTRY,), _country),
    "isp": Kind("ISP", (_ISP,), _isp),
    "asn": Kind("ASN", (_ASN,), _asn),
    "connection_type": Kind("Connection-Type", (_CONNECTION,), _connection_type),
    "anonymous_ip": Kind("Anonymous-IP"),
    "anonymous_plus": Kind("Anonymous-Plus"),
    "domain": Kind("Domain"),
}
