"""The columns of a dataset under verification as numpy arrays, and errors for their damage.

``load`` checks each file by itself: its layout in the manifest, and types, nulls and lengths.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import columns_of, content, map_file, numbers_of, starts_of
from geolookup.dataset.intervals import Addresses, Bools
from geolookup.dataset.manifest import Manifest
from geolookup.errors import DatasetError, count_text
from geolookup.progress import current

#: Rows of intervals that are checked at once.
PART = 1 << 18
#: Bytes of a file whose pages are worth returning.
_LARGE = 1 << 14
_REMEDY = "fetch it again, or build it with 'geolookup build'"


def damage(path: Path, problem: str, column: str = "", row: int | None = None) -> DatasetError:
    """Return the error for one damage of a file; rows count from 0."""
    position = [f"column {column}"] if column else []
    position += [f"row {row}"] if row is not None else []
    return DatasetError(
        path, ": ".join([", ".join(position), problem] if position else [problem]), _REMEDY
    )


@dataclass(frozen=True, slots=True)
class DatasetTables:
    """A dataset: its manifest, and the columns of its files by file name; mapped large files."""

    folder: Path
    manifest: Manifest
    batches: dict[str, pa.RecordBatch]
    mapped: list[mmap.mmap] = field(default_factory=list)

    @property
    def manifest_path(self) -> Path:
        """The path of its manifest."""
        return self.folder / fmt.MANIFEST

    def release(self) -> None:
        """Return the pages of the files to the system; they are mapped again when they are read."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for file in self.mapped:
                file.madvise(mmap.MADV_DONTNEED)

    def numbers(self, name: str, column: str) -> NDArray[Any]:
        """Return a column without nulls as a numpy array."""
        return numbers_of(self.batches[name], column)

    def rows(self, name: str) -> int:
        """Return the number of rows of a file."""
        return int(self.batches[name].num_rows)

    def starts(self, name: str, rows: slice) -> Addresses:
        """Return the first addresses of some of a file's intervals."""
        return starts_of(self.batches[name].slice(rows.start, rows.stop - rows.start))

    def bad(self, name: str, column: str, rows: Bools, problem: str) -> Iterator[DatasetError]:
        """Yield one error for all marked rows; it names the first row and counts the others."""
        return self.bad_in_parts(name, column, problem, rows.__getitem__)

    def bad_in_parts(
        self,
        name: str,
        column: str,
        problem: str,
        mark: Callable[[slice], Bools],
        size: int = PART,
    ) -> Iterator[DatasetError]:
        """Yield the same for a long file: ``mark`` marks the bad rows of each of its parts."""
        count, first = 0, 0
        for part in self.parts(name, size):
            marked = mark(part)
            here = int(np.count_nonzero(marked))
            if here and not count:
                first = part.start + int(np.argmax(marked))
            count += here
        if count:
            more = f" (and {count_text(count - 1, 'more row')})" if count > 1 else ""
            yield damage(self.folder / name, problem + more, column, first)

    def parts(self, name: str, size: int = PART) -> Iterator[slice]:
        """Yield the parts of a file; the pages of a long one are released after each."""
        rows = self.rows(name)
        for begin in range(0, rows, size):
            part = slice(begin, min(begin + size, rows))
            yield part
            current().rows(part.stop - part.start)
            if rows > size:
                self.release()


def load(tables: DatasetTables) -> Iterator[DatasetError]:
    """Read every file; yield those that Arrow cannot read, and columns of another layout."""
    for name, entry in tables.manifest.files.items():
        path = tables.folder / name
        try:
            file = map_file(path)
            batch, whole = content(file)
            batch.validate(full=True)  # ascending offsets, indices in range, UTF-8
            columns = columns_of(batch, whole)
        # KeyError: two columns share a name
        except (pa.ArrowException, ValueError, KeyError, OSError, MemoryError) as error:
            lines = str(error).splitlines() or ["not an Arrow file"]
            yield damage(path, f"Arrow cannot read it ({lines[0]})")
            continue
        tables.batches[name] = batch
        if len(file) >= _LARGE:
            tables.mapped.append(file)
            tables.release()
        problem, column = _problem(tables, name, entry, columns)
        if problem:
            yield damage(path, problem, column)


def _problem(
    tables: DatasetTables, name: str, entry: dict[str, Any], columns: dict[str, Any]
) -> tuple[str, str]:
    """Return the first fault of a file's columns, and its column."""
    batch, expected = tables.batches[name], fmt.columns(name, tables.manifest.schema)
    if not batch.num_rows:
        return "no rows", ""
    if entry.get("rows") != batch.num_rows:
        return (
            f"{count_text(batch.num_rows, 'row')}, but the manifest says {entry.get('rows')!r}",
            "",
        )
    stored = batch.schema.names
    if stored != [name for name in expected if name in stored or not expected[name].optional]:
        return f"its columns are {', '.join(stored)}", ""
    if entry.keys() != fmt.ENTRY or entry["columns"] != columns:
        return "the manifest describes other columns", ""
    faults = ((_fault(batch.column(name), expected[name]), name) for name in stored)
    return next((fault for fault in faults if fault[0]), ("", ""))


def _fault(values: pa.Array, column: fmt.Column) -> str:
    if not column.has(str(values.type)):
        return f"of type {values.type}, not {column.type}"
    if values.null_count and not column.nullable:
        return count_text(values.null_count, "null value")
    if pa.types.is_dictionary(values.type) and values.dictionary.null_count:
        return "its dictionary has a null"
    # Lookups take the number of rows from the lengths of buffers. n texts have n + 1 offsets of 4
    # bytes; Arrow does not count the last.
    ends = 4 * (str(values.type).count("string") + str(values.type).count("list"))
    if values.get_total_buffer_size() - values.nbytes > ends:
        return "a buffer is longer than its rows"
    return ""
