"""An open dataset in the Python kernel: address -> interval -> rows -> answer.

This is the reference: the compiled kernel has the same class in C. It decodes rows by
``dataset.rows``, and keeps them as objects and as JSON.

Columns are contiguous numpy arrays, all of the same length unless stated; other lengths raise
ValueError. An *interval id* is the position of an interval: its position among the IPv4
intervals, or the number of those plus its position among the IPv6 intervals. It is -1 for a
malformed address and -2 for a private one.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from geolookup.contract import envelope, fields
from geolookup.contract.address import canonical, effective, parse
from geolookup.contract.fields import COUNTRY_MEMBERS, CURRENCY_MEMBERS, NAMES, OWN
from geolookup.contract.localtime import time_object
from geolookup.contract.paths import unknown_field
from geolookup.contract.special import is_private
from geolookup.dataset.files import Dataset, outside
from geolookup.errors import ContractError, InvalidAddressError, PrivateAddressError
from geolookup.kernel.answers import copy_value
from geolookup.kernel.python_zones import period

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from geolookup.contract.envelope import Object
    from geolookup.contract.types import Envelope
    from geolookup.dataset.intervals import I64, U8, U64
    from geolookup.kernel.columns import I32, U32

_LISTS = [field.member for field in fields.FIELDS if field.type == fields.TEXTS]
_CACHED = 8192  # rows of a table; a row takes about 1 kB


class Match(NamedTuple):
    """An address that has an answer: its family, its text, and its rows."""

    family: int
    echo: str
    location: int
    network: int


class State:
    """An open dataset and the caches of its rows; an engine replaces it as a whole.

    Every method raises DatasetError if an index of the dataset points outside its table.
    ``take_rows`` and ``take_own_rows`` raise IndexError for an interval id that does not exist in
    the dataset.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._rows = {family: dataset.row_columns(family) for family in (4, 6)}
        # The caches do not refer to the state: without a reference cycle its files close as soon
        # as the last reader ends.
        cached, recent, to_json = lru_cache(_CACHED), lru_cache(1024), envelope.to_json
        countries = cached(dataset.countries.members)
        locations = self._locations = cached(partial(_location, dataset, countries))
        networks = self._networks = cached(partial(_network, dataset))
        times = self._times = recent(partial(_time, dataset, dataset.zones()))
        self._locations_json = cached(lambda row: [*map(to_json, locations(row)[:2])])
        self._networks_json = cached(lambda row: to_json(networks(row)))
        self._times_json = recent(lambda zone, second: to_json(times(zone, second)))
        own_paths = [field.path for field in dataset.schema.own]
        #: the path of each name of a field or group
        self._paths = NAMES | {path: path for path in own_paths and (OWN, *own_paths)}

    def rows_and_prefix(self, ip: object) -> tuple[int, int, int]:
        """Return location row, network row and prefix length of an address.

        The prefix is the largest aligned network around the address with one
        answer, in the family asked. For a private address the rows are 0 (unknown), and the
        network is the largest in private space. Raises InvalidAddressError.
        """
        from geolookup.dataset.networks import prefix_length

        try:
            match = self._find(ip)
            rows = match.location, match.network
        except PrivateAddressError:
            rows = 0, 0
        return *rows, prefix_length(self.dataset, *parse(ip))

    def record(self, location_row: int, network_row: int) -> Object:
        """Return data without ip, ip_type and time; the caller may change it."""
        match = Match(0, "", location_row, network_row)
        groups = "location", "currency", "network"
        return {group: self._group(match, group, 0) for group in groups}

    # --- columns

    def locate_texts(
        self, data: U8, offsets: I64, ids: I32, families: U8, with_private: bool = False
    ) -> None:
        """Locate the n UTF-8 texts ``data[offsets[i] : offsets[i + 1]]``.

        ``offsets`` has n + 1 items. Fills ``ids`` with interval ids and ``families`` with the
        family of the address as written: 4, 6, or 0 for a malformed text. A text whose offsets
        are outside ``data`` counts as malformed. With ``with_private``, private addresses have
        interval ids too: own columns can be known for these, so the ids are for ``take_own_rows``
        only.
        """
        from geolookup.kernel import columns
        from geolookup.kernel.python_texts import parse_texts

        addresses = columns.parse(data, offsets[:-1], offsets[1:] - offsets[:-1], parse_texts)
        families[:] = addresses.family
        self.locate_numbers(addresses.family, addresses.high, addresses.low, ids, with_private)

    def locate_numbers(
        self, families: U8, highs: U64, lows: U64, ids: I32, with_private: bool = False
    ) -> None:
        """Locate n addresses, given by family (4, 6; 0: malformed) and the halves of the integer.

        Fills ``ids`` with interval ids. An IPv4 address is in ``lows``. ``locate_texts`` describes
        ``with_private``.
        """
        from geolookup.kernel.columns import locate_numbers

        try:
            locate_numbers(self.dataset, families, highs, lows, ids, with_private=with_private)
        except IndexError:
            raise outside(self.dataset.path) from None

    def take_rows(self, ids: I32, locations: U32, networks: U32) -> None:
        """Fill in the location and network rows of n interval ids; 0 (unknown) for ids below 0.

        A table whose array has length 0 is skipped.
        """
        from geolookup.kernel.columns import take_table

        for table, rows in (("location", locations), ("network", networks)):
            if len(rows):
                take_table(self.dataset, ids, rows, table)

    def take_own_rows(self, ids: I32, rows: U32) -> None:
        """Fill in the rows of own columns for n interval ids; 0 (unknown) for ids below 0.

        Raises ValueError if the dataset has no own columns.
        """
        from geolookup.kernel.columns import take_table

        if self.dataset.own_rows is None:
            raise unknown_field(OWN, "take_own_rows")
        take_table(self.dataset, ids, rows, OWN)

    # --- many addresses, one after another

    def envelopes(self, ips: list[object], seconds: int | list[int]) -> list[Envelope]:
        """Return the envelope of each address.

        ``seconds`` is the Unix second of all answers, or a list with one per answer.
        """
        return [self._envelope(ip, second) for ip, second in _pair(ips, seconds)]

    def envelopes_json(self, ips: list[object], seconds: int | list[int]) -> list[bytes]:
        """Return the envelope of each address as compact UTF-8 JSON."""
        return [self._json(ip, second) for ip, second in _pair(ips, seconds)]

    def values(
        self,
        ips: list[object],
        names: str | tuple[object, ...],
        seconds: int | list[int],
        default: object = None,
    ) -> list[Any]:
        """Return the value of a field per address, or a tuple of the values of several fields.

        One field or group is a text, several are a tuple. A value is ``default`` if it is unknown,
        or if the address has no answer. Own columns have values for private addresses too. Raises
        ValueError for an unknown name.
        """
        paths = self._paths_of((names,) if isinstance(names, str) else names, "get_many")
        values = [self._values(ip, paths, second, default) for ip, second in _pair(ips, seconds)]
        return [value for (value,) in values] if isinstance(names, str) else values

    def lines(self) -> Lines:
        """Return a writer without lines."""
        return Lines(self)

    # --- one address

    def _find(self, ip: object) -> Match:
        """Find the rows of an address; raises the contract's errors 10001 and 10002."""
        asked = parse(ip)
        family, value = effective(*asked)  # 64:ff9b::808:808 carries 8.8.8.8
        if is_private(family, value):
            raise PrivateAddressError(ip)
        interval = self.dataset.starts(family).interval(value)
        rows = self._rows[family]
        try:
            location, network = rows["location"][interval], rows["network"][interval]
        except IndexError:
            raise outside(self.dataset.path) from None
        return Match(asked[0], canonical(*asked), location, network)

    def _envelope(self, ip: object, second: int) -> Envelope:
        try:
            return envelope.success(self._data(self._find(ip), second))
        except ContractError as error:
            return envelope.failure(type(error))

    def _json(self, ip: object, second: int) -> bytes:
        try:
            match = self._find(ip)
        except ContractError as error:
            return envelope.FAILURES_JSON[type(error)]
        location, currency = self._locations_json(match.location)
        time = self._times_json(self._locations(match.location)[2], second)
        network = self._networks_json(match.network)
        head = envelope.HEAD + match.echo.encode() + envelope.IP_TYPE[match.family]
        groups = b'"location":%b,"time":%b,"currency":%b,"network":%b'
        return head + groups % (location, time, currency, network) + envelope.TAIL

    def _data(self, match: Match, second: int) -> Any:
        """Return the data member of an address; the caller may change it."""
        data = {"ip": match.echo, "ip_type": f"ipv{match.family}"}
        return data | {group: self._group(match, group, second) for group in fields.GROUPS}

    def _value(self, match: Match, path: str, second: int) -> Any:
        """Return one field or one group of data; the caller may change it."""
        group, _, member = path.partition(".")
        if group in ("ip", "ip_type"):
            return match.echo if group == "ip" else f"ipv{match.family}"
        values = self._group(match, group, second)
        return values.get(member) if member else values

    def _group(self, match: Match, group: str, second: int) -> Any:
        """Return a group of data, read from no more rows than it needs; the caller may change it.

        A zone file or another table can be damaged.
        """
        if group == "network":
            return self._networks(match.network).copy()
        location, currency, zone = self._locations(match.location)
        if group == "time":
            return self._times(zone, second).copy()
        if group == "currency":
            return currency.copy()
        return location | {name: copy_value(location[name]) for name in _LISTS}

    def _own(self, ip: object) -> Object | None:
        """Return the own columns of an address; None if it is malformed.

        They can be known in special-purpose space, whatever the class of the address. Where a
        column is not declared private, the compiler wrote row 0 there. Raises ValueError if the
        dataset has none.
        """
        table = self.dataset.own_rows
        if table is None:
            raise unknown_field(OWN, OWN)
        try:
            family, value = effective(*parse(ip))
        except InvalidAddressError:
            return None
        interval = self.dataset.starts(family).interval(value)
        return table.members(self._rows[family][OWN][interval])

    def _paths_of(self, names: Sequence[object], call: str) -> list[str]:
        """Return the paths of fields and groups; raises ValueError for an unknown name."""
        for name in names:
            if not isinstance(name, str) or name not in self._paths:
                raise unknown_field(name, call, self.dataset.schema.fields)
        return [self._paths[str(name)] for name in names]

    def _values(
        self, ip: object, paths: list[str], second: int, default: object
    ) -> tuple[Any, ...]:
        try:
            match = self._find(ip)
        except ContractError:
            match = None
        values: list[Any] = []
        for path in paths:
            group, _, member = path.partition(".")
            if group == OWN:
                own = self._own(ip)  # known for private addresses too
                value = own[member] if own and member else own
            else:
                value = match and self._value(match, path, second)
            values.append(default if value is None else value)
        return tuple(values)


