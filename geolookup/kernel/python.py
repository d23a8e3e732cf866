"""The Python kernel, the reference implementation: address -> interval -> rows -> envelope.

Strategy: ``python_state`` finds the rows of an address, ``python_rows`` renders them once and
caches them; a lookup joins the rendered parts. Many addresses are answered one after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from time import time
from typing import TYPE_CHECKING, Any

from geolookup.contract import envelope, fields
from geolookup.contract.localtime import instant
from geolookup.contract.paths import names_of, unknown_field
from geolookup.dataset.files import Dataset, outside
from geolookup.errors import ClosedError, ContractError
from geolookup.kernel.answers import check_type
from geolookup.kernel.lookups import Lookups
from geolookup.kernel.python_own import own_members, own_table, own_value
from geolookup.kernel.python_rows import data_of, value_of
from geolookup.kernel.python_state import State, find, resolve

if TYPE_CHECKING:
    from geolookup.contract.types import Data, Envelope
    from geolookup.kernel.columns import gather
    from geolookup.kernel.python_answer import Answer, restore
    from geolookup.kernel.python_texts import find_addresses, parse_texts
    from geolookup.kernel.python_zones import period
else:
    #: The modules of functions that a first lookup does not need. Some of them import numpy.
    _LAZY = {
        "gather": "geolookup.kernel.columns",
        "period": "geolookup.kernel.python_zones",
        "restore": "geolookup.kernel.python_answer",
        **dict.fromkeys(("find_addresses", "parse_texts"), "geolookup.kernel.python_texts"),
    }

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)


__all__ = [
    "Kernel",
    "State",
    "document",
    "find_addresses",
    "gather",
    "parse_texts",
    "period",
    "restore",
]


Addresses = list[object]
Seconds = int | list[int]
# The JSON of each failure is one fixed text: lines are counted as failures by comparison.
_FAILURES = frozenset(envelope.FAILURES_JSON.values())


class Kernel(Lookups):
    """Single lookups on one dataset."""

    #: The name of this implementation.
    kernel = "python"

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
        """See ``Lookups``."""
        state = self._state or self._open_state()
        if clean:
            ip = _clean(ip)
        return _answer(state, ip, int(time()) if at is None else instant(at))

    def lookup_json(self, ip: object, *, at: Any = None, clean: bool = False) -> bytes:
        """See ``Lookups``."""
        state = self._state or self._open_state()
        if clean:
            ip = _clean(ip)
        return _answer_json(state, ip, int(time()) if at is None else instant(at))

    def get(  # type: ignore[override]
        self,
        ip: object,
        field: Any,
        /,
        *more: Any,
        default: Any = None,
        at: Any = None,
        clean: bool = False,
    ) -> Any:
        """See ``Lookups``."""
        state = self._state or self._open_state()
        second = int(time()) if at is None else instant(at)
        if clean:
            ip = _clean(ip)
        paths = _paths(state, names_of((field, *more)), "get")
        check_type("get", ip)
        values = _values(state, ip, paths, second, default)
        return values if more or not isinstance(field, str) else values[0]

    def answer(self, ip: object, *, at: Any = None, clean: bool = False) -> Answer:
        """See ``Lookups``."""
        from geolookup.kernel.python_answer import answer_of

        state = self._state or self._open_state()
        if clean:
            ip = _clean(ip)
        check_type("answer", ip)
        return answer_of(state, ip, int(time()) if at is None else instant(at))

    def own(self, ip: object, *, clean: bool = False) -> dict[str, Any] | None:
        """See ``Lookups``."""
        state = self._state or self._open_state()
        own_table(state, "own")
        return own_members(state, _clean(ip) if clean else ip)


def document(texts: dict[str, str]) -> None:
    """Set the docstrings of the calls of ``Kernel``, by their names."""
    for name, text in texts.items():
        vars(Kernel)[name].__doc__ = text


def _clean(ip: object) -> object:
    from geolookup.contract.cleaning import clean_text  # imports re: a lookup does not need it

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


# --- many answers, one after another


def _many_envelopes(state: State, ips: Addresses, seconds: Seconds) -> list[Envelope]:
    """See ``protocol.State``."""
    return [_answer(state, ip, second) for ip, second in _pair(ips, seconds)]


def _many_json(state: State, ips: Addresses, seconds: Seconds) -> list[bytes]:
    """See ``protocol.State``."""
    return [_answer_json(state, ip, second) for ip, second in _pair(ips, seconds)]


def _many_values(
    state: State,
    ips: Addresses,
    names: str | tuple[object, ...],
    seconds: Seconds,
    default: object,
) -> list[Any]:
    """See ``protocol.State``."""
    paths = _paths(state, (names,) if isinstance(names, str) else names, "get_many")
    values = [_values(state, ip, paths, second, default) for ip, second in _pair(ips, seconds)]
    return [value for (value,) in values] if isinstance(names, str) else values


def _values(
    state: State, ip: object, paths: list[str], second: int, default: object
) -> tuple[Any, ...]:
    try:
        match = find(state, ip)
    except ContractError:
        match = None
    values = [
        own_value(state, ip, path)  # known for private addresses too
        if path.partition(".")[0] == fields.OWN
        else match and value_of(state, match, path, second)
        for path in paths
    ]
    return tuple([default if value is None else value for value in values])


def _paths(state: State, names: tuple[object, ...], call: str) -> list[str]:
    """Return the paths of fields and groups; raises ValueError for an unknown name."""
    paths = []
    for name in names:
        path = state._paths.get(name) if isinstance(name, str) else None
        if path is None:
            raise unknown_field(name, call, state.dataset.schema.fields)
        paths.append(path)
    return paths


def _pair(ips: Addresses, seconds: Seconds) -> Iterator[tuple[object, int]]:
    if not isinstance(seconds, list):
        return zip(ips, repeat(seconds), strict=False)
    if len(seconds) != len(ips):
        raise ValueError("the columns differ in length")
    return zip(ips, seconds, strict=True)


class _Lines:
    """See ``protocol.Lines``."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._lines: list[bytes] = []

    def add(self, ips: Addresses, seconds: Seconds) -> int:
        """See ``protocol.Lines``."""
        failures = 0
        for ip, second in _pair(ips, seconds):
            self._lines.append(_answer_json(self._state, ip, second))
            failures += self._lines[-1] in _FAILURES
        return failures

    def add_text(self, text: bytes, second: int) -> int:
        """See ``protocol.Lines``."""
        # surrogateescape: invalid UTF-8 becomes a malformed address, no exception.
        texts = [line.decode("utf-8", "surrogateescape").strip() for line in text.split(b"\n")]
        return self.add([text for text in texts if text], second)

    def take(self) -> bytes:
        """See ``protocol.Lines``."""
        lines = b"".join([line + b"\n" for line in self._lines])
        self._lines.clear()
        return lines
