"""The Python kernel, the reference implementation: address -> interval -> rows -> envelope.

Strategy: a lookup finds the interval (IPv4 by the jump table and bisection, IPv6 by bisection),
reads its two row numbers, and joins rendered parts. Locations, currencies and networks are
rendered once and stored in bounded caches. The local time is rendered once per zone and second.
"""

from __future__ import annotations

from bisect import bisect_right
from time import time
from typing import TYPE_CHECKING, Any, ClassVar

from geolookup.contract import envelope, fields
from geolookup.contract.address import (
    canonical_ipv4,
    canonical_ipv6,
    embedded_ipv4,
    parse,
    parse_ipv4,
    parse_text,
)
from geolookup.contract.envelope import Object
from geolookup.contract.localtime import instant, time_json, time_object
from geolookup.contract.special import classes, is_private
from geolookup.dataset import crc32c
from geolookup.dataset.files import Dataset
from geolookup.errors import (
    ClosedError,
    ContractError,
    InvalidAddressError,
    PrivateAddressError,
)
from geolookup.kernel.python_rows import (
    Cache,
    Found,
    Rendering,
    copied_location,
    data_of,
    outside,
    value_of,
)

if TYPE_CHECKING:
    from typing import Literal, overload

    import numpy as np
    from numpy.typing import NDArray

    from geolookup.contract.types import (
        AddressPath,
        BooleanPath,
        Currency,
        Data,
        Envelope,
        FieldPath,
        InstantPath,
        IntegerPath,
        Location,
        Network,
        NumberPath,
        StringPath,
        StringsPath,
        Time,
    )
    from geolookup.dataset.intervals import I64, U8, U64
    from geolookup.kernel.columns import I32, U32
    from geolookup.kernel.python_answer import Answer
    from geolookup.kernel.python_many import Lines

_IPV4_CLASSES = classes(4)
_LOW = (1 << 64) - 1


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

    def interval_ipv4(self, value: int) -> int:
        """See ``protocol.State``."""
        jump, bucket = self._jump, value >> self._jump_shift
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

    def record(self, location_row: int, network_row: int) -> Object:
        """See ``protocol.State``."""
        location, _zone, currency = self._locations[location_row]
        return {
            "location": copied_location(location),
            "currency": currency.copy(),
            "network": self._networks[network_row].copy(),
        }

    def locate_texts(self, data: U8, offsets: I64, ids: I32, families: U8) -> None:
        """See ``protocol.State``."""
        from geolookup.kernel import columns

        found = columns.parse(data, offsets[:-1], offsets[1:] - offsets[:-1], parse_texts)
        families[:] = found.family
        self.locate_numbers(found.family, found.high, found.low, ids)

    def locate_numbers(self, families: U8, highs: U64, lows: U64, ids: I32) -> None:
        """See ``protocol.State``."""
        from geolookup.kernel.columns import locate_numbers

        try:
            locate_numbers(self.dataset, families, highs, lows, ids)
        except IndexError:
            raise outside(self) from None

    def take_rows(self, ids: I32, locations: U32, networks: U32) -> None:
        """See ``protocol.State``."""
        from geolookup.kernel.columns import take_rows

        take_rows(self.dataset, ids, locations, networks)

    def envelopes(self, ips: list[object], seconds: int | list[int]) -> list[Envelope]:
        """See ``protocol.State``."""
        from geolookup.kernel.python_many import envelopes

        return envelopes(self, ips, seconds)

    def envelopes_json(self, ips: list[object], seconds: int | list[int]) -> list[bytes]:
        """See ``protocol.State``."""
        from geolookup.kernel.python_many import envelopes_json

        return envelopes_json(self, ips, seconds)

    def values(
        self, ips: list[object], paths: tuple[str, ...], seconds: int | list[int]
    ) -> list[tuple[Any, ...]]:
        """See ``protocol.State``."""
        from geolookup.kernel.python_many import values

        return values(self, ips, paths, seconds)

    def lines(self) -> Lines:
        """See ``protocol.State``."""
        from geolookup.kernel.python_many import Lines

        return Lines(self)

    def _time_json(self, zone: int, second: int) -> bytes:
        """Return the JSON of the time object, cached for one second."""
        cached = self._times_json.get(zone)
        if cached is None or cached[0] != second:
            cached = self._times_json[zone] = second, time_json(self._zones[zone], second)
        return cached[1]

    def _time(self, zone: int, second: int) -> Time:
        """Return the time object, cached for one second; callers copy it."""
        cached = self._times.get(zone)
        if cached is None or cached[0] != second:
            cached = self._times[zone] = second, time_object(self._zones[zone], second)
        return cached[1]


