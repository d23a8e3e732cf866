"""The parts of a file, by its entry in the manifest: numbers, texts, and the bytes between.

A manifest may come with a hostile archive. Each part lies in the file and no two overlap, so the
work and the memory for all parts are bounded by the size of the file, whatever a patch states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.archives.delta.streams import PatchError
from geolookup.dataset.manifest import BufferDescription, FileDescription

Bytes = NDArray[np.uint8]
Unsigned = NDArray[Any]
_UNSIGNED: dict[int, type[np.unsignedinteger[Any]]] = {
    1: np.uint8,
    2: np.uint16,
    4: np.uint32,
    8: np.uint64,
}
_WIDTHS = {"uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "double": 8} | {
    f"int{bits}": bits // 8 for bits in (8, 16, 32, 64)
}
_OFFSET = 4
_DICTIONARY = "dictionary"


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Offset and length in bytes."""

    offset: int
    length: int

    def of(self, whole: Bytes) -> Bytes:
        """Return its bytes of a file."""
        return whole[self.offset : self.offset + self.length]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A buffer of ``count`` numbers, each of ``width`` bytes; ``by_row``: one for each table row.

    Floats are numbers too, by their bits; the bits of nulls are bytes.
    """

    byte_range: ByteRange
    width: int
    count: int
    by_row: bool

    @property
    def ranges(self) -> tuple[ByteRange, ...]:
        """Where its buffers are."""
        return (self.byte_range,)

    def of(self, whole: Bytes) -> Unsigned:
        """Return a view of its numbers, of a file."""
        return self.byte_range.of(whole).view(_UNSIGNED[self.width])

    def none(self) -> Unsigned:
        """Return no numbers of this width."""
        return np.zeros(0, _UNSIGNED[self.width])


@dataclass(frozen=True, slots=True)
class TextColumn:
    """``offsets`` (n + 1,) of n texts, int32, and their bytes: views of a file."""

    offsets: NDArray[np.int32]
    data: Bytes

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The bytes of each text."""
        return np.diff(self.offsets).astype(np.int64)

    def array(self) -> pa.BinaryArray:
        """Return the texts as Arrow has them; PatchError if bytes lie between them."""
        plain = self.offsets[0] == 0 and self.offsets[-1] == len(self.data)
        if not plain or not (self.offsets[1:] >= self.offsets[:-1]).all():
            raise PatchError("a column of texts with other bytes between them")
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.binary(), len(self), buffers)


@dataclass(frozen=True, slots=True)
class Texts:
    """Offsets and bytes of ``count`` texts; ``by_row``: one for each table row."""

    offsets: ByteRange
    data: ByteRange
    count: int
    by_row: bool
    width: ClassVar[int] = 0  # unlike the width of any numbers

    @property
    def ranges(self) -> tuple[ByteRange, ...]:
        """Where its buffers are."""
        return self.offsets, self.data

    def of(self, whole: Bytes) -> TextColumn:
        """Return a view of its texts, of a file."""
        return TextColumn(self.offsets.of(whole).view(np.int32), self.data.of(whole))

    def none(self) -> TextColumn:
        """Return no texts."""
        return TextColumn(np.zeros(1, np.int32), np.zeros(0, np.uint8))


Part = Numbers | Texts


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a file by name, the ranges between them, and how many rows its table has."""

    size: int
    rows: int
    by_name: dict[str, Part]
    frame: tuple[ByteRange, ...]


#: The parts of a missing file.
NONE = Parts(0, 0, {}, ())


def parts_of(description: FileDescription) -> Parts:
    """Return the parts of a file; PatchError for a description that fits no file."""
    size, rows, columns = description.bytes, description.rows, description.columns
    # Each row takes a byte or more in any file.
    if not size or type(rows) is not int or not 0 <= rows <= size or columns is None:
        raise PatchError("the manifest does not describe the file")
    by_name: dict[str, Part] = {}
    for name, column in columns.items():
        by_name |= _column(name, column, rows, size)
    return Parts(size, rows, by_name, tuple(_between(by_name, size)))


def _column(
    name: str, column: BufferDescription, rows: int, size: int
) -> Iterator[tuple[str, Part]]:
    yield from _values(name, _buffer_type(column), _byte_ranges(column, size), rows, by_row=True)
    if column.dictionary.members is not None:
        values = column.dictionary
        count = values.members.get("length") if isinstance(values.members, dict) else None
        if type(count) is not int or not 0 <= count <= size:
            raise PatchError("the manifest does not describe the values of a column")
        ranges = _byte_ranges(values, size)
        yield from _values(f"{name}/{_DICTIONARY}", values.type, ranges, count, by_row=False)


def _buffer_type(column: BufferDescription) -> object:
    """Return the type of the buffered values: of a dictionary column, the type of its indices."""
    kind = column.type
    if not isinstance(kind, str) or not kind.startswith(_DICTIONARY):
        return kind
    # "dictionary<values=string, indices=int16, ordered=0>" gives "int16".
    return kind.rpartition("indices=")[2].partition(",")[0]


def _byte_ranges(column: BufferDescription, size: int) -> list[ByteRange | None]:
    """Return the byte range of each buffer, None for one that is absent."""
    buffers = column.members.get("buffers") if isinstance(column.members, dict) else None
    if not isinstance(buffers, list):
        raise PatchError("the manifest does not describe the buffers of a column")
    ranges = []
    for number, buffer in enumerate(buffers):
        pair = column.buffer(number)
        if (pair is None) != (buffer is None):
            raise PatchError("the manifest does not describe a buffer")
        if pair is not None and not 0 <= pair[0] <= pair[0] + pair[1] <= size:
            raise PatchError("a buffer lies outside the file")
        ranges.append(None if pair is None else ByteRange(*pair))
    return ranges


def _values(
    name: str, kind: object, ranges: list[ByteRange | None], count: int, *, by_row: bool
) -> Iterator[tuple[str, Part]]:
    """Yield the part that holds the values, and each other buffer as bytes."""
    width = _WIDTHS.get(kind) if isinstance(kind, str) else None
    others = ranges
    match ranges:
        # Arrow's layout: validity bits and numbers, or validity bits, offsets and bytes.
        case [validity, ByteRange() as values] if width and values.length == width * count:
            yield name, Numbers(values, width, count, by_row)
            others = [validity]
        case [validity, ByteRange() as offsets, ByteRange() as data] if (
            kind == "string" and offsets.length == _OFFSET * (count + 1)
        ):
            yield name, Texts(offsets, data, count, by_row)
            others = [validity]
    for number, byte_range in enumerate(others):
        if byte_range is not None and byte_range.length:
            yield f"{name}/{number}", Numbers(byte_range, 1, byte_range.length, by_row=False)


def _between(parts: dict[str, Part], size: int) -> Iterator[ByteRange]:
    """Yield the byte ranges that belong to no part; PatchError if parts overlap."""
    ranges = chain.from_iterable(part.ranges for part in parts.values())
    by_offset = sorted(
        (byte_range for byte_range in ranges if byte_range.length),
        key=lambda byte_range: (byte_range.offset, byte_range.length),
    )
    # |   frame   | part | frame | part | part |   frame   |
    # 0           begin  end     begin  end               size
    ends = [0, *(byte_range.offset + byte_range.length for byte_range in by_offset)]
    begins = [*(byte_range.offset for byte_range in by_offset), size]
    for end, begin in zip(ends, begins, strict=True):
        if begin < end:
            raise PatchError("the buffers of a file overlap")
        if end < begin:
            yield ByteRange(end, begin - end)
