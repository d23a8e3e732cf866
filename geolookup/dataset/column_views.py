"""Columns of mapped files that are decoded by item: dictionaries, lists, bits, nullable values."""

from __future__ import annotations

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class EncodedColumn:
    """A dictionary column of integers: a sequence, decoded by item."""

    __slots__ = ("indices", "values")

    def __init__(self, indices: memoryview, values: memoryview) -> None:
        self.indices, self.values = indices, values

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return map(self.values.__getitem__, self.indices)

    def __getitem__(self, row: int) -> int:
        value: int = self.values[self.indices[row]]
        return value


class Words:
    """A dictionary column of texts: UTF-8, decoded by item."""

    __slots__ = ("_data", "_indices", "_offsets")

    def __init__(self, indices: memoryview, offsets: memoryview, data: memoryview) -> None:
        self._indices, self._offsets, self._data = indices, offsets, data

    def __getitem__(self, row: int) -> str:
        at = self._indices[row]
        return str(self._data[self._offsets[at] : self._offsets[at + 1]], "utf-8")


class Lists:
    """A column of lists of texts: UTF-8, decoded by item."""

    __slots__ = ("_begins", "_data", "_offsets")

    def __init__(self, begins: memoryview, offsets: memoryview, data: memoryview) -> None:
        self._begins, self._offsets, self._data = begins, offsets, data

    def __getitem__(self, row: int) -> list[str]:
        # Begins 0 2 2: the first list has the texts 0 and 1, the second none.
        return [
            str(self._data[self._offsets[at] : self._offsets[at + 1]], "utf-8")
            for at in range(self._begins[row], self._begins[row + 1])
        ]


class Bits:
    """A column of Booleans: eight in a byte, the first in its lowest bit."""

    __slots__ = ("_bits",)

    def __init__(self, bits: memoryview) -> None:
        self._bits = bits

    def __getitem__(self, row: int) -> bool:
        # Row 10 is bit 2 of byte 1.
        return bool(self._bits[row >> 3] >> (row & 7) & 1)


class Nullable:
    """A column with nulls: one bit for each value, 1 if it is known."""

    __slots__ = ("_valid", "_values")

    def __init__(
        self,
        valid: Bits | None,
        values: memoryview[int] | memoryview[float] | Words | Lists | Bits,
    ) -> None:
        self._valid, self._values = valid, values  # None: all are known

    def __getitem__(self, row: int) -> Any:
        if self._valid is not None and not self._valid[row]:
            return None
        return self._values[row]
