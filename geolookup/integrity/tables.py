"""The columns of a dataset under verification as numpy arrays, and errors for their damage.

``shapes`` checks each column by itself: type, nulls, dictionary, and lengths of buffers.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import LIMITS, Field
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import numbers_of, starts_of, without_nulls
from geolookup.dataset.intervals import Addresses, Bools
from geolookup.dataset.manifest import Manifest
from geolookup.errors import DatasetError

Numbers = NDArray[Any]
#: Threads that read and compare; each holds a part of a table in memory.
THREADS = 2
#: Rows of intervals that are checked at once.
PART = 1 << 18
_REMEDY = "fetch it again, or build it with 'geolookup build'"


def damage(path: Path, problem: str, column: str = "", row: int | None = None) -> DatasetError:
    """Return the error for one damage of a file; rows count from 0."""
    position = [f"column {column}"] if column else []
    position += [f"row {row}"] if row is not None else []
    return DatasetError(
        path, ": ".join([", ".join(position), problem] if position else [problem]), _REMEDY
    )


@dataclass(frozen=True, slots=True)
class Tables:
    """A dataset: its manifest, and the columns of its files by file name; mapped large files."""

    folder: Path
    manifest: Manifest
    batches: dict[str, pa.RecordBatch]
    mapped: list[mmap.mmap] = field(default_factory=list)

    def release(self) -> None:
        """Return the pages of the files to the system; they are mapped again when they are read."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for file in self.mapped:
                file.madvise(mmap.MADV_DONTNEED)

    def numbers(self, name: str, column: str) -> Numbers:
        """Return a column without nulls as a numpy array."""
        return numbers_of(self.batches[name], column)

    def rows(self, name: str) -> int:
        """Return the number of rows of a file."""
        return int(self.batches[name].num_rows)

    def start_columns(self, name: str) -> str:
        """Return the names of the start columns, for error messages."""
        stored = self.batches[name].schema.names
        return ", ".join(name for name in stored if name.startswith("start"))

    def starts(self, name: str) -> Addresses:
        """Return the intervals' first addresses."""
        return starts_of(self.batches[name])

    def bad(self, name: str, column: str, rows: Bools, problem: str) -> Iterator[DatasetError]:
        """Yield one error for all marked rows; it names the first row and counts the others."""
        yield from self._damaged(name, column, [(0, rows)], problem)

    def bad_in_parts(
        self,
        name: str,
        column: str,
        problem: str,
        mark: Callable[[slice], Bools],
        size: int = PART,
    ) -> Iterator[DatasetError]:
        """Yield the same for a long file: ``mark`` marks the bad rows of each of its parts."""
        marked = ((part.start, mark(part)) for part in self.parts(name, size))
        yield from self._damaged(name, column, marked, problem)

    def parts(self, name: str, size: int = PART) -> Iterator[slice]:
        """Yield the parts of a long file; its pages are released after each."""
        rows = self.rows(name)
        for begin in range(0, rows, size):
            yield slice(begin, min(begin + size, rows))
            if rows > size:
                self.release()

    def part(self, name: str, rows: slice) -> pa.RecordBatch:
        """Return rows of a file."""
        return self.batches[name].slice(rows.start, rows.stop - rows.start)

    def _damaged(
        self, name: str, column: str, marked: Iterable[tuple[int, Bools]], problem: str
    ) -> Iterator[DatasetError]:
        count, first = 0, 0
        for begin, rows in marked:
            here = int(np.count_nonzero(rows))
            if here and not count:
                first = begin + int(np.argmax(rows))
            count += here
        if count:
            more = f" (and {count - 1:,} rows more)" if count > 1 else ""
            yield damage(self.folder / name, problem + more, column, first)

    def beyond_limits(self, name: str, columns: Mapping[str, Field]) -> Iterator[DatasetError]:
        """Yield an error for the numbers of a file that are beyond the limits of their fields."""
        stored = self.batches[name].schema.names
        for column, of in columns.items():
            if of.type in LIMITS and column in stored:
                values = self.batches[name].column(column)
                least, most = (pa.scalar(limit, values.type) for limit in (of.least, of.most))
                inside = pc.and_(pc.greater_equal(values, least), pc.less_equal(values, most))
                bad = ~without_nulls(inside, True).to_numpy(zero_copy_only=False)
                yield from self.bad(name, column, bad, f"not from {of.least} to {of.most}")

    def outside(self, name: str, column: str, target: str) -> Iterator[DatasetError]:
        """Yield an error for row numbers beyond the end of their table."""
        most = self.rows(target)

        def mark(part: slice) -> Bools:
            return np.asarray(numbers_of(self.part(name, part), column) >= most, bool)

        return self.bad_in_parts(name, column, f"outside {target}", mark)


