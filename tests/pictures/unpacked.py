"""A map unpacked in Python, by what ``packing`` states; ``unpack.js`` does the same in a page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from geolookup.pictures.deflate import inflated


def _reader(streams: list[str]) -> list[Iterator[int]]:
    return [iter(inflated(each)) for each in streams]


class _Numbers:
    def __init__(self, column: dict[str, Any]) -> None:
        self._back, self._common = column["back"], column["common"]
        self._streams = _reader(column["symbols"])
        planes = [inflated(each) for each in column["rest"]]
        self._rest = iter([int.from_bytes(each, "little") for each in zip(*planes, strict=True)])
        self._found: list[int] = []
        self._symbol = 0

    def next(self, context: int | None = None) -> int:
        if context is None:
            context = min(self._symbol, self._back + 1)
        self._symbol = symbol = next(self._streams[context])
        if symbol > self._back:
            number = self._common[symbol - self._back - 1]
        else:
            number = self._found[-symbol - 1] if symbol else next(self._rest)
        self._found.append(number)
        return int(number)


def unpacked(packed: dict[str, Any]) -> tuple[list[int], list[list[int]]]:
    """Return the first cells of the ranges, and the labels of the ranges in each view."""
    lengths = _Numbers(packed["lengths"])
    starts = [0]
    for _ in range(packed["ranges"] - 1):
        cell = starts[-1]
        starts.append(cell + lengths.next((cell & -cell).bit_length() - 1 if cell else 0))
    planes = [_changes(each, packed["ranges"]) for each in packed["changed"]]
    bits = itertools.count()
    values: list[list[int]] = []
    for view in packed["views"]:
        if "follows" in view:
            values.append([view["table"][value] for value in values[view["follows"]]])
        else:
            bit = next(bits)
            values.append(_values(view["values"], [p >> bit % 8 & 1 for p in planes[bit // 8]]))
    return starts, values


def _changes(streams: list[str], count: int) -> list[int]:
    reader, found = _reader(streams), [0]
    for _ in range(count):
        found.append(next(reader[found[-1]]))
    return found[1:]


def _values(column: dict[str, Any], changes: list[int]) -> list[int]:
    numbers, found = _Numbers(column), [0]
    for changed in changes:
        found.append(numbers.next() if changed else found[-1])
    return found[1:]
