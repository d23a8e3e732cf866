"""From the data of an answer to the arguments of geoip2's models, and which of them a dataset has.

Strategy: a dataset combines what geoip2's databases hold one by one. A method fits a dataset that
has any field that distinguishes its database; so ``country`` fits one of cities.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geolookup.contract.types import Data, Location

Arguments = dict[str, Any]
#: geoip2's words for the connection types of the contract that are named otherwise.
_CONNECTION_TYPES = {"Residential": "Cable/DSL", "Mobile": "Cellular"}
#: The language of all names: that of the dataset.
_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Kind:
    """A database of geoip2: its name in ``database_type``, and what a method answers from it.

    The method fits a dataset that has a field of each of ``fields``. ``arguments`` returns those
    of the model; nothing if the answer says nothing that the database would.
    """

    database: str
    fields: tuple[frozenset[str], ...] = ()
    arguments: Callable[[Data], Arguments] = lambda _data: {}


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


def _country(data: Data) -> Arguments:
    location = data["location"]
    code = location["continent_code"]
    if code is None and not _knows(location):
        return {}
    return {
        "continent": {"code": code, "names": _names(location["continent_name"])},
        "country": {
            "iso_code": location["country_code"],
            "is_in_european_union": bool(location["country_is_eu"]),
            "names": _names(location["country_name"]),
        },
    }


def _city(data: Data) -> Arguments:
    found = _country(data)
    if not found:
        return found
    location = data["location"]
    found["city"] = {"names": _names(location["city_name"])}
    found["location"] = {
        "latitude": location["latitude"],
        "longitude": location["longitude"],
        "time_zone": data["time"]["zone"],
    }
    found["postal"] = {"code": location["postal_code"]}
    code, name = location["region_code"], location["region_name"]
    if code is not None or name is not None:
        found["subdivisions"] = [{"iso_code": code, "names": _names(name)}]
    return found


def _enterprise(data: Data) -> Arguments:
    traits = _isp(data) | _connection_type(data) | _known("user_type", data["network"]["user_type"])
    return {**_city(data), "traits": traits} if traits else _city(data)


def _asn(data: Data) -> Arguments:
    network = data["network"]
    return _known("autonomous_system_number", network.get("asn")) | _known(
        "autonomous_system_organization", network["asn_organization"]
    )


def _isp(data: Data) -> Arguments:
    network = data["network"]
    providers = _known("isp", network["isp"]) | _known("organization", network["organization"])
    return _asn(data) | providers


def _connection_type(data: Data) -> Arguments:
    word = data["network"]["connection_type"]
    return _known("connection_type", _CONNECTION_TYPES.get(word or "", word))


def _known(name: str, value: object) -> Arguments:
    return {} if value is None else {name: value}


def _knows(location: Location) -> bool:
    return any(value is not None for value in location.values())


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