def shapes(tables: Tables) -> Iterator[DatasetError]:
    """Yield wrong names, types, nulls, dictionaries and buffer lengths of columns."""
    for name, batch in tables.batches.items():
        path, columns = tables.folder / name, fmt.columns(name, tables.manifest.schema)
        stored = batch.schema.names
        if stored != [
            column for column in columns if column in stored or not columns[column].optional
        ]:
            yield damage(path, f"its columns are {', '.join(stored)}")
        elif not batch.num_rows:
            yield damage(path, "no rows")
        else:
            for column in stored:
                problem = _shape_problem(batch.column(column), columns[column])
                if problem:
                    yield damage(path, problem, column)


def _shape_problem(values: pa.Array, column: fmt.Column) -> str:
    if not column.has(str(values.type)):
        return f"of type {values.type}, not {column.type}"
    if values.null_count and not column.nullable:
        return f"{values.null_count:,} values are null"
    if not _exact(values):
        return "a buffer is longer or shorter than its rows"
    return _dictionary_problem(values) if pa.types.is_dictionary(values.type) else ""


def _exact(values: pa.Array) -> bool:
    """Return whether the buffers that lookups read have exactly the length of their rows."""
    buffers, rows = values.buffers(), len(values)
    if values.offset or pa.types.is_list(values.type):  # only Arrow reads lists
        return not values.offset
    # Offsets 0 3 5 of "abcde": one more than rows, from 0 to the size of the data.
    if pa.types.is_string(values.type):
        offsets = np.frombuffer(buffers[1], np.int32) if buffers[1] else np.zeros(1, np.int32)
        size = buffers[2].size if buffers[2] else 0
        return len(offsets) == rows + 1 and offsets[0] == 0 and offsets[-1] == size
    kind = values.type.index_type if pa.types.is_dictionary(values.type) else values.type
    # Bits are packed: 9 booleans take 2 bytes.
    return bool(buffers[1].size == (rows * kind.bit_width + 7) // 8)


def _dictionary_problem(values: pa.DictionaryArray) -> str:
    distinct, width = values.dictionary, values.type.index_type.bit_width
    if distinct.null_count:
        return "its dictionary has a null"
    if len(distinct) and not _exact(distinct):
        return "a buffer of its dictionary is longer or shorter than its values"
    narrower = width >> 1
    # Indices are signed: 128 values, 0 to 127, fit 8 bits, so 16 bits are too wide.
    if narrower >= 8 and len(distinct) <= 1 << narrower - 1:
        return f"{len(distinct):,} values need no indices of {width} bits"
    return ""


def distinct(tables: Tables) -> Iterator[DatasetError]:
    """Yield the dictionaries with a repeated value."""
    for name, batch in tables.batches.items():
        for column, values in zip(batch.schema.names, batch.columns, strict=True):
            if pa.types.is_dictionary(values.type):
                repeated = len(values.dictionary) - pc.count_distinct(values.dictionary).as_py()
                if repeated:
                    yield damage(tables.folder / name, "its dictionary has a value twice", column)
