"""An open dataset in the Python kernel: the search for one address, and caches of its rows.

Strategy: a lookup finds the interval (IPv4 by the jump table and bisection, IPv6 by bisection)
and reads its two row numbers. Locations, currencies and networks are rendered once and stored in
bounded caches. The local time is rendered once per zone and second.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from geolookup.contract.address import (
    canonical_ipv4,
    canonical_ipv6,
    embedded_ipv4,
    parse,
    parse_ipv4,
)
from geolookup.contract.envelope import Object, to_json
from geolookup.contract.fields import NAMES, OWN
from geolookup.contract.localtime import time_object
from geolookup.contract.special import classes, is_private
from geolookup.dataset.files import Dataset, outside
from geolookup.errors import PrivateAddressError
from geolookup.kernel.python_own import OwnTable, own_table
from geolookup.kernel.python_rows import Cache, Match, Rendering, copied_location, copied_network
from geolookup.kernel.python_zones import period

if TYPE_CHECKING:
    from geolookup.contract.types import Envelope, Time
    from geolookup.dataset.intervals import I64, U8, U64
    from geolookup.kernel.columns import I32, U32
    from geolookup.kernel.python import _Lines

_IPV4_CLASSES = classes(4)


class State:
    """See ``protocol.State``."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._jump, self._jump_shift = dataset.jump, dataset.jump_shift
        self._ipv4_starts = dataset.ipv4_starts
        self._ipv6_starts = dataset.starts(6)
        self._ipv4_locations = dataset.ipv4_locations
        self._ipv4_networks = dataset.ipv4_networks
        self._zones = dataset.zones()
        # The caches do not refer to the state: without a reference cycle its files close as soon
        # as the last reader ends.
        rendering = Rendering(dataset)
        self._locations_json = Cache(rendering.location_json)
        self._networks_json = Cache(rendering.network_json)
        self._locations: Cache[tuple[Any, int, Any]] = Cache(rendering.location)
        self._networks: Cache[Any] = Cache(rendering.network)
        self._times_json: dict[int, tuple[int, bytes]] = {}
        self._times: dict[int, tuple[int, Time]] = {}
        self._own = OwnTable(dataset) if dataset.schema.own else None
        own_paths = {field.path: field.path for field in dataset.schema.own}
        #: the path of each name of a field or group
        self._paths = {**NAMES, OWN: OWN, **own_paths} if own_paths else NAMES

    def interval_ipv4(self, value: int) -> int:
        """See ``protocol.State``."""
        jump, bucket = self._jump, value >> self._jump_shift
        # jump[b] is the interval of the first address of bucket b:
        #   bucket     |    b      |   b+1
        #   intervals  ---i--|--i+1--|--i+2    jump[b + 1] is i + 1: bisect in starts[i : i + 2]
        return bisect_right(self._ipv4_starts, value, jump[bucket], jump[bucket + 1] + 1) - 1

    def interval_ipv6(self, value: int) -> int:
        """See ``protocol.State``."""
        return self._ipv6_starts.holding(value)

    def rows(self, family: int, interval: int) -> tuple[int, int]:
        """See ``protocol.State``."""
        dataset = self.dataset
        if family == 4:
            return dataset.ipv4_locations[interval], dataset.ipv4_networks[interval]
        return dataset.ipv6_locations[interval], dataset.ipv6_networks[interval]

    def rows_and_prefix(self, ip: object) -> tuple[int, int, int]:
        """See ``protocol.State``."""
        from geolookup.dataset.networks import prefix_length

        try:
            rows = find(self, ip)[2]
        except PrivateAddressError:
            rows = 0, 0
        return *rows, prefix_length(self.dataset, *parse(ip))

    def record(self, location_row: int, network_row: int) -> Object:
        """See ``protocol.State``."""
        location, _zone, currency = self._locations[location_row]
        return {
            "location": copied_location(location),
            "currency": currency.copy(),
            "network": copied_network(self._networks[network_row]),
        }

    def locate_texts(
        self,
        data: U8,
        offsets: I64,
        ids: I32,
        families: U8,
        with_private: bool = False,
    ) -> None:
        """See ``protocol.State``."""
        from geolookup.kernel import columns
        from geolookup.kernel.python_texts import parse_texts

        addresses = columns.parse(data, offsets[:-1], offsets[1:] - offsets[:-1], parse_texts)
        families[:] = addresses.family
        self.locate_numbers(addresses.family, addresses.high, addresses.low, ids, with_private)

    def locate_numbers(
        self,
        families: U8,
        highs: U64,
        lows: U64,
        ids: I32,
        with_private: bool = False,
    ) -> None:
        """See ``protocol.State``."""
        from geolookup.kernel.columns import locate_numbers

        try:
            locate_numbers(self.dataset, families, highs, lows, ids, with_private=with_private)
        except IndexError:
            raise outside(self.dataset.path) from None

    def take_rows(self, ids: I32, locations: U32, networks: U32) -> None:
        """See ``protocol.State``."""
        from geolookup.kernel.columns import take_rows

        take_rows(self.dataset, ids, locations, networks)

    def take_own_rows(self, ids: I32, rows: U32) -> None:
        """See ``protocol.State``."""
        from geolookup.kernel.columns import take_table

        own = own_table(self, "take_own_rows").intervals
        take_table(self.dataset, ids, rows, own[4], own[6])

    def envelopes(self, ips: list[object], seconds: int | list[int]) -> list[Envelope]:
        """See ``protocol.State``."""
        from geolookup.kernel.python import _many_envelopes

        return _many_envelopes(self, ips, seconds)

    def envelopes_json(self, ips: list[object], seconds: int | list[int]) -> list[bytes]:
        """See ``protocol.State``."""
        from geolookup.kernel.python import _many_json

        return _many_json(self, ips, seconds)

    def values(
        self,
        ips: list[object],
        names: str | tuple[object, ...],
        seconds: int | list[int],
        default: object = None,
    ) -> list[Any]:
        """See ``protocol.State``."""
        from geolookup.kernel.python import _many_values

        return _many_values(self, ips, names, seconds, default)

    def lines(self) -> _Lines:
        """See ``protocol.State``."""
        from geolookup.kernel.python import _Lines

        return _Lines(self)

    def _time_json(self, zone: int, second: int) -> bytes:
        """Return the JSON of the time object, cached for one second."""
        cached = self._times_json.get(zone)
        if cached is None or cached[0] != second:
            cached = self._times_json[zone] = second, to_json(self._time(zone, second))
        return cached[1]

    def _time(self, zone: int, second: int) -> Time:
        """Return the time object, cached for one second; callers copy it."""
        cached = self._times.get(zone)
        if cached is None or cached[0] != second:
            name = self._zones[zone]
            time = time_object(name, period(name, second), second)
            cached = self._times[zone] = second, time
        return cached[1]


