"""Columns that grow chunk by chunk: in memory, or in files if memory does not hold them.

Steps after the overlay read their columns in chunks of intervals, and append to others. So a
step needs memory for a few chunks, whatever the number of intervals. The chunks are the same in
memory and in files, and so are the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from geolookup.dataset.intervals import Addresses
from geolookup.dataset.runs import Codes, run_starts
from geolookup_builder.spill import Spill

#: Intervals of a chunk. Four times as many take no less time and 100 MB more.
CHUNK = 1 << 20


class Growing(Protocol):
    """A column that is appended to, then read."""

    def append(self, values: NDArray[Any]) -> object:
        """Append values of the column's type."""

    def finish(self) -> NDArray[Any]:
        """Return the whole column."""


#: Columns of row numbers by name.
Rows = Mapping[str, NDArray[Any]]
#: Makes a column of a type, in a file or in memory.
NewColumn = Callable[[DTypeLike], Growing]


class _InMemory:
    """A column in memory; pages that no value reaches are never taken from the system."""

    def __init__(self, kind: DTypeLike, most: int) -> None:
        self._values, self._size = np.empty(most, kind), 0

    def append(self, values: NDArray[Any]) -> None:
        """Append values of the column's type."""
        self._values[self._size : self._size + len(values)] = values
        self._size += len(values)

    def finish(self) -> NDArray[Any]:
        """Return the whole column."""
        return self._values[: self._size]


class Columns:
    """Makes columns: in memory, or in the files that it was given."""

    def __init__(self, files: Spill | None = None, chunk: int = CHUNK) -> None:
        self._files, self._chunk = files, chunk

    def column(self, kind: DTypeLike, most: int) -> Growing:
        """Begin a column of at most so many values."""
        return _InMemory(kind, most) if self._files is None else self._files.column(kind)

    def chunks(self, size: int) -> Iterator[slice]:
        """Yield the chunks of columns of that size; their pages are released after each."""
        for begin in range(0, size, self._chunk):
            yield slice(begin, min(begin + self._chunk, size))
            self.release()

    def remove(self, *columns: NDArray[Any]) -> None:
        """Remove the files of columns that nothing reads any more."""
        if self._files is not None:
            self._files.remove(*columns)

    def release(self) -> None:
        """Return the pages of columns in files to the system."""
        if self._files is not None:
            self._files.release_pages()

    def looked_up(self, table: NDArray[Any], numbers: NDArray[np.integer]) -> NDArray[Any]:
        """Return ``table[numbers]``; the numbers are read for the last time."""
        if not numbers.strides[0]:  # one value, as often as there are intervals
            return np.broadcast_to(table[numbers[0]], len(numbers))
        result = self.column(table.dtype, len(numbers))
        for part in self.chunks(len(numbers)):
            result.append(table[numbers[part]])
        self.remove(numbers)
        return result.finish()

    def cast(self, values: NDArray[Any], kind: DTypeLike) -> NDArray[Any]:
        """Return the values in another type; they are read for the last time."""
        if values.dtype == kind:
            return values
        result = self.column(kind, len(values))
        for part in self.chunks(len(values)):
            result.append(values[part].astype(kind))
        self.remove(values)
        return result.finish()

    def encoded(self, values: NDArray[Any]) -> tuple[Codes, pa.Array]:
        """Return the index of each value among the distinct ones, in order of appearance."""
        codes, known = self.column(np.int32, len(values)), pa.array(values[:0])
        for part in self.chunks(len(values)):
            local = pa.array(values[part]).dictionary_encode()
            # The known values come first: they keep their indices.
            joined = pa.concat_arrays([known, local.dictionary]).dictionary_encode()
            numbers = joined.indices.to_numpy()[len(known) :]
            codes.append(numbers[local.indices.to_numpy()])
            known = joined.dictionary
        return codes.finish(), known


IN_MEMORY = Columns()


class GrowingStarts:
    """First addresses of one family that are appended to."""

    def __init__(self, new_column: NewColumn, family: int) -> None:
        self._low = new_column(np.uint32 if family == 4 else np.uint64)
        self._high = None if family == 4 else new_column(np.uint64)

    def append(self, starts: Addresses) -> None:
        """Append addresses."""
        self._low.append(starts.low)
        if self._high is not None and starts.high is not None:
            self._high.append(starts.high)

    def finish(self) -> Addresses:
        """Return all addresses."""
        high = None if self._high is None else self._high.finish()
        return Addresses(self._low.finish(), high)


class JoinedIntervals:
    """A partition of a family with columns of rows, appended chunk by chunk.

    Neighbours with equal rows are joined.
    """

    def __init__(self, new_column: NewColumn, family: int, kinds: Mapping[str, DTypeLike]) -> None:
        self._starts = GrowingStarts(new_column, family)
        self._rows = {name: new_column(kind) for name, kind in kinds.items()}
        self._last: list[Any] = []  # the last row of the chunk before

    def append(self, starts: Addresses, rows: Rows) -> Rows:
        """Append a chunk; return its rows without those equal to the row before."""
        keep = run_starts(*rows.values())
        keep[0] = [numbers[0] for numbers in rows.values()] != self._last
        self._last = [numbers[-1] for numbers in rows.values()]
        if not keep.all():
            starts = starts[keep]
            rows = {name: numbers[keep] for name, numbers in rows.items()}
        self._starts.append(starts)
        for name, numbers in rows.items():
            self._rows[name].append(numbers)
        return rows

    def finish(self) -> tuple[Addresses, dict[str, NDArray[Any]]]:
        """Return the first addresses, and the rows of each."""
        return self._starts.finish(), {name: rows.finish() for name, rows in self._rows.items()}
