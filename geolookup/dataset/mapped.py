"""A file of a dataset as mapped memory: its columns are views, found by the manifest's offsets.

Arrow is not imported, and nothing is read. A view ends where its buffer ends, so an index outside
it raises IndexError; a buffer outside its file raises DatasetError.
"""

from __future__ import annotations

import errno
import mmap

from geolookup.contract.schema import CONTRACT, Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.rows import Texts
from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import check_regular

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal

    from geolookup.dataset.manifest import Entry

    Code = Literal["B", "H", "I", "Q", "i"]

#: The code in ``struct`` and the bytes of each type of integers.
_WIDTH: dict[str, tuple[Code, int]] = {
    "uint8": ("B", 1),
    "uint16": ("H", 2),
    "uint32": ("I", 4),
    "uint64": ("Q", 8),
    "int32": ("i", 4),
}


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


class File:
    """A mapped file; ``entry`` is its entry in the manifest, which may be malformed."""

    def __init__(self, path: str, entry: Entry) -> None:
        self.path = path
        columns = entry.get("columns")
        self._columns: dict[str, Any] = columns if isinstance(columns, dict) else {}
        self._mapped = _map(path, entry.get("bytes"))
        self.whole = memoryview(self._mapped)

    def preload(self) -> None:
        """Read the file into memory, and map its pages in this process."""
        from zlib import crc32

        if hasattr(mmap, "MADV_WILLNEED"):  # reads ahead, while the next line waits for pages
            self._mapped.madvise(mmap.MADV_WILLNEED)
        crc32(self.whole)  # touches all pages, and lets other threads run meanwhile

    def __contains__(self, column: str) -> bool:
        return column in self._columns

    def view(self, column: str, kind: str) -> memoryview:
        """Return a column of fixed-width integers."""
        return self._numbers(self._column(column, kind), kind)

    def encoded_column(self, column: str, kind: str) -> EncodedColumn:
        """Return a dictionary column of integers, whatever the width of its indices."""
        described = self._columns.get(column)
        for index in fmt.INDICES:
            if isinstance(described, dict) and described.get("type") == fmt.dictionary_type(
                kind, index
            ):
                # Without their sign: a negative index would count from the end.
                indices = self._numbers(described, f"u{index}")
                return EncodedColumn(indices, self._numbers(described.get("dictionary"), kind))
        raise DatasetError(self.path, f"no column {column} of distinct {kind}", REBUILD)

    def strings(self, column: str) -> tuple[memoryview, memoryview]:
        """Return offsets and bytes of a string column."""
        described = self._column(column, "string")
        return self._numbers(described, "int32"), self._buffer(described, 2)

    def texts(self, table: str, schema: Schema = CONTRACT) -> Texts:
        """Return the JSON texts of the rows of a table, one of each field in a row."""
        expected = fmt.columns(fmt.TABLES[table], schema)
        if self._columns.keys() != expected.keys():
            names = ", ".join(sorted(self._columns.keys() ^ expected.keys()))
            raise DatasetError(self.path, f"built with other fields ({names})", REBUILD)
        return Texts(self.path, *self.strings("json"), schema.in_table(table))

    def _column(self, name: str, kind: str) -> Any:
        described = self._columns.get(name)
        if not isinstance(described, dict) or described.get("type") != kind:
            raise DatasetError(self.path, f"no column {name} of type {kind}", REBUILD)
        return described

    def _numbers(self, described: Any, kind: str) -> memoryview:
        code, width = _WIDTH[kind]
        data = self._buffer(described, 1)
        # Arrow pads buffers: bytes that make no whole number are cut off.
        return data[: len(data) // width * width].cast(code)

    def _buffer(self, described: Any, number: int) -> memoryview:
        try:
            offset, length = map(int, described["buffers"][number])
        except (TypeError, KeyError, IndexError, ValueError, OverflowError):
            raise DatasetError(self.path, "a buffer is not described", REBUILD) from None
        # ``cast`` needs no alignment, but pointers of the compiled kernel do.
        if offset < 0 or length < 0 or offset % 8 or offset + length > len(self.whole):
            raise DatasetError(self.path, "a buffer lies outside the file", REBUILD)
        return self.whole[offset : offset + length]


def _map(path: str, size: object) -> mmap.mmap:
    if size is None:
        raise DatasetError(path, "the manifest does not describe it", REBUILD)
    try:
        _check_size(path, check_regular(path).st_size, size)
        with open(path, "rb", buffering=0) as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        _check_size(path, len(mapped), size)  # another process can replace it meanwhile
    except FileNotFoundError:
        raise DatasetError(path, "missing", REBUILD) from None
    except (OSError, ValueError) as error:
        # ENOMEM: no memory, or no address space.
        is_full = getattr(error, "errno", None) == errno.ENOMEM
        remedy = "free memory" if is_full else "check its permissions"
        raise DatasetError(path, f"cannot be mapped ({error})", remedy) from error
    return mapped


def _check_size(path: str, actual: int, size: object) -> None:
    if actual != size:
        raise DatasetError(path, f"{actual} bytes, but the manifest says {size!r}", REBUILD)
