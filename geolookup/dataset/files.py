"""A dataset directory as mapped memory: opened in constant time, trusted in nothing.

Strategy: the manifest says where each buffer lies; the files are mapped and the buffers become
views, without Arrow and without reading them. Whoever reads an index compares it with the bounds of
its target.
"""

from __future__ import annotations

import errno
import mmap
import os
from bisect import bisect_left, bisect_right
from itertools import pairwise

from geolookup.contract import fields
from geolookup.contract.address import MAX
from geolookup.contract.schema import CONTRACT, Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.column_views import Bits, EncodedColumn, Lists, Nullable, Words
from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.rows import Texts
from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import check_regular

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Literal

    from geolookup.dataset.manifest import BufferDescription, FileDescription
    from geolookup.dataset.provenance import Provenance

    Code = Literal["B", "H", "I", "Q", "i", "q"]

#: The code in ``struct`` and the bytes of each type of integers.
_WIDTH: dict[str, tuple[Code, int]] = {
    "uint8": ("B", 1),
    "uint16": ("H", 2),
    "uint32": ("I", 4),
    "uint64": ("Q", 8),
    "int32": ("i", 4),
    "int64": ("q", 8),
}
_LOW = (1 << 64) - 1


class Dataset:
    """The columns of an open dataset that answer single lookups, as views of mapped files."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.manifest = read_manifest(self.path)
        self.generation = self.manifest.generation  # the service reads it for each request
        self.schema = self.manifest.schema
        self.serial = 0  # of the signature, if trusted keys are asked for one
        self._files: dict[str, File] = {}
        jump = self._file(fmt.IPV4_JUMP)
        self.jump = jump.view("interval", "uint32")
        # 65,537 entries are 16 bits: bucket = address >> 16.
        self.jump_shift = 32 - _jump_bits(jump.path, len(self.jump))
        ipv4, ipv6 = self._file(fmt.IPV4), self._file(fmt.IPV6)
        self.ipv4_starts = ipv4.view("start", "uint32")
        self.ipv4_locations = ipv4.view("location", "uint32")
        self.ipv4_networks = ipv4.view("network", "uint32")
        self.ipv6_highs = ipv6.view("start_high", "uint64")
        self.ipv6_lows = ipv6.encoded_column("start_low", "uint64")
        self.ipv6_locations = ipv6.view("location", "uint32")
        self.ipv6_networks = ipv6.view("network", "uint32")
        self.ipv6_sparse = self._file(fmt.IPV6_SPARSE_INDEX).view("start_high", "uint64")
        location = self._file(fmt.LOCATION)
        self.location_countries = location.view("country", "uint16")
        self.location_zones = location.view("zone", "uint16")
        self.locations = location.texts(fields.LOCATION)
        self.networks = self._file(fmt.NETWORK).texts(fields.NETWORK)
        self.countries = self._file(fmt.COUNTRY).texts(fields.COUNTRY)
        self._starts: dict[int, Starts] = {}
        #: rows of own columns, and their texts; None without own columns
        self.ipv4_own = self.ipv6_own = self.own_rows = None
        if self.schema.own:
            self.ipv4_own = ipv4.view(fields.OWN, "uint32")
            self.ipv6_own = ipv6.view(fields.OWN, "uint32")
            self.own_rows = self._file(fmt.OWN).texts(fields.OWN, self.schema)
            self.starts(4).check_lengths(self.ipv4_own)
            self.starts(6).check_lengths(self.ipv6_own)
        self._zones = self._file(fmt.ZONE)
        self._provenance: dict[int, Provenance] = {}
        self._beside: dict[str, File] = {}

    def row_columns(self, family: int) -> dict[str, memoryview]:
        """Return the row numbers of the intervals of a family, by the table that they refer to."""
        columns = {
            4: (self.ipv4_locations, self.ipv4_networks, self.ipv4_own),
            6: (self.ipv6_locations, self.ipv6_networks, self.ipv6_own),
        }[family]
        named = zip(fmt.ROW_TABLES, columns, strict=True)
        return {table: column for table, column in named if column is not None}

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of each table that intervals refer to."""
        named = zip(fmt.ROW_TABLES, (self.locations, self.networks, self.own_rows), strict=True)
        return {table: len(texts) for table, texts in named if texts is not None}

    def _file(self, name: str) -> File:
        path = os.path.join(self.path, name)
        file = self._files[name] = File(path, self.manifest.file(name))
        return file

    def preload(self) -> None:
        """Read the files that lookups need into memory: no lookup waits for a disk."""
        for file in self._files.values():
            file.preload()

    def file_bytes(self, name: str) -> memoryview:
        """Return one of the files that answers come from, whole, in the state of its opening."""
        return self._files[name].whole

    def map_all(self) -> None:
        """Map the files that no lookup needs, too: another process may remove the folder."""
        for name in self.manifest.expected_files:
            if name not in self._files:
                self.beside(name)

    def zones(self) -> list[str | None]:
        """Return the zone names by row; row 0 is None."""
        offsets, data = self._zones.strings("zone")
        try:
            names = [str(data[begin:end], "utf-8") for begin, end in pairwise(offsets)]
        except UnicodeDecodeError:
            raise DatasetError(self._zones.path, "a zone name is not UTF-8", REBUILD) from None
        return [None, *names[1:]]

    def starts(self, family: int) -> Starts:
        """Return the first addresses of the intervals that answer."""
        if family not in self._starts:
            self._starts[family] = Starts(self._files[fmt.INTERVALS[family]], family)
        return self._starts[family]

    def provenance(self, family: int) -> Provenance:
        """Return which source decided what; mapped when it is first asked for.

        Raises DatasetError if another dataset has replaced this one.
        """
        if family not in self._provenance:
            from geolookup.dataset.provenance import Provenance

            file = self.beside(fmt.PROVENANCE[family])
            self._provenance[family] = Provenance(file, family, self.schema)
        return self._provenance[family]

    def beside(self, name: str) -> File:
        """Return a file that no lookup needs; mapped when it is first asked for.

        Raises DatasetError if another dataset has replaced this one.
        """
        if name not in self._beside:
            file = File(os.path.join(self.path, name), self.manifest.file(name))
            # Read after the mapping: no other dataset can be installed in between.
            if read_manifest(self.path).generation != self.manifest.generation:
                problem = "replaced by another dataset since it was opened"
                raise DatasetError(self.path, problem, "open it again")
            self._beside[name] = file
        return self._beside[name]


