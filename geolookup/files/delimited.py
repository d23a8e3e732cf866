"""CSV and TSV (RFC 4180), with or without a header.

Columns are read as text. CSV to CSV preserves every cell: leading
zeros, dates, bytes that are not UTF-8, and the difference between an empty
cell (null) and ``""`` (an empty text).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
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
from geolookup.files.text_blocks import filled, record_blocks
from geolookup.filesystem.signatures import START_BYTES
from geolookup.parallel import in_order

_BLOCK = 1 << 22
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")
_ROW = re.compile(r"Row #(\d+)")


class Delimited:
    """Reads and writes cells separated by one character."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter

    def read(self, stream: InputStream, wanted: ReadOptions) -> Rows:
        """Return the rows, all columns as text unless ``infer_types``."""
        table = _Table(stream, wanted.delimiter or self._delimiter, wanted)
        _check_header(table.names, wanted)
        return table.rows()

    def names(self, stream: InputStream, wanted: ReadOptions) -> list[str]:
        """Return the cells of the header; no other row is read."""
        return _Table(stream, wanted.delimiter or self._delimiter, wanted).names

    def write(self, stream: Any, schema: pa.Schema, wanted: WriteOptions) -> CellSink:
        """Return a sink; the header, if the options ask for one, is written at once."""
        delimiter = wanted.delimiter or self._delimiter
        return CellSink(stream, schema, delimiter, header=wanted.header)


def _check_header(names: list[str], wanted: ReadOptions) -> None:
    """Raise TableFileError for a missing column; the message quotes no cells of a data row."""
    if any(key not in names for key in wanted.keys) and any(map(holds_address, names)):
        problem = "there is an address where the names of columns should be"
        raise TableFileError(wanted.name, problem, "give --no-header", row=1)
    check_columns(wanted.name, names, wanted.keys)


