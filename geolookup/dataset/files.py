"""A dataset directory as mapped memory: opened in constant time, trusted in nothing.

Strategy: the manifest says where each buffer lies; the files are mapped and
the buffers become views, without Arrow and without reading them. What the
views hold is checked when it is used: an index by the bounds of what it
points into, a row's JSON texts by their checksum, once.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right
from itertools import pairwise

from geolookup.contract import fields
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.rows import Texts
from geolookup.errors import REBUILD, DatasetError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from geolookup.dataset.manifest import BufferDescription, FileDescription

_WIDTH: dict[str, tuple[Literal["B", "H", "I", "Q"], int]] = {
    "uint8": ("B", 1),
    "uint16": ("H", 2),
    "uint32": ("I", 4),
    "uint64": ("Q", 8),
}


class Encoded:
    """A dictionary column of integers: the sequence of what its ``indices`` find in ``values``."""

    __slots__ = ("indices", "values")

    def __init__(self, indices: memoryview, values: memoryview) -> None:
        self.indices, self.values = indices, values

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return map(self.values.__getitem__, self.indices)

    def __getitem__(self, row: int) -> int:
        found: int = self.values[self.indices[row]]
        return found


class Dataset:
    """The columns of an open dataset that answer single lookups, as views of mapped files."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.manifest = read_manifest(self.path)
        self._files: dict[str, _File] = {}
        jump = self._file(fmt.IPV4_JUMP)
        self.jump = jump.view("interval", "uint32")
        self.jump_shift = 32 - _jump_bits(jump.path, len(self.jump))
        ipv4, ipv6 = self._file(fmt.IPV4), self._file(fmt.IPV6)
        self.ipv4_starts = ipv4.view("start", "uint32")
        self.ipv4_locations = ipv4.view("location", "uint32")
        self.ipv4_networks = ipv4.view("network", "uint32")
        self.ipv6_highs = ipv6.view("start_high", "uint64")
        self.ipv6_lows = ipv6.encoded("start_low", "uint64")
        self.ipv6_locations = ipv6.view("location", "uint32")
        self.ipv6_networks = ipv6.view("network", "uint32")
        self.ipv6_sparse = self._file(fmt.IPV6_SPARSE_INDEX).view("start_high", "uint64")
        location = self._file(fmt.LOCATION)
        self.location_countries = location.view("country", "uint16")
        self.location_zones = location.view("zone", "uint16")
        self.locations = location.texts(len(fields.in_table(fields.LOCATION)))
        self.networks = self._file(fmt.NETWORK).texts(len(fields.in_table(fields.NETWORK)))
        self.countries = self._file(fmt.COUNTRY).texts(len(fields.in_table(fields.COUNTRY)))
        self._zones = self._file(fmt.ZONE)
        self._provenance: dict[int, Provenance] = {}
        self._beside: dict[str, _File] = {}

    def _file(self, name: str) -> _File:
        path = os.path.join(self.path, name)
        found = self._files[name] = _File(path, self.manifest.file(name))
        return found

    def mapped(self, name: str) -> memoryview:
        """Return one of the files that answers come from, whole, as it was when opened."""
        return self._files[name].whole

    def zones(self) -> list[str | None]:
        """Return the zone names by row; row 0 is None."""
        offsets, data = self._zones.strings("zone")
        try:
            names = [str(data[begin:end], "utf-8") for begin, end in pairwise(offsets)]
        except UnicodeDecodeError:
            raise DatasetError(self._zones.path, "a zone name is not UTF-8", REBUILD) from None
        return [None, *names[1:]]

    def provenance(self, family: int) -> Provenance:
        """Return which source decided what; mapped when it is first asked for.

        Raises DatasetError where another dataset has taken this one's place.
        """
        if family not in self._provenance:
            self._provenance[family] = Provenance(self.beside(fmt.PROVENANCE[family]), family)
        return self._provenance[family]

    def beside(self, name: str) -> _File:
        """Return a file that no lookup needs; mapped when it is first asked for.

        Raises DatasetError where another dataset has taken this one's place.
        """
        if name not in self._beside:
            file = self._file(name)
            # Looked at behind the mapping, so that nothing can come in between.
            if read_manifest(self.path).generation != self.manifest.generation:
                problem = "replaced by another dataset since it was opened"
                raise DatasetError(self.path, problem, "open it again")
            self._beside[name] = file
        return self._beside[name]


