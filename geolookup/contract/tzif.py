"""Reads the rules of a time zone from a TZif file (RFC 9636, versions 1 to 4).

Strategy: the transitions remain the bytes that they are, viewed as numbers. The years that are
asked for are found in them by bisection; after the last one the rule in the footer decides.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from functools import lru_cache
from operator import lt

from geolookup.contract.gregorian import DAY, year_of
from geolookup.contract.tzrule import ABBREVIATION, Rule, parse

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from geolookup.contract.tzrule import State

    Code = Literal["i", "I", "q"]

_HEADER = 44  # bytes
_VERSION_2 = ord("2")  # later versions have its layout
_TYPE = 6  # bytes of a local time type: offset, flag, index of the abbreviation


class Rules:
    """The transitions of a zone, its local time types, and the rule after the last transition."""

    __slots__ = ("_after", "_kinds", "_states", "_times")

    def __init__(
        self, times: Sequence[int], kinds: bytes, states: list[State], after: State | Rule
    ) -> None:
        self._times, self._kinds, self._states, self._after = times, kinds, states, after

    def state(self, at: int) -> State:
        """Return the state of the zone at a Unix second.

        Before the first transition it is local time type 0.
        """
        index = bisect_right(self._times, at)
        if index < len(self._times):
            return self._states[self._kinds[index - 1] if index else 0]
        if not isinstance(self._after, Rule):
            return self._after
        changes = _changes(self._after, year_of(at // DAY))
        return changes[bisect_right(changes, at, key=_second) - 1][1]

    def changes(self, start: int, end: int) -> list[tuple[int, State]]:
        """Return the state at `start` and each change before `end`, with their seconds.

        The span is a year and a day or two on both sides of it.
        """
        found = [(start, self.state(start))]
        for second in self._between(start, end):
            state = self.state(second)
            if state != found[-1][1]:
                found.append((second, state))
        return found

    def _between(self, start: int, end: int) -> Iterator[int]:
        """Yield the seconds of changes after `start` and before `end`."""
        times = self._times
        yield from times[bisect_right(times, start) : bisect_left(times, end)]
        if isinstance(self._after, Rule) and (not times or times[-1] < end):
            start = max(start, times[-1]) if times else start
            changes = _changes(self._after, year_of((start + end) // 2 // DAY))
            yield from (second for second, _ in changes if start < second < end)


def _second(change: tuple[int, State]) -> int:
    return change[0]


@lru_cache(maxsize=1024)  # about three years of every rule
def _changes(rule: Rule, year: int) -> tuple[tuple[int, State], ...]:
    return rule.changes(year)


def read(data: bytes) -> Rules | None:
    """Return the rules in the bytes of a TZif file; None for any other bytes.

    An offset of a day or more, and an abbreviation of other characters than the RFC has, make
    a file malformed. Leap seconds are ignored, as in Unix time.
    """
    try:
        return _read(data)
    except (ValueError, IndexError):
        return None


def _read(data: bytes) -> Rules:
    sizes, begin = _sizes(data, 0), _HEADER
    if data[4] == 0:
        return _block(data, begin, sizes, 4, "")
    if data[4] < _VERSION_2:
        raise ValueError("an unknown version")
    begin += _size(sizes, 4)
    sizes, begin = _sizes(data, begin), begin + _HEADER
    before, footer, _ = data[begin + _size(sizes, 8) :].split(b"\n", 2)
    if before:
        raise ValueError("no footer")
    return _block(data, begin, sizes, 8, footer.decode("ascii"))


def _sizes(data: bytes, at: int) -> Sequence[int]:
    """Return the six counts of the header at an index: UT, standard, leap, times, types, chars."""
    if data[at : at + 4] != b"TZif" or len(data) < at + _HEADER:
        raise ValueError("no header")
    return _numbers(data[at + 20 : at + _HEADER], "I")


def _size(sizes: Sequence[int], width: int) -> int:
    """Return the bytes of a block whose times have so many bytes."""
    ut, standard, leaps, times, types, characters = sizes
    return times * (width + 1) + types * _TYPE + characters + leaps * (width + 4) + standard + ut


def _block(data: bytes, begin: int, sizes: Sequence[int], width: int, footer: str) -> Rules:
    if begin + _size(sizes, width) > len(data):
        raise ValueError("a truncated block")
    _, _, _, count, types, characters = sizes
    kinds_begin = begin + count * width
    types_begin = kinds_begin + count
    names_begin = types_begin + types * _TYPE
    times = _numbers(data[begin:kinds_begin], "i" if width == 4 else "q")
    kinds = data[kinds_begin:types_begin]
    names = data[names_begin : names_begin + characters].decode("ascii")
    states = [_state(data, at, names) for at in range(types_begin, names_begin, _TYPE)]
    if max(kinds, default=0) >= types or not all(map(lt, times, times[1:])):
        raise ValueError("an unknown type, or times out of order")
    return Rules(
        times, kinds, states, parse(footer) if footer else states[kinds[-1] if kinds else 0]
    )


def _numbers(data: bytes, code: Code) -> Sequence[int]:
    """View big-endian integers as numbers, by their code in the module `struct`."""
    if sys.byteorder == "big":
        return memoryview(data).cast(code)
    return memoryview(data[::-1]).cast(code)[::-1]


def _state(data: bytes, at: int, names: str) -> State:
    offset = int.from_bytes(data[at : at + 4], signed=True)
    name = names[data[at + 5] : names.index("\0", data[at + 5])]
    if not (-DAY < offset < DAY and ABBREVIATION.issuperset(name)):
        raise ValueError("an offset or an abbreviation out of range")
    return offset, bool(data[at + 4]), name