class Kernel:
    """Single lookups on one dataset; see ``protocol.Kernel``."""

    #: The name of this implementation.
    kernel: ClassVar[str] = "python"

    def __init__(self, dataset: Dataset) -> None:
        self._state: State | None = State(dataset)

    def _swap(self, state: State | None) -> None:
        """Replace the state; None closes."""
        self._state = state

    def _open_state(self) -> State:
        state = self._state
        if state is None:
            raise ClosedError
        return state

    def lookup(self, ip: object, *, at: Any = None, clean: bool = False) -> Envelope:
        """Return the envelope for an address; the caller may change it.

        ``at`` is the instant of the time object: Unix seconds, an aware
        datetime, or None for now. No address makes this raise: a malformed
        one gives an envelope with code 10001, a private one with 10002. Raises
        TypeError or ValueError for an invalid ``at``, DatasetError for a damaged dataset.
        With ``clean`` a text may have more than the address: blanks, brackets, a port, a zone
        id, or it may be an X-Forwarded-For list; see ``contract.cleaning.clean_text``.
        """
        state = self._state or self._open_state()
        if clean:
            ip = _cleaned(ip)
        return _answer(state, ip, int(time()) if at is None else instant(at))

    def data(self, ip: object, *, at: Any = None, clean: bool = False) -> Data:
        """Return only the data member of the envelope.

        Raises InvalidAddressError (10001) or PrivateAddressError (10002), and
        what ``lookup`` raises.
        """
        state = self._state or self._open_state()
        if clean:
            ip = _cleaned(ip)
        return _data(state, ip, int(time()) if at is None else instant(at))

    def lookup_json(self, ip: object, *, at: Any = None, clean: bool = False) -> bytes:
        """Return the envelope as compact UTF-8 JSON; see ``lookup``."""
        state = self._state or self._open_state()
        if clean:
            ip = _cleaned(ip)
        return _answer_json(state, ip, int(time()) if at is None else instant(at))

    if TYPE_CHECKING:

        @overload
        def get(
            self, ip: object, path: AddressPath, *, at: Any = None, clean: bool = False
        ) -> str: ...
        @overload
        def get(
            self, ip: object, path: StringPath, *, at: Any = None, clean: bool = False
        ) -> str | None: ...
        @overload
        def get(
            self, ip: object, path: StringsPath, *, at: Any = None, clean: bool = False
        ) -> list[str] | None: ...
        @overload
        def get(
            self, ip: object, path: NumberPath, *, at: Any = None, clean: bool = False
        ) -> float | None: ...
        @overload
        def get(
            self, ip: object, path: IntegerPath, *, at: Any = None, clean: bool = False
        ) -> int | None: ...
        @overload
        def get(
            self, ip: object, path: BooleanPath, *, at: Any = None, clean: bool = False
        ) -> bool | None: ...
        @overload
        def get(
            self, ip: object, path: InstantPath, *, at: Any = None, clean: bool = False
        ) -> int: ...
        @overload
        def get(
            self, ip: object, path: Literal["location"], *, at: Any = None, clean: bool = False
        ) -> Location: ...
        @overload
        def get(
            self, ip: object, path: Literal["time"], *, at: Any = None, clean: bool = False
        ) -> Time: ...
        @overload
        def get(
            self, ip: object, path: Literal["currency"], *, at: Any = None, clean: bool = False
        ) -> Currency: ...
        @overload
        def get(
            self, ip: object, path: Literal["network"], *, at: Any = None, clean: bool = False
        ) -> Network: ...

    def get(self, ip: object, path: FieldPath, *, at: Any = None, clean: bool = False) -> Any:
        """Return one field of data, or one group, without building the envelope.

        ``path`` is ``"location.country_code"``, ``"network"`` and so on. An
        unknown or absent value is None. Raises what ``data`` raises, and
        ValueError for a path that the contract does not define.
        """
        state = self._state or self._open_state()
        if clean:
            ip = _cleaned(ip)
        if not isinstance(path, str) or path not in fields.PATHS:
            raise fields.unknown_path(path)
        return value_of(state, _found(state, ip), path, at)

    def answer(self, ip: object, at: Any = None, *, clean: bool = False) -> Answer:
        """Return the answer for an address as an object, whose members are read on access.

        ``answer.location.city_name``, ``answer.time.current_time`` (an aware datetime),
        ``answer.prefix``, ``answer.to_dict()``: the envelope. All members are of one generation
        and of the instant ``at``; ``at`` and ``clean`` are those of ``lookup``. No address makes
        this raise: the answer for a malformed or private one is false, has ``error_code`` and
        ``error_message``, and its members are None. Raises TypeError or ValueError for an
        invalid ``at``, DatasetError for a damaged dataset; reading a member raises it too.
        """
        from geolookup.kernel.python_answer import answer_of

        state = self._state or self._open_state()
        if clean:
            ip = _cleaned(ip)
        return answer_of(state, ip, int(time()) if at is None else instant(at))