def find(state: State, ip: object) -> Match:
    """Find an address; raises the contract's errors 10001 and 10002."""
    try:
        return resolve(state, ip)
    except IndexError:
        raise outside(state.dataset.path) from None


def resolve(state: State, ip: object) -> Match:
    """Return family, echo and rows of an address; raises the contract's errors 10001 and 10002."""
    # A valid dotted text is canonical already (no leading zeros): it is its own echo.
    if type(ip) is str and (value := parse_ipv4(ip)) is not None:
        return 4, ip, _rows_ipv4(state, value, ip)
    family, value = parse(ip)
    if family == 4:
        return 4, canonical_ipv4(value), _rows_ipv4(state, value, ip)
    carried = embedded_ipv4(value)
    if carried is not None:
        return 6, canonical_ipv6(value), _rows_ipv4(state, carried, ip)
    if is_private(6, value):
        raise PrivateAddressError(ip)
    return 6, canonical_ipv6(value), state.rows(6, state.interval_ipv6(value))


def _rows_ipv4(state: State, value: int, ip: object) -> tuple[int, int]:
    # By the first octet: most octets have no private range, and need no comparison.
    if _IPV4_CLASSES[value >> 24] and is_private(4, value):
        raise PrivateAddressError(ip)
    interval = state.interval_ipv4(value)
    return state._ipv4_locations[interval], state._ipv4_networks[interval]
