"""Reads the rules of a time zone from a TZif file (RFC 9636, versions 1 to 4).

Strategy: after the last transition the rule in the footer decides; most lookups need only that. The
table of transitions is read for the first instant before its end. Its times are not decoded: they
are bisected as a view of numbers on the bytes of the file.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from functools import partial
from operator import lt

from geolookup.contract.gregorian import DAY
from geolookup.contract.tzrule import ABBREVIATION, Rule, parse

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from geolookup.contract.tzrule import State

    Code = Literal["i", "I", "q"]

_HEADER = 44  # bytes
_VERSION_2 = ord("2")  # later versions have its layout
_CODES: dict[int, Code] = {4: "i", 8: "q"}  # by the bytes of a time
_LATEST = 1 << 63
_TYPE = 6  # bytes of a local time type: offset, flag, index of the abbreviation


class Zone:
    """The rules of a zone: the transitions in its file, then the rule in its footer.

    ValueError for an instant before the end of a malformed table.
    """

    __slots__ = ("_cache", "_last", "_read", "_rule")

    def __init__(self, last: int | None, read: Callable[[], Table], rule: Rule) -> None:
        self._last, self._read, self._rule = last, read, rule
        self._cache: Table | None = None

    def since(self, start: int) -> Zone | Rule:
        """Return the rules from a Unix second on; zones with equal footers share a `Rule`."""
        return self._rule if self._last is None or start >= self._last else self

    def state(self, at: int) -> State:
        """Return the state of the zone at a Unix second."""
        if self._last is None or at >= self._last:
            return self._rule.state(at)
        return self._table().state(at)

    def between(self, start: int, end: int) -> list[int]:
        """Return the seconds of changes after `start` and before `end`, at most two years later."""
        if self._last is None or start >= self._last:
            return self._rule.between(start, end)
        changes = self._table().between(start, end)
        return changes + self._rule.between(self._last, end) if self._last < end else changes

    def _table(self) -> Table:
        if self._cache is None:
            self._cache = self._read()
        return self._cache


class Table:
    """The transitions of a zone, ascending, and its local time types."""

    __slots__ = ("_kinds", "_states", "_times")

    def __init__(self, times: Sequence[int], kinds: bytes, states: list[State]) -> None:
        self._times, self._kinds, self._states = times, kinds, states

    def state(self, at: int) -> State:
        """Return the state at a Unix second; before the first transition, local time type 0."""
        index = bisect_right(self._times, at)
        return self._states[self._kinds[index - 1] if index else 0]

    def between(self, start: int, end: int) -> list[int]:
        """Return the transitions after `start` and before `end`."""
        times = self._times
        return list(times[bisect_right(times, start) : bisect_left(times, end)])


def read(data: bytes) -> Zone | None:
    """Return the rules in the bytes of a TZif file; None for any other bytes.

    A file is malformed if an offset is a day or more, or an abbreviation has a character that the
    RFC does not allow. Leap seconds are ignored, as in Unix time.
    """
    try:
        return _read(data)
    except ValueError:
        return None


def _read(data: bytes) -> Zone:
    sizes, begin, width = _sizes(data, 0), _HEADER, 4
    if data[4]:  # version 2 or later: a block of 32-bit times, one of 64-bit times, a footer
        if data[4] < _VERSION_2:
            raise ValueError("an unknown version")
        # header 1 | 32-bit block | header 2 | 64-bit block | "\n" TZ string "\n"
        begin += _size(sizes, 4) + _HEADER
        sizes, width = _sizes(data, begin - _HEADER), 8
    end = begin + _size(sizes, width)
    if end > len(data):
        raise ValueError("a truncated block")
    footer = _footer(data, end) if width == 8 else ""
    table = partial(_table, data, begin, sizes, width)
    last = begin + sizes[3] * width
    # The last transition: after it only the footer counts.
    number = _numbers(data[last - width : last], _CODES[width])[0] if sizes[3] else None
    return Zone(number, table, parse(footer) if footer else Rule(table().state(_LATEST)))


def _sizes(data: bytes, at: int) -> Sequence[int]:
    """Return the six counts of the header at an index: UT, standard, leap, times, types, chars."""
    if data[at : at + 4] != b"TZif" or len(data) < at + _HEADER:
        raise ValueError("no header")
    return _numbers(data[at + 20 : at + _HEADER], "I")


def _size(sizes: Sequence[int], width: int) -> int:
    """Return the size of a block in bytes; ``width`` is the size of a time."""
    ut, standard, leaps, times, types, characters = sizes
    return times * (width + 1) + types * _TYPE + characters + leaps * (width + 4) + standard + ut


def _footer(data: bytes, begin: int) -> str:
    before, footer, _ = data[begin:].split(b"\n", 2)
    if before:
        raise ValueError("no footer")
    return footer.decode("ascii")


def _table(data: bytes, begin: int, sizes: Sequence[int], width: int) -> Table:
    _, _, _, count, types, characters = sizes
    kinds_begin = begin + count * width
    types_begin = kinds_begin + count
    names_begin = types_begin + types * _TYPE
    times = _numbers(data[begin:kinds_begin], _CODES[width])
    kinds = data[kinds_begin:types_begin]
    names = data[names_begin : names_begin + characters].decode("ascii")
    states = [_state(data, at, names) for at in range(types_begin, names_begin, _TYPE)]
    if max(kinds, default=0) >= types or not all(map(lt, times, times[1:])):
        raise ValueError("an unknown type, or times out of order")
    return Table(times, kinds, states)


def _numbers(data: bytes, code: Code) -> Sequence[int]:
    """View big-endian integers as numbers; ``code`` is a character of the module `struct`."""
    if sys.byteorder == "big":
        return memoryview(data).cast(code)
    # Two bytes each: 00 01 | 00 02 reversed is 02 00 | 01 00, little-endian 2 and 1; backwards
    # 1 and 2. No byte is copied twice, and no number becomes an object.
    return memoryview(data[::-1]).cast(code)[::-1]


def _state(data: bytes, at: int, names: str) -> State:
    # 6 bytes: offset (4), daylight flag, index of the abbreviation. "UTC\0" ends with NUL.
    offset = int.from_bytes(data[at : at + 4], signed=True)
    name = names[data[at + 5] : names.index("\0", data[at + 5])]
    if not (-DAY < offset < DAY and ABBREVIATION.issuperset(name)):
        raise ValueError("an offset or an abbreviation out of range")
    return offset, bool(data[at + 4]), name