class Starts:
    """The first addresses of the intervals of one family, for one address at a time.

    An index outside a damaged column raises DatasetError. ``intervals`` has whole columns.
    """

    __slots__ = ("_count", "_path", "family", "highs", "lows")

    def __init__(self, file: File, family: int) -> None:
        self._path, self.family = file.path, family
        self.lows: memoryview | EncodedColumn
        if family == 4:
            self.lows = self.highs = file.view("start", "uint32")
        else:
            self.lows = file.encoded_column("start_low", "uint64")
            self.highs = file.view("start_high", "uint64")
        self._count = min(len(self.highs), len(self.lows))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, interval: int) -> int:
        """Return the first address of an interval."""
        try:
            low: int = self.lows[interval]
            return low if self.family == 4 else self.highs[interval] << 64 | low
        except IndexError:
            raise outside(self._path) from None

    def last(self, interval: int) -> int:
        """Return the last address of an interval."""
        after = interval + 1
        return MAX[self.family] if after == self._count else self[after] - 1

    def check_lengths(self, *columns: memoryview) -> None:
        """Raise DatasetError if a column beside the starts has more or fewer entries."""
        if len({len(column) for column in (self.highs, self.lows, *columns)}) > 1:
            raise DatasetError(self._path, "the columns differ in length", REBUILD)

    def holding(self, value: int, begin: int = 0, end: int | None = None) -> int:
        """Return the interval that holds an address, of those from ``begin`` to before ``end``.

        ``begin - 1`` if all of them start after it.
        """
        end = self._count if end is None else end
        if self.family == 4:
            return bisect_right(self.lows, value, begin, end) - 1
        high, low = value >> 64, value & _LOW
        # The intervals from ``first`` to before ``end`` begin in the /64 of the address; their low
        # halves ascend. If all are greater, or there is none, the one before them is returned:
        #
        #     highs   1  7  7  7  9        7:5 is in the interval that begins with 7:4
        #     lows    0  0  4  8  0        8:0 is in 7:8, where first = end = 4
        end = bisect_right(self.highs, high, begin, end)
        first = bisect_left(self.highs, high, begin, end)
        try:
            return bisect_right(self.lows, low, first, end) - 1
        except IndexError:
            raise outside(self._path) from None


def outside(path: str) -> DatasetError:
    """Return the error for a dataset with an index outside its table."""
    return DatasetError(path, "an index points outside its table", REBUILD)


def _jump_bits(path: str, entries: int) -> int:
    # 2^bits + 1 entries: one for each bucket, and the last interval.
    bits = (entries - 1).bit_length() - 1
    least, most = fmt.JUMP_BITS
    if not least <= bits <= most or entries != (1 << bits) + 1:
        raise DatasetError(path, f"{entries} entries are not a jump table", REBUILD)
    return bits