def _location(
    dataset: Dataset, countries: Callable[[int], Object], row: int
) -> tuple[Object, Object, int]:
    """Return the location and the currency of a location row, and the row of its zone."""
    try:
        country = countries(dataset.location_countries[row])
        zone = dataset.location_zones[row]
    except IndexError:
        raise outside(dataset.path) from None
    location = {name: country[name] for name in COUNTRY_MEMBERS} | dataset.locations.members(row)
    return location, {name: country[name] for name in CURRENCY_MEMBERS}, zone


def _network(dataset: Dataset, row: int) -> Object:
    """Return a network; an unknown asn is left out."""
    network = dataset.networks.members(row).items()
    return {name: value for name, value in network if name != "asn" or value is not None}


def _time(dataset: Dataset, zones: list[str | None], zone: int, second: int) -> Any:
    """Return the local time of a zone row at a Unix second."""
    if zone >= len(zones):
        raise outside(dataset.path)
    return time_object(zones[zone], period(zones[zone], second), second)


def _pair(ips: list[object], seconds: int | list[int]) -> Iterator[tuple[object, int]]:
    if not isinstance(seconds, list):
        return zip(ips, repeat(seconds), strict=False)
    if len(seconds) != len(ips):
        raise ValueError("the columns differ in length")
    return zip(ips, seconds, strict=True)


class Lines:
    """Writes envelopes as JSON lines: compact UTF-8 JSON, each with a line feed after it.

    Where a call raises DatasetError, the lines before the damaged row remain.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._lines: list[bytes] = []

    def add(self, ips: list[object], seconds: int | list[int]) -> int:
        """Write the envelope of each address; return the number of error envelopes.

        ``State.envelopes`` describes ``seconds``.
        """
        failures = 0
        for ip, second in _pair(ips, seconds):
            answer = self._state._json(ip, second)
            self._lines += answer, b"\n"
            failures += answer in envelope.FAILURES_JSON.values()
        return failures

    def take(self) -> bytes:
        """Return the lines and remove them."""
        lines = b"".join(self._lines)
        self._lines.clear()
        return lines