class Provenance:
    """The intervals of one family, each with the number of the source that decided each layer."""

    __slots__ = ("_family", "_highs", "_lows", "layers", "path")

    def __init__(self, file: _File, family: int) -> None:
        self.path = file.path
        self._family = family
        self._lows: memoryview | Encoded
        if family == 4:
            self._lows = self._highs = file.view("start", "uint32")
        else:
            self._lows = file.encoded("start_low", "uint64")
            self._highs = file.view("start_high", "uint64")
        nobody = memoryview(bytes(len(self._lows)))
        self.layers = {
            layer: file.view(layer, "uint8") if layer in file else nobody for layer in fields.LAYERS
        }
        columns = (self._lows, self._highs, *self.layers.values())
        if len({len(each) for each in columns}) > 1:
            raise DatasetError(self.path, "the columns differ in length", REBUILD)

    def __len__(self) -> int:
        return len(self._lows)

    def start(self, interval: int) -> int:
        """Return the first address of an interval."""
        try:
            low: int = self._lows[interval]
        except IndexError:
            problem = "an index leads outside its table"
            raise DatasetError(self.path, problem, REBUILD) from None
        return low if self._family == 4 else self._highs[interval] << 64 | low

    def interval(self, value: int) -> int:
        """Return the interval that holds an address."""
        found = bisect_right(range(len(self)), value, key=self.start) - 1
        if found < 0:
            raise DatasetError(self.path, "the first interval does not begin at 0", REBUILD)
        return found


def _jump_bits(path: str, entries: int) -> int:
    bits = (entries - 1).bit_length() - 1
    least, most = fmt.JUMP_BITS
    if entries != (1 << bits) + 1 or not least <= bits <= most:
        raise DatasetError(path, f"{entries} entries are no jump table", REBUILD)
    return bits


class _File:
    """One mapped file and what the manifest says of its columns."""

    def __init__(self, path: str, described: FileDescription | None) -> None:
        self.path = path
        if described is None or described.bytes is None:
            raise DatasetError(path, "the manifest does not describe it", REBUILD)
        self._described = described
        self.whole = _mapped(path, described.bytes)

    def __contains__(self, column: str) -> bool:
        return self._described.column(column) is not None

    def view(self, column: str, kind: str) -> memoryview:
        """Return a column of fixed-width integers."""
        return self._numbers(self._column(column, kind), *_WIDTH[kind])

    def encoded(self, column: str, kind: str) -> Encoded:
        """Return a dictionary column of integers, whatever the width of its indices."""
        described = self._described.column(column)
        for index in fmt.INDICES:
            wanted = fmt.dictionary_type(kind, index)
            if described is not None and described.type == wanted:
                values = self._numbers(described.dictionary, *_WIDTH[kind])
                # Without their sign, so that none counts from the end.
                return Encoded(self._numbers(described, *_WIDTH[f"u{index}"]), values)
        raise DatasetError(self.path, f"no column {column} of distinct {kind}", REBUILD)

    def _numbers(
        self, described: BufferDescription, code: Literal["B", "H", "I", "Q"], width: int
    ) -> memoryview:
        data = self._buffer(described, 1)
        return data[: len(data) // width * width].cast(code)

    def strings(self, column: str) -> tuple[memoryview, memoryview]:
        """Return offsets and bytes of a string column."""
        described = self._column(column, "string")
        offsets = self._buffer(described, 1)
        return offsets[: len(offsets) // 4 * 4].cast("i"), self._buffer(described, 2)

    def texts(self, members: int) -> Texts:
        """Return the JSON texts of this table's rows, so many members each."""
        return Texts(self.path, *self.strings("json"), self.view("json_crc32", "uint32"), members)

    def _column(self, name: str, kind: str) -> BufferDescription:
        described = self._described.column(name)
        if described is None or described.type != kind:
            raise DatasetError(self.path, f"no column {name} of type {kind}", REBUILD)
        return described

    def _buffer(self, described: BufferDescription, number: int) -> memoryview:
        place = described.buffer(number)
        if place is None:
            raise DatasetError(self.path, "a buffer is not described", REBUILD)
        offset, length = place
        if offset < 0 or length < 0 or offset % 8 or offset + length > len(self.whole):
            raise DatasetError(self.path, "a buffer lies outside the file", REBUILD)
        return self.whole[offset : offset + length]


def _mapped(path: str, size: int) -> memoryview:
    try:
        with open(path, "rb", buffering=0) as stream:
            actual = os.fstat(stream.fileno()).st_size
            if actual != size:
                problem = f"{actual} bytes, but the manifest says {size}"
                raise DatasetError(path, problem, REBUILD)
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        raise DatasetError(path, "missing", REBUILD) from None
    except (OSError, ValueError) as error:
        raise DatasetError(path, f"cannot be mapped ({error})", "check its permissions") from error
