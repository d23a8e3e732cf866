"""The parts of a file, by what the manifest says of it: numbers, texts, and the bytes between.

A manifest may come with a hostile archive. Each part lies in the file and no two overlap, so the
work and the memory for all parts are bounded by the size of the file, whatever a patch says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.archives.delta.streams import PatchError
from geolookup.dataset.manifest import BufferDescription, FileDescription

Bytes = NDArray[np.uint8]
Unsigned = NDArray[Any]
UNSIGNED: dict[int, type[np.unsignedinteger[Any]]] = {
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
class Place:
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

    place: Place
    width: int
    count: int
    by_row: bool

    def of(self, whole: Bytes) -> Unsigned:
        """Return a view of its numbers, of a file."""
        return self.place.of(whole).view(UNSIGNED[self.width])


@dataclass(frozen=True, slots=True)
class Texts:
    """Offsets and bytes of ``count`` texts; ``by_row``: one for each table row."""

    offsets: Place
    data: Place
    count: int
    by_row: bool


Part = Numbers | Texts


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a file by name, the places between them, and how many rows its table has."""

    size: int
    rows: int
    named: dict[str, Part]
    frame: tuple[Place, ...]


#: Those of a file that is not there.
NONE = Parts(0, 0, {}, ())


def parts_of(described: FileDescription) -> Parts:
    """Return the parts of a file; PatchError for a description that fits no file."""
    size, rows, columns = described.bytes, described.rows, described.columns
    # Each row takes a byte or more in any file.
    if not size or type(rows) is not int or not 0 <= rows <= size or columns is None:
        raise PatchError("the manifest does not describe the file")
    named: dict[str, Part] = {}
    for name, column in columns.items():
        named |= _column(name, column, rows, size)
    return Parts(size, rows, named, tuple(_between(named, size)))


def _column(
    name: str, column: BufferDescription, rows: int, size: int
) -> Iterator[tuple[str, Part]]:
    yield from _values(name, _stored(column), _places(column, size), rows, by_row=True)
    if column.dictionary.stated is not None:
        values = column.dictionary
        count = values.stated.get("length") if isinstance(values.stated, dict) else None
        if type(count) is not int or not 0 <= count <= size:
            raise PatchError("the manifest does not describe the values of a column")
        places = _places(values, size)
        yield from _values(f"{name}/{_DICTIONARY}", values.type, places, count, by_row=False)


def _stored(column: BufferDescription) -> object:
    """Return the type of the values in the buffers: of a dictionary column, that of its indices."""
    kind = column.type
    if not isinstance(kind, str) or not kind.startswith(_DICTIONARY):
        return kind
    return kind.rpartition("indices=")[2].partition(",")[0]


def _places(column: BufferDescription, size: int) -> list[Place | None]:
    """Return the place of each buffer, None for one that is absent."""
    buffers = column.stated.get("buffers") if isinstance(column.stated, dict) else None
    if not isinstance(buffers, list):
        raise PatchError("the manifest does not describe the buffers of a column")
    found = []
    for number, stated in enumerate(buffers):
        place = column.buffer(number)
        if (place is None) != (stated is None):
            raise PatchError("the manifest does not describe a buffer")
        if place is not None and not 0 <= place[0] <= place[0] + place[1] <= size:
            raise PatchError("a buffer lies outside the file")
        found.append(None if place is None else Place(*place))
    return found


def _values(
    name: str, kind: object, places: list[Place | None], count: int, *, by_row: bool
) -> Iterator[tuple[str, Part]]:
    """Yield the part that holds the values, and each other buffer as bytes."""
    width = _WIDTHS.get(kind) if isinstance(kind, str) else None
    others = places
    match places:
        case [validity, Place() as values] if width and values.length == width * count:
            yield name, Numbers(values, width, count, by_row)
            others = [validity]
        case [validity, Place() as offsets, Place() as data] if (
            kind == "string" and offsets.length == _OFFSET * (count + 1)
        ):
            yield name, Texts(offsets, data, count, by_row)
            others = [validity]
    for number, place in enumerate(others):
        if place is not None and place.length:
            yield f"{name}/{number}", Numbers(place, 1, place.length, by_row=False)


def _between(named: dict[str, Part], size: int) -> Iterator[Place]:
    """Yield the places that belong to no part; PatchError where parts overlap."""
    taken = sorted(_taken(named), key=lambda place: (place.offset, place.length))
    ends = [0, *(place.offset + place.length for place in taken)]
    begins = [*(place.offset for place in taken), size]
    for end, begin in zip(ends, begins, strict=True):
        if begin < end:
            raise PatchError("the buffers of a file overlap")
        if end < begin:
            yield Place(end, begin - end)


def _taken(named: dict[str, Part]) -> Iterator[Place]:
    for part in named.values():
        places = [part.place] if isinstance(part, Numbers) else [part.offsets, part.data]
        yield from (place for place in places if place.length)
