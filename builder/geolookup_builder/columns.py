"""The columns of a build: in memory as long as its budget says so, else in mapped files.

A step reads its columns in chunks of intervals, and appends to others. So it needs memory for a
few chunks, whatever the number of intervals. The chunks are the same in memory and in files, and
so are the results.

The files are beside the output and have no name: the system removes them with their last use,
however the build ends.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any
from weakref import WeakSet

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from geolookup.dataset.intervals import Addresses
from geolookup.dataset.runs import Codes, join_runs, run_starts
from geolookup.errors import BuildError, OutputError
from geolookup_builder.memory import MemoryBudget

#: Intervals of a chunk. Four times as many take no less time and 100 MB more.
CHUNK = 1 << 20
#: The column of deciding rows: 1 + the position of each.
ROW = ""
#: The columns of a partition by name.
Numbers = dict[str, NDArray[Any]]


class Columns:
    """Makes the columns of a build. ``in_files`` is set once memory does not hold them."""

    in_files = False

    def __init__(self, budget: MemoryBudget, output: Path) -> None:
        self.budget, self.output = budget, output
        self.written = 0  # bytes of all files
        self._files = list[IO[bytes]]()
        self._maps = WeakSet[mmap.mmap]()  # a map, and so its file, goes with its last column
        self._lock = Lock()  # families are written in a thread each

    def close(self) -> None:
        """Close the files that are being written. Mapped columns stay valid."""
        for file in self._files:
            with suppress(OSError):  # of a full disk
                file.close()

    def check_values(self, size: int, recipe: Path) -> None:
        """Raise BuildError if the distinct values, of so many bytes, exceed half of the memory."""
        if size > self.budget.values:
            problem = f"distinct values take {size:,} bytes of memory"
            limit = f"max_memory is {self.budget.limit:,}"
            raise BuildError(recipe, f"{problem}; {limit}", remedy="raise max_memory")

    def chunks(self, size: int) -> Iterator[slice]:
        """Yield the chunks of columns of that size; their pages are released after each."""
        for begin in range(0, size, CHUNK):
            yield slice(begin, min(begin + CHUNK, size))
            self.release()

    def looked_up(self, table: NDArray[Any], numbers: NDArray[np.integer]) -> NDArray[Any]:
        """Return ``table[numbers]``."""
        if not numbers.strides[0]:  # one value, as often as there are intervals
            return np.broadcast_to(table[numbers[0]], len(numbers))
        result = Column(self, table.dtype)
        for part in self.chunks(len(numbers)):
            result.append(table[numbers[part]])
        return result.finish()

    def joined(self, partition: Partition, change: Callable[[Numbers], Numbers]) -> Partition:
        """Return a partition whose columns are changed chunk by chunk; equal neighbours join."""
        result = JoinedIntervals(self)
        for part in self.chunks(len(partition.starts)):
            of_part = {name: column[part] for name, column in partition.numbers.items()}
            result.append(Partition(partition.starts[part], change(of_part)))
        return result.finish()

    def encoded(self, values: NDArray[Any]) -> tuple[Codes, pa.Array]:
        """Return the index of each value among the distinct ones, in order of appearance."""
        codes, known = Column(self, np.int32), pa.array(values[:0])
        for part in self.chunks(len(values)):
            local = pa.array(values[part]).dictionary_encode()
            # The known values come first: they keep their indices.
            joined = pa.concat_arrays([known, local.dictionary]).dictionary_encode()
            numbers = joined.indices.to_numpy()[len(known) :]
            codes.append(numbers[local.indices.to_numpy()])
            known = joined.dictionary
        return codes.finish(), known

    def create(self) -> IO[bytes]:
        """Return a new file."""
        file = TemporaryFile(dir=self.output.parent)  # noqa: SIM115 - `map` closes it
        self._files.append(file)
        return file

    def map(self, file: IO[bytes]) -> mmap.mmap:
        """Close a file, and return its bytes, mapped read-only."""
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        file.close()
        with self._lock:
            self._maps.add(mapped)
        return mapped

    @contextmanager
    def file_errors(self) -> Iterator[None]:
        """Turn an OSError, such as of a full disk, into an OutputError."""
        try:
            yield
        except OSError as error:
            problem = (
                f"ranges beyond max_memory need over {self.written:,} bytes beside it"
                f" ({error.strerror or error})"
            )
            raise OutputError(self.output, problem, "free space, or raise max_memory") from error

    def release(self) -> None:
        """Release the memory of mapped pages: limits count them. The next access maps them."""
        if hasattr(mmap, "MADV_DONTNEED"):
            with self._lock:
                maps = [*self._maps]
            for mapped in maps:
                mapped.madvise(mmap.MADV_DONTNEED)


class Column:
    """A column that is appended to, then read. Without another value, zeros take no memory."""

    def __init__(self, columns: Columns, kind: DTypeLike) -> None:
        self._columns, self._kind = columns, np.dtype(kind)
        self._parts: list[NDArray[Any]] = []
        self._is_zero = True
        self._file: IO[bytes] | None = None

    def append(self, values: NDArray[Any]) -> None:
        """Append values of the column's type."""
        is_zero = not values.any()
        self._is_zero &= is_zero
        self._parts.append(self._zeros(len(values)) if is_zero else values)
        if self._columns.in_files and not is_zero:
            with self._columns.file_errors():
                self._file = self._file or self._columns.create()
                self._write(self._file)

    def _zeros(self, size: int) -> NDArray[Any]:
        return np.broadcast_to(self._kind.type(0), size)

    def _write(self, file: IO[bytes]) -> None:
        for part in self._parts:
            for begin in range(0, len(part), CHUNK):
                file.write(np.ascontiguousarray(part[begin : begin + CHUNK]).data)
            self._columns.written += part.nbytes
        self._parts.clear()

    def finish(self) -> NDArray[Any]:
        """Return the whole column, read-only if it is in a file."""
        if self._file is not None:
            with self._columns.file_errors():
                self._write(self._file)
                return np.frombuffer(self._columns.map(self._file), self._kind)
        parts, self._parts = self._parts, []
        if self._is_zero:
            return self._zeros(sum(map(len, parts)))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class Partition:
    """A gap-free partition of a family with columns of numbers.

    For each interval, they are its tuple by layer while sources are overlaid, its row by table
    ("location", "network", perhaps "own") in a dataset, and by layer its source, from 1, in the
    provenance. 0 is unknown.
    """

    starts: Addresses
    numbers: Numbers

    def columns(self) -> list[NDArray[Any]]:
        """Return all columns; layers may share one."""
        return [*self.starts.columns(), *self.numbers.values()]

    def changed(
        self, starts: Addresses, change: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> Partition:
        """Return other starts and columns; layers that share an array share the result."""
        distinct = {id(codes): codes for codes in self.numbers.values()}
        results = {key: change(codes) for key, codes in distinct.items()}
        return Partition(starts, {name: results[id(of)] for name, of in self.numbers.items()})

    def joined(self) -> Partition:
        """Return the partition with equal neighbours joined."""
        return Partition(*join_runs(self.starts, self.numbers))


class JoinedIntervals:
    """A partition that is appended chunk by chunk; neighbours with equal numbers are joined."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._names, self._made = list[str](), list[Column]()
        self._last: list[Any] = []  # the last numbers of the chunk before

    def append(self, chunk: Partition) -> None:
        """Append a chunk."""
        numbers = chunk.numbers.values()
        keep = run_starts(*numbers)
        keep[0] = [column[0] for column in numbers] != self._last
        self._last = [column[-1] for column in numbers]
        if not self._made:
            self._names = [*chunk.numbers]
            self._made = [Column(self._columns, column.dtype) for column in chunk.columns()]
        rows = slice(None) if keep.all() else keep
        for made, column in zip(self._made, chunk.columns(), strict=True):
            made.append(column[rows])

    def finish(self) -> Partition:
        """Return all chunks."""
        columns = [column.finish() for column in self._made]
        halves = len(columns) - len(self._names)
        numbers = dict(zip(self._names, columns[halves:], strict=True))
        return Partition(Addresses(*columns[:halves]), numbers)
