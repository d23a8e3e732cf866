"""CSV and TSV (RFC 4180), with or without a header.

Columns are read as text, so that CSV to CSV preserves every cell: leading
zeros, dates, bytes that are not UTF-8, and the difference between an empty
cell (null) and ``""`` (an empty text).
"""

from __future__ import annotations

import csv
import io
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream, Prefixed
from geolookup.files.column_text import bytes_of, cell_texts, joined
from geolookup.files.row_streams import (
    ReadOptions,
    RowNumbers,
    Rows,
    WriteOptions,
    check_columns,
    check_kind,
    explained,
    holds_address,
)

_BLOCK = 1 << 22
#: Seconds in which a thread of Arrow frees the blocks that it has read, with time to spare.
_FREEING_TIME = 0.05
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")
_BOM = b"\xef\xbb\xbf"


class Delimited:
    """Reads and writes cells separated by one character."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter

    def read(self, stream: InputStream, wanted: ReadOptions) -> Rows:
        """Return the rows, all columns as text unless ``infer_types``."""
        delimiter = wanted.delimiter or self._delimiter
        first, names = _header(stream, delimiter, wanted)
        _check_header(names, wanted)
        return _Reader(stream, first, names, delimiter, wanted).rows()

    def names(self, stream: InputStream, wanted: ReadOptions) -> list[str]:
        """Return the cells of the header; no other row is read."""
        return _header(stream, wanted.delimiter or self._delimiter, wanted)[1]

    def write(self, stream: Any, schema: pa.Schema, wanted: WriteOptions) -> CellSink:
        """Return a sink; the header, if the options ask for one, is written at once."""
        delimiter = wanted.delimiter or self._delimiter
        return CellSink(stream, schema, delimiter, header=wanted.header)


def _header(stream: InputStream, delimiter: str, wanted: ReadOptions) -> tuple[bytes, list[str]]:
    """Return the first block, and the names of the columns."""
    with explained(wanted.name, "CSV"):
        first = _first_block(stream.plain)
    if not first:
        raise TableFileError(wanted.name, "is empty", "give at least a header")
    check_kind(wanted.name, first, "CSV")
    names = _first_row(first, delimiter, wanted.name)
    if not wanted.header:
        names = [f"column{number}" for number in range(1, len(names) + 1)]
    return first, names


def _first_block(plain: Any) -> bytes:
    """Return the first block, which must hold the header."""
    parts, size = [], 0
    while size < _BLOCK and (part := plain.read(_BLOCK - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _first_row(first: bytes, delimiter: str, name: str) -> list[str]:
    # The rows after the header need not be UTF-8.
    text = io.TextIOWrapper(io.BytesIO(first.removeprefix(_BOM)), "utf-8", "surrogateescape", "")
    try:
        names = next(csv.reader(text, delimiter=delimiter), [])
        "".join(names).encode()
    except UnicodeEncodeError:
        raise TableFileError(name, "the header is not UTF-8", "convert the file", row=1) from None
    except csv.Error:
        raise TableFileError(name, "the header is too long", "is it a CSV?", row=1) from None
    return names


def _check_header(names: list[str], wanted: ReadOptions) -> None:
    """Raise TableFileError for a missing column; the message quotes no cells of a data row."""
    if any(key not in names for key in wanted.keys) and any(map(holds_address, names)):
        problem = "there is an address where the names of columns should be"
        raise TableFileError(wanted.name, problem, "give --no-header", row=1)
    check_columns(wanted.name, names, wanted.keys)


class _Reader:
    """Reads one file by Arrow's reader, and explains that reader's errors."""

    def __init__(
        self,
        stream: InputStream,
        first: bytes,
        names: list[str],
        delimiter: str,
        wanted: ReadOptions,
    ) -> None:
        self._stream = stream
        self._source = Prefixed(first, stream.plain)
        self._reader: Any = None
        self._complete = False
        self._names = names
        self._delimiter = delimiter
        self._wanted = wanted

    def rows(self) -> Rows:
        batches = self._batches()
        first = next(batches)
        numbers = RowNumbers(2 if self._wanted.header else 1)
        return Rows(first.schema, chain([first], batches), numbers=numbers)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield batches, at least one; with ``dropped``, only the columns that are keys."""
        try:
            with explained(self._wanted.name, "CSV"):
                self._stream.before_close(self._stop)
                reader = self._reader = self._open()
                empty = pa.record_batch(
                    [pa.array([], each.type) for each in reader.schema], schema=reader.schema
                )
                yield empty
                yield from reader
                self._complete = True
        except TableFileError as error:
            raise self._explained(error) from None  # Arrow's text quotes cells

    def _open(self) -> Any:
        wanted = self._wanted
        text = [] if wanted.infer_types and wanted.rest == "typed" else self._names
        return arrow_csv.open_csv(
            pa.PythonFile(self._source, "r"),
            # With one thread Arrow's errors state the row number.
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK,
                column_names=None if wanted.header else self._names,
            ),
            arrow_csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,
                # In a file of one column an empty line is an empty cell.
                ignore_empty_lines=len(self._names) > 1,
            ),
            arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in {*text, *wanted.keys[:1]}},
                include_columns=list(wanted.keys) if wanted.rest == "dropped" else [],
                check_utf8=wanted.rest == "typed",
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
            ),
        )

    def _stop(self) -> None:
        """End the reading ahead of Arrow, so that its thread makes no call of Python any more.

        A process whose main thread has ended would abort at such a call, and freeing the
        reader would wait for the thread, which waits for the interpreter's lock.
        """
        if self._complete:
            return
        self._source.end()
        self._stream.end()
        with suppress(StopIteration, pa.ArrowException):
            while self._reader is not None:
                self._reader.read_next_batch()
        time.sleep(_FREEING_TIME)

    def _explained(self, error: TableFileError) -> TableFileError:
        cause, name = str(error.__cause__), self._wanted.name
        if ragged := _RAGGED.search(cause):
            first = "the header, row 1," if self._wanted.header else "row 1"
            problem = f"{ragged[2]} cells where {first} has {ragged[1]}"
            return TableFileError(name, problem, "repair the row", row=error.row)
        if "UTF8" in cause:
            return TableFileError(name, "not UTF-8", "convert the file first", row=error.row)
        if "conversion error" in cause:
            problem = "a value is not of the type that its column begins with"
            return TableFileError(name, problem, "leave out --infer-types", row=error.row)
        return error


