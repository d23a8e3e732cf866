"""The rows of a dataset as parts of answers, for the Python kernel: rendered once and cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from geolookup.contract import envelope
from geolookup.contract.envelope import Object
from geolookup.contract.fields import FIELDS, TEXTS, members
from geolookup.dataset.files import Dataset, outside

if TYPE_CHECKING:
    from geolookup.contract.types import Data
    from geolookup.kernel.python_state import State

#: Family, echo and rows of an address.
Match = tuple[int, str, tuple[int, int]]
#: Entries of each half of a cache. A rendered row takes about 1 kB.
_CACHED = 8192
_V = TypeVar("_V")


class Cache(dict[int, _V], Generic[_V]):
    """A bounded cache of values by row, computed on demand.

    It has two halves. When the younger half is full, it replaces the older half. This evicts
    the values of the older half that were not read since the last replacement.
    """

    __slots__ = ("_make", "_older")

    def __init__(self, make: Callable[[int], _V]) -> None:
        super().__init__()
        self._make = make
        self._older: dict[int, _V] = {}

    def __missing__(self, row: int) -> _V:
        value = self._older.get(row)
        if value is None:
            value = self._make(row)
        # Halves of 2 entries, rows read 1 2 3:  {1 2} {} -> {3} {1 2}. A row of the older half
        # that is read again is copied to the younger; the others go with the next replacement.
        if len(self) >= _CACHED:
            self._older = self.copy()
            self.clear()
        self[row] = value
        return value


def _country(known: Object) -> tuple[Object, Object]:
    """Return a location with only the country known, and its currency."""
    location = {name: known.get(name) for name in members(FIELDS, "location")}
    return location, {name: known[name] for name in members(FIELDS, "currency")}


class Rendering:
    """Renders rows of a dataset as parts of answers."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, countries = dataset, dataset.countries
        # Not a method: a reference cycle would keep the files of a closed dataset open.
        self._countries = Cache(lambda row: _country(countries.members(row)))

    def location_json(self, row: int) -> tuple[bytes, int, bytes]:
        """Return the JSON of a location, the row of its zone, and the JSON of its currency."""
        dataset = self._dataset
        country = dataset.countries.texts(dataset.location_countries[row])
        location = envelope.country_json(country) + envelope.place_json(
            dataset.locations.texts(row)
        )
        return location, dataset.location_zones[row], envelope.currency_json(country)

    def location(self, row: int) -> tuple[Object, int, Object]:
        """Return a location, the row of its zone, and its currency."""
        dataset = self._dataset
        country, currency = self._countries[dataset.location_countries[row]]
        return country | dataset.locations.members(row), dataset.location_zones[row], currency

    def network_json(self, row: int) -> bytes:
        """Return the JSON of a network, with the end of the envelope."""
        return envelope.network_json(self._dataset.networks.texts(row)) + envelope.TAIL

    def network(self, row: int) -> Object:
        """Return a network; an unknown asn is left out."""
        network = self._dataset.networks.members(row)
        if network["asn"] is None:
            del network["asn"]
        return network


#: The members of objects that are lists.
_LOCATION_LISTS, _NETWORK_LISTS = (
    members((field for field in FIELDS if field.type == TEXTS), group)
    for group in ("location", "network")
)


def copied_location(template: Any) -> Any:
    """Copy a location with its lists: a caller's changes must not reach the cache."""
    return copied(template, _LOCATION_LISTS)


def copied_network(template: Any) -> Any:
    """Copy a network with its lists."""
    return copied(template, _NETWORK_LISTS)


def copied(template: Any, lists: tuple[str, ...]) -> Any:
    """Copy an object and those members that are lists."""
    copy = template.copy()
    for member in lists:
        if copy[member] is not None:
            copy[member] = copy[member].copy()
    return copy


def data_of(state: State, match: Match, second: int) -> Data:
    """Return the data member of an address that has been found."""
    family, echo, (location_row, network_row) = match
    try:
        location, zone, currency = state._locations[location_row]
        return {
            "ip": echo,
            "ip_type": "ipv4" if family == 4 else "ipv6",
            "location": copied_location(location),
            "time": state._time(zone, second).copy(),
            "currency": currency.copy(),
            "network": copied_network(state._networks[network_row]),
        }
    except IndexError:
        raise outside(state.dataset.path) from None


def value_of(state: State, match: Match, path: str, second: int) -> Any:
    """Return one field or one group of data of an address that has been found."""
    group, _, member = path.partition(".")
    try:
        value = _group(state, match, group, second)
    except IndexError:
        raise outside(state.dataset.path) from None
    return value.get(member) if member else value


def _group(state: State, match: Match, group: str, second: int) -> Any:
    """Return a member of data by name; the caller may change it."""
    family, echo, (location_row, network_row) = match
    if group == "network":
        return copied_network(state._networks[network_row])
    if group in ("ip", "ip_type"):
        return echo if group == "ip" else f"ipv{family}"
    location, zone, currency = state._locations[location_row]
    if group == "location":
        return copied_location(location)
    if group == "currency":
        return currency.copy()
    return state._time(zone, second).copy()