class File:
    """One mapped file and the manifest's entries of its columns."""

    def __init__(self, path: str, description: FileDescription | None) -> None:
        self.path = path
        if description is None or description.bytes is None:
            raise DatasetError(path, "the manifest does not describe it", REBUILD)
        self._description = description
        self._mapped = _map(path, description.bytes)
        self.whole = memoryview(self._mapped)

    def preload(self) -> None:
        """Read the file into memory, and map its pages in this process."""
        from zlib import crc32

        if hasattr(mmap, "MADV_WILLNEED"):  # reads ahead, while the next line waits for pages
            self._mapped.madvise(mmap.MADV_WILLNEED)
        crc32(self.whole)  # touches all pages, and lets other threads run meanwhile

    def __contains__(self, column: str) -> bool:
        return self._description.column(column) is not None

    def view(self, column: str, kind: str) -> memoryview:
        """Return a column of fixed-width integers."""
        return self._numbers(self._column(column, kind), *_WIDTH[kind])

    def encoded_column(self, column: str, kind: str) -> EncodedColumn:
        """Return a dictionary column of integers, whatever the width of its indices."""
        description, indices = self._indices(column, kind)
        return EncodedColumn(indices, self._numbers(description.dictionary, *_WIDTH[kind]))

    def _indices(self, column: str, kind: str) -> tuple[BufferDescription, memoryview]:
        description = self._description.column(column)
        for index in fmt.INDICES:
            index_type = fmt.dictionary_type(kind, index)
            if description is not None and description.type == index_type:
                # Without their sign: a negative index would count from the end.
                return description, self._numbers(description, *_WIDTH[f"u{index}"])
        raise DatasetError(self.path, f"no column {column} of distinct {kind}", REBUILD)

    def _numbers(self, description: BufferDescription, code: Code, width: int) -> memoryview:
        data = self._buffer(description, 1)
        # Arrow pads buffers: bytes that make no whole number are cut off.
        return data[: len(data) // width * width].cast(code)

    def nullable(self, column: str, kind: str) -> Nullable:
        """Return a column of numbers, Booleans, lists or distinct texts, some of them null."""
        values: memoryview[int] | memoryview[float] | Words | Lists | Bits
        if kind == fields.TEXT:
            description, indices = self._indices(column, kind)
            values = Words(indices, *self._texts(description.dictionary))
        else:
            description = self._column(column, kind)
            if kind == fields.TEXTS:
                # The buffers of the lists come before the buffers of their items.
                values = Lists(self._offsets(description, 1), *self._texts(description, 3))
            elif kind == fields.BOOLEAN:
                values = Bits(self._buffer(description, 1))
            elif kind == fields.REAL:
                values = self._numbers(description, "B", 8).cast("d")
            else:
                values = self._numbers(description, *_WIDTH[kind])
        absent = description.buffer(0) is None
        return Nullable(None if absent else Bits(self._buffer(description, 0)), values)

    def strings(self, column: str) -> tuple[memoryview, memoryview]:
        """Return offsets and bytes of a string column."""
        return self._texts(self._column(column, "string"))

    def _texts(
        self, description: BufferDescription, first: int = 1
    ) -> tuple[memoryview, memoryview]:
        """Return offsets and bytes of texts; ``first`` is the buffer of the offsets."""
        return self._offsets(description, first), self._buffer(description, first + 1)

    def _offsets(self, description: BufferDescription, number: int) -> memoryview:
        offsets = self._buffer(description, number)
        return offsets[: len(offsets) // 4 * 4].cast("i")

    def texts(self, table: str, schema: Schema = CONTRACT) -> Texts:
        """Return the JSON texts of the rows of a table, one of each field in a row."""
        columns, known_columns = self._description.columns, fmt.columns(fmt.TABLES[table], schema)
        if columns is not None and columns.keys() != known_columns.keys():
            names = ", ".join(sorted(columns.keys() ^ known_columns.keys()))
            raise DatasetError(self.path, f"built with other fields ({names})", REBUILD)
        return Texts(self.path, *self.strings("json"), schema.in_table(table))

    def _column(self, name: str, kind: str) -> BufferDescription:
        description = self._description.column(name)
        if description is None or description.type != kind:
            raise DatasetError(self.path, f"no column {name} of type {kind}", REBUILD)
        return description

    def _buffer(self, description: BufferDescription, number: int) -> memoryview:
        byte_range = description.buffer(number)
        if byte_range is None:
            raise DatasetError(self.path, "a buffer is not described", REBUILD)
        offset, length = byte_range
        # ``cast`` needs no alignment, but pointers of the compiled kernel do.
        if offset < 0 or length < 0 or offset % 8 or offset + length > len(self.whole):
            raise DatasetError(self.path, "a buffer lies outside the file", REBUILD)
        return self.whole[offset : offset + length]


def _map(path: str, size: int) -> mmap.mmap:
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


def _check_size(path: str, actual: int, size: int) -> None:
    if actual != size:
        raise DatasetError(path, f"{actual} bytes, but the manifest says {size}", REBUILD)