class CellSink:
    """Writes rows as lines; a cell is quoted only where it must be."""

    def __init__(self, stream: Any, schema: pa.Schema, delimiter: str, *, header: bool) -> None:
        self._stream = stream
        self._delimiter = delimiter
        if header:
            self._put(header_cells(schema.names))

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows; null is an empty cell, an empty text is ``""``."""
        self._put(batch.columns)

    def _put(self, columns: list[pa.Array]) -> None:
        self._stream.write(bytes_of(joined(joined_cells(columns, self._delimiter), b"\n")))

    def close(self) -> None:
        """Do nothing: every row is written."""


def header_cells(names: list[str]) -> list[pa.Array]:
    """Return names as the columns of one row."""
    return [pa.array([name]) for name in names]


def joined_cells(columns: list[pa.Array], delimiter: str) -> pa.Array:
    """Return n rows as texts: the cells, quoted where they must be, and delimiters."""
    special = f'["\r\n{"" if delimiter.isalnum() else chr(92)}{delimiter}]'
    parts: list[Any] = []
    for column in columns:
        parts += [delimiter.encode(), _quoted(cell_texts(column), special)]
    return joined(*parts[1:])


def _quoted(texts: pa.Array, special: str) -> pa.Array:
    needs = pc.or_(pc.match_substring_regex(texts, special), pc.equal(pc.binary_length(texts), 0))
    needs = pc.fill_null(needs, False)
    if not pc.any(needs).as_py():
        return texts
    doubled = pc.replace_substring(texts.filter(needs), b'"', b'""')
    return pc.replace_with_mask(texts, needs, joined(b'"', doubled, b'"'))
