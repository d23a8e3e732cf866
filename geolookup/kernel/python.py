"""The Python kernel, the reference implementation: address -> interval -> rows -> envelope.

Strategy: ``python_state`` finds the rows of an address, ``python_rows`` renders them once and
caches them; a lookup joins the rendered parts.
"""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, Any, ClassVar

from geolookup.contract import envelope, fields
from geolookup.contract.localtime import instant
from geolookup.dataset.files import Dataset, outside
from geolookup.errors import ClosedError, ContractError
from geolookup.kernel.python_columns import (
    checksums,
    copy_texts,
    count_nodes,
    fill_nodes,
    find_addresses,
    gather,
    parse_texts,
    split_log_lines,
)
from geolookup.kernel.python_rows import data_of, value_of
from geolookup.kernel.python_state import State, find, resolve

if TYPE_CHECKING:
    from typing import Literal, overload

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
    from geolookup.kernel.python_answer import Answer

__all__ = [
    "Kernel",
    "State",
    "checksums",
    "copy_texts",
    "count_nodes",
    "fill_nodes",
    "find_addresses",
    "gather",
    "parse_texts",
    "restored",
    "split_log_lines",
]


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
            from geolookup.contract.paths import unknown_path

            raise unknown_path(path)
        return value_of(state, find(state, ip), path, at)

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
    return data_of(state, find(state, ip), second)


def _answer_json(state: State, ip: object, second: int) -> bytes:
    """Return the envelope as compact UTF-8 JSON."""
    try:
        family, echo, (location_row, network_row) = resolve(state, ip)
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
        raise outside(state.dataset.path) from None


def restored(data: Data | None, prefix: str | None, code: int) -> Answer:
    """Return an answer from what it was pickled as; see ``protocol.Implementation``."""
    from geolookup.kernel.python_answer import restored

    return restored(data, prefix, code)
