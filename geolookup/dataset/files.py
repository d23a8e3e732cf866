"""A dataset directory as mapped memory: opened in constant time, each bound checked at its use.

Strategy: the manifest says where each buffer lies; the files are mapped and the buffers become
views, without Arrow and without reading them. Whoever reads an index compares it with the bounds of
its target.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import pairwise

from geolookup.contract import fields
from geolookup.contract.address import MAX
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.mapped import EncodedColumn, File
from geolookup.errors import REBUILD, DatasetError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from geolookup.dataset.intervals import I64, Addresses
    from geolookup.dataset.provenance import Provenance

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
        bits = fmt.jump_bits(len(self.jump))
        if bits is None:
            raise DatasetError(jump.path, f"{len(self.jump)} entries are not a jump table", REBUILD)
        self.jump_shift = 32 - bits  # 65,537 entries are 16 bits: bucket = address >> 16
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
        for name in self.manifest.files:
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

    def take(self, intervals: slice | I64) -> Addresses:
        """Return the first addresses of some intervals as arrays."""
        from geolookup.dataset.intervals import Addresses  # imports numpy

        highs, *encoded = self._arrays
        if not encoded:
            return Addresses(highs[intervals])
        indices, values = encoded
        lows = indices[intervals]
        if len(lows) and lows.max() >= len(values):
            raise outside(self._path)
        return Addresses(values[lows], highs[intervals])

    @cached_property
    def _arrays(self) -> list[NDArray[Any]]:
        import numpy as np  # not for single lookups

        lows = self.lows
        encoded = (lows.indices, lows.values) if isinstance(lows, EncodedColumn) else ()
        return [*map(np.asarray, (self.highs, *encoded))]

    def ends(self, interval: int) -> tuple[int, int]:
        """Return the first and last address of an interval."""
        first, after = self[interval], interval + 1
        last = MAX[self.family] if after == self._count else self[after] - 1
        if last < first:
            raise DatasetError(self._path, "the intervals are out of order", REBUILD)
        return first, last

    def check_lengths(self, *columns: memoryview) -> None:
        """Raise DatasetError if a column beside the starts has more or fewer entries."""
        if len({len(column) for column in (self.highs, self.lows, *columns)}) > 1:
            raise DatasetError(self._path, "the columns differ in length", REBUILD)

    def interval(self, value: int) -> int:
        """Return the interval that holds an address."""
        interval = self.holding(value)
        if interval < 0:
            raise DatasetError(self._path, "the first interval does not begin at 0", REBUILD)
        return interval

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
