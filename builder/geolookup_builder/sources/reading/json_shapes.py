"""The columns that JSON objects make: what their keys hold, and the Arrow type of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

_DEPTH = 40
#: ``bool`` before the numbers: it is an ``int``.
_TYPES = ((bool, pa.bool_()), (str, pa.string()), (int | float, pa.float64()))


class Shape:
    """What the first values of a key are: of one type, objects with members, or lists of items."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._type: pa.DataType | None = None
        self._members: dict[str, Shape] | None = None
        self._items: Shape | None = None

    def add(self, value: Any) -> None:
        """Note a value; null says nothing, and one of another kind than the first is ignored."""
        if self._depth > _DEPTH or value is None:
            return
        if isinstance(value, dict):
            self._add_members(value)
        elif isinstance(value, list):
            self._add_items(value)
        elif self._is_new():
            self._type = next(arrow for python, arrow in _TYPES if isinstance(value, python))

    def _is_new(self) -> bool:
        return self._type is None and self._members is None and self._items is None

    def _add_members(self, value: dict[str, Any]) -> None:
        if self._is_new():
            self._members = {}
        if self._members is not None:
            for key, each in value.items():
                self._members.setdefault(key, Shape(self._depth + 1)).add(each)

    def _add_items(self, value: list[Any]) -> None:
        if self._is_new():
            self._items = Shape(self._depth + 1)
        if self._items is not None:
            for each in value:
                self._items.add(each)

    def arrow_type(self) -> pa.DataType:
        """Return the type of a column of these values; text where there is none."""
        if self._members is not None:
            return pa.struct(list(self.columns()))
        if self._items is not None:
            return pa.list_(self._items.arrow_type())
        return self._type or pa.string()

    def columns(self) -> Iterator[pa.Field]:
        """Yield the members of objects as columns."""
        for key, each in (self._members or {}).items():
            if is_text(key):
                yield pa.field(key, each.arrow_type())


def is_text(found: str) -> bool:
    """Return whether a string of JSON has no lone surrogate, which no column can hold."""
    return found.isascii() or not any("\ud800" <= character <= "\udfff" for character in found)