def _cleaned(ip: object) -> object:
    from geolookup.contract.cleaning import clean_text  # imports re, which a lookup does not need

    return clean_text(ip)


def _answer(state: State, ip: object, second: int) -> Envelope:
    """Return the envelope."""
    try:
        return envelope.success(_data(state, ip, second))
    except ContractError as error:
        return envelope.failure(type(error))


def _data(state: State, ip: object, second: int) -> Data:
    """Return the data member; raises the contract's errors 10001 and 10002."""
    return data_of(state, _found(state, ip), second)


def _answer_json(state: State, ip: object, second: int) -> bytes:
    """Return the envelope as compact UTF-8 JSON."""
    try:
        family, echo, (location_row, network_row) = _resolve(state, ip)
        location, zone, currency = state._locations_json[location_row]
        return b"".join(
            (
                envelope.HEAD,
                echo.encode(),
                envelope.IP_TYPE[family],
                location,
                state._time_json(zone, second),
                currency,
                state._networks_json[network_row],
            )
        )
    except ContractError as error:
        return envelope.FAILURES_JSON[type(error)]
    except IndexError:
        raise outside(state) from None


def _found(state: State, ip: object) -> Found:
    """Find an address; raises the contract's errors 10001 and 10002."""
    try:
        return _resolve(state, ip)
    except IndexError:
        raise outside(state) from None


def _resolve(state: State, ip: object) -> Found:
    """Return family, echo and rows of an address; raises the contract's errors 10001 and 10002."""
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
    if _IPV4_CLASSES[value >> 24] and is_private(4, value):
        raise PrivateAddressError(ip)
    interval = state.interval_ipv4(value)
    return state._ipv4_locations[interval], state._ipv4_networks[interval]


def restored(data: Data | None, prefix: str | None, code: int) -> Answer:
    """Return an answer from what it was pickled as; see ``protocol.Implementation``."""
    from geolookup.kernel.python_answer import restored

    return restored(data, prefix, code)


def checksums(data: U8, offsets: I32, sums: U32) -> None:
    """Fill in the CRC-32C of the texts; see ``protocol.Implementation``."""
    crc32c.checksums(data, offsets, sums)


def gather(
    table: U8, rows: U32, lanes: list[tuple[int, int, int]], values: list[U8], validity: list[U8]
) -> int:
    """Copy columns of a row-major table; see ``protocol.Implementation``."""
    from geolookup.kernel import columns

    return columns.gather(table, rows, lanes, values, validity)


def split_log_lines(
    data: U8, starts: I64, lengths: I64, combined: bool, parts: NDArray[np.int64]
) -> None:
    """Split lines of a log into fields; see ``protocol.Implementation``."""
    from geolookup.kernel import python_logs

    python_logs.split_log_lines(data, starts, lengths, combined, parts)


def copy_texts(data: U8, starts: I64, lengths: I64, out: U8) -> None:
    """Copy texts one after the other; see ``protocol.Implementation``."""
    from geolookup.kernel import python_logs

    python_logs.copy_texts(data, starts, lengths, out)


def parse_texts(data: U8, starts: I64, lengths: I64, families: U8, highs: U64, lows: U64) -> None:
    """Parse the texts ``data[start : start + length]``; see ``protocol.Implementation``."""
    if any(len(column) != len(starts) for column in (lengths, families, highs, lows)):
        raise ValueError("the columns differ in length")
    text, size = data.data, len(data)
    out_families, out_highs, out_lows = families.data, highs.data, lows.data
    for at, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        family = value = 0
        if 0 <= start <= size and 0 <= length <= size - start:
            family, value = _parsed(text[start : start + length])
        out_families[at], out_highs[at], out_lows[at] = family, value >> 64, value & _LOW


def _parsed(text: memoryview) -> tuple[int, int]:
    """Return family and integer of a UTF-8 text; (0, 0) if it is malformed."""
    try:
        # Latin-1 decodes any bytes; no address contains a non-ASCII character.
        return parse_text(str(text, "latin-1"))
    except InvalidAddressError:
        return 0, 0
