"""The values of rows in the Python kernel, as objects and as JSON; ``python_state`` keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from geolookup.contract import envelope, fields
from geolookup.contract.fields import COUNTRY_MEMBERS, CURRENCY_MEMBERS
from geolookup.contract.localtime import time_object
from geolookup.dataset.files import Dataset, outside
from geolookup.kernel.answers import copy_value
from geolookup.kernel.python_zones import period

if TYPE_CHECKING:
    from collections.abc import Callable

    from geolookup.contract.envelope import Object

#: The members that are lists; all are of a location.
_LISTS = [f.member for f in fields.FIELDS if f.type == fields.TEXTS and f.group == "location"]
_T = TypeVar("_T")
#: A location, its currency, and the row of its zone.
Located = tuple[_T, _T, int]


def located(dataset: Dataset, countries: Callable[[int], Object], row: int) -> Located[Any]:
    """Return the location and the currency of a location row, and the row of its zone."""
    try:
        country = countries(dataset.location_countries[row])
        zone = dataset.location_zones[row]
    except IndexError:
        raise outside(dataset.path) from None
    location = {name: country[name] for name in COUNTRY_MEMBERS} | dataset.locations.members(row)
    return location, {name: country[name] for name in CURRENCY_MEMBERS}, zone


def located_json(read: Callable[[int], Located[Any]], row: int) -> Located[bytes]:
    """Return the location and the currency of a location row as JSON, and the row of its zone."""
    location, currency, zone = read(row)
    return envelope.to_json(location), envelope.to_json(currency), zone


def network(dataset: Dataset, row: int) -> Any:
    """Return a network; an unknown asn is left out."""
    network = dataset.networks.members(row).items()
    return {name: value for name, value in network if name != "asn" or value is not None}


def time(dataset: Dataset, zones: list[str | None], zone: int, second: int) -> Any:
    """Return the local time of a zone row at a Unix second."""
    if zone >= len(zones):
        raise outside(dataset.path)
    return time_object(zones[zone], period(zones[zone], second), second)


def as_json(read: Callable[..., Any], *row: int) -> bytes:
    """Return what a function reads as JSON."""
    return envelope.to_json(read(*row))


def copy(values: Any) -> Any:
    """Copy a group: the caller may change it and its lists."""
    copy = values.copy()
    for name in _LISTS:
        if name in copy:
            copy[name] = copy_value(copy[name])
    return copy