class _Table:
    """One file: the names of its columns, and its rows, whose blocks threads parse.

    The first block decides the types. Arrow gets numbers for names: names may occur twice.
    """

    def __init__(self, stream: InputStream, delimiter: str, wanted: ReadOptions) -> None:
        self._delimiter, self._wanted = delimiter, wanted
        self._blocks = self._read(stream.plain)
        self._first = next(self._blocks, b"")
        names, lines = _first_record(self._first, delimiter, wanted.name)
        self._header_lines = lines if wanted.header else 0
        self.names = names if wanted.header else [f"column{at}" for at in range(1, len(names) + 1)]

    def _read(self, plain: Any) -> Iterator[bytes]:
        with explained(self._wanted.name, "CSV"):
            begun = filled(plain, START_BYTES)
            if not begun:
                raise TableFileError(self._wanted.name, "is empty", "give at least a header")
            check_kind(self._wanted.name, begun, "CSV")
            for _, block in record_blocks(plain, _BLOCK, self._delimiter, begun=begun):
                yield block

    def rows(self) -> Rows:
        """Return the rows; with ``dropped``, only the columns that are keys."""
        wanted, header = self._wanted, int(self._wanted.header)
        inferred = wanted.infer_types and wanted.rest == "typed"
        text = set() if inferred else {*range(len(self.names))}
        keys = {self.names.index(key) for key in wanted.keys[:1]}
        types = {str(at): pa.string() for at in text | keys}
        try:
            first = self._parsed(self._first, types, self._header_lines)
        except pa.ArrowException as error:
            raise self._explained(str(error), header - self._header_lines) from None
        types = {field.name: field.type for field in first.schema}
        schema = pa.schema([field.with_name(self.names[int(field.name)]) for field in first.schema])
        batches = self._batches(first, types, schema)
        return Rows(schema, batches, numbers=RowNumbers(1 + header))

    def _batches(
        self, first: pa.RecordBatch, types: Mapping[str, pa.DataType], schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch(first.columns, schema=schema)
        passed = int(self._wanted.header) + len(first)
        with in_order(partial(self._parsed, types=types), self._blocks) as parsed:
            try:
                for batch in parsed:
                    yield pa.record_batch(batch.columns, schema=schema)
                    passed += len(batch)
            except pa.ArrowException as error:
                raise self._explained(str(error), passed) from None  # Arrow's text quotes cells

    def _parsed(
        self, block: bytes, types: Mapping[str, pa.DataType], skipped_lines: int = 0
    ) -> pa.RecordBatch:
        wanted = self._wanted
        if skipped_lines and not block.endswith((b"\n", b"\r")):
            block += b"\n"  # Arrow skips lines that have an end
        keys = [str(self.names.index(key)) for key in wanted.keys]
        table = arrow_csv.read_csv(
            pa.py_buffer(block),
            # With one thread Arrow's errors state the row number.
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=len(block) + 1,  # all of it at once
                column_names=[str(at) for at in range(len(self.names))],
                skip_rows=skipped_lines,
            ),
            arrow_csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,
                # In a file of one column an empty line is an empty cell.
                ignore_empty_lines=len(self.names) > 1,
            ),
            arrow_csv.ConvertOptions(
                column_types=types,
                # An empty list means all columns.
                include_columns=keys if wanted.rest == "dropped" else [],
                check_utf8=wanted.rest == "typed",
                # An unquoted empty cell is null, "" is an empty text: both survive from CSV to CSV.
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
            ),
        )
        columns = [column.combine_chunks() for column in table.columns]
        return pa.RecordBatch.from_arrays(columns, schema=table.schema)

    def _explained(self, cause: str, passed: int) -> TableFileError:
        """Return the error for what Arrow says of a block, after ``passed`` rows of the file."""
        name, place = self._wanted.name, _ROW.search(cause)
        row = passed + int(place[1]) if place else None
        if ragged := _RAGGED.search(cause):
            first = "the header, row 1," if self._wanted.header else "row 1"
            problem = f"{ragged[2]} cells where {first} has {ragged[1]}"
            return TableFileError(name, problem, "repair the row", row=row)
        if "UTF8" in cause:
            return TableFileError(name, "not UTF-8", "convert the file first", row=row)
        if "conversion error" in cause:
            problem = "a value is not of the type that its column begins with"
            return TableFileError(name, problem, "leave out --infer-types", row=row)
        return TableFileError(name, "is damaged or not CSV", "is it whole?", row=row)


def _first_record(block: bytes, delimiter: str, name: str) -> tuple[list[str], int]:
    """Return the cells of the first record, and how many lines it has."""
    # The rows after the header need not be UTF-8.
    text = io.TextIOWrapper(io.BytesIO(block), "utf-8", "surrogateescape", "")
    records = csv.reader(text, delimiter=delimiter)
    try:
        names = next(records, [])
        "".join(names).encode()
    except UnicodeEncodeError:
        raise TableFileError(name, "the header is not UTF-8", "convert the file", row=1) from None
    except csv.Error:
        raise TableFileError(name, "the header is too long", "is it a CSV?", row=1) from None
    return names, records.line_num


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
    # A class of characters; the delimiter in it is escaped, as "\^" or "\-". A letter must not be.
    special = f'["\r\n{"" if delimiter.isalnum() else chr(92)}{delimiter}]'
    parts: list[Any] = []
    for column in columns:
        parts += [delimiter.encode(), _quoted(cell_texts(column), special)]
    return joined(*parts[1:])


def _quoted(texts: pa.Array, special: str) -> pa.Array:
    # An empty text is written as "", an empty cell is null.
    needs = pc.or_(pc.match_substring_regex(texts, special), pc.equal(pc.binary_length(texts), 0))
    needs = pc.fill_null(needs, False)
    if not pc.any(needs).as_py():
        return texts
    doubled = pc.replace_substring(texts.filter(needs), b'"', b'""')
    return pc.replace_with_mask(texts, needs, joined(b'"', doubled, b'"'))
