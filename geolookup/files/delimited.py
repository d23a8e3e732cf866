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
from geolookup.files.column_text import bytes_of, cell_texts, join
from geolookup.files.row_streams import (
    ReadOptions,
    RowNumbers,
    Rows,
    WriteOptions,
    check_columns,
    check_kind,
    explain_errors,
    holds_address,
)
from geolookup.files.text_blocks import read_full, record_blocks
from geolookup.filesystem.signatures import START_BYTES
from geolookup.parallel import in_order

_BLOCK = 1 << 22
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")
_ROW = re.compile(r"Row #(\d+)")


class DelimitedText:
    """Reads and writes cells separated by one character."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter

    def read(self, stream: InputStream, options: ReadOptions) -> Rows:
        """Return the rows, all columns as text unless ``infer_types``."""
        table = _Table(stream, options.delimiter or self._delimiter, options)
        _check_header(table.names, options)
        return table.rows()

    def names(self, stream: InputStream, options: ReadOptions) -> list[str]:
        """Return the cells of the header; no other row is read."""
        return _Table(stream, options.delimiter or self._delimiter, options).names

    def write(self, stream: Any, schema: pa.Schema, options: WriteOptions) -> CellSink:
        """Return a sink; with ``header`` it writes the header at once."""
        delimiter = options.delimiter or self._delimiter
        return CellSink(stream, schema, delimiter, header=options.header)


def _check_header(names: list[str], options: ReadOptions) -> None:
    """Raise TableFileError for a missing column; the message quotes no cells of a data row."""
    if any(key not in names for key in options.keys) and any(map(holds_address, names)):
        problem = "an address is among the names of columns"
        remedy = "if the file has no header, pass --no-header"
        raise TableFileError(options.name, problem, remedy, row=1)
    check_columns(options, names)


class _Table:
    """One file: the names of its columns, and its rows; threads parse blocks of rows.

    The first block decides the types. Arrow receives numbers as names: a name can occur twice.
    """

    def __init__(self, stream: InputStream, delimiter: str, options: ReadOptions) -> None:
        self._delimiter, self._options = delimiter, options
        self._blocks = self._read(stream.plain)
        self._first = next(self._blocks, b"")
        names, lines = _first_record(self._first, delimiter, options.name)
        self._header_lines = lines if options.header else 0
        self.names = names if options.header else [f"column{at}" for at in range(1, len(names) + 1)]

    def _read(self, plain: Any) -> Iterator[bytes]:
        with explain_errors(self._options.name, "CSV"):
            begun = read_full(plain, START_BYTES)
            if not begun:
                raise TableFileError(self._options.name, "is empty", "write at least a header")
            check_kind(self._options.name, begun, "CSV")
            for _, block in record_blocks(plain, _BLOCK, self._delimiter, begun=begun):
                yield block

    def rows(self) -> Rows:
        """Return the rows; with ``dropped``, only the columns that are keys."""
        options, header = self._options, int(self._options.header)
        inferred = options.infer_types and options.others == "typed"
        text = set() if inferred else {*range(len(self.names))}
        keys = {self.names.index(key) for key in options.keys[:1]}
        types = {str(at): pa.string() for at in text | keys}
        try:
            first = self._parse(self._first, types, self._header_lines)
        except MemoryError:  # Arrow's is an ArrowException too
            raise
        except pa.ArrowException as error:
            raise self._error(str(error), header - self._header_lines) from None
        types = {field.name: field.type for field in first.schema}
        schema = pa.schema([field.with_name(self.names[int(field.name)]) for field in first.schema])
        batches = self._batches(first, types, schema)
        return Rows(schema, batches, numbers=RowNumbers(1 + header))

    def _batches(
        self, first: pa.RecordBatch, types: Mapping[str, pa.DataType], schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch(first.columns, schema=schema)
        passed = int(self._options.header) + len(first)
        with in_order(partial(self._parse, types=types), self._blocks) as parsed:
            try:
                for batch in parsed:
                    yield pa.record_batch(batch.columns, schema=schema)
                    passed += len(batch)
            except MemoryError:  # Arrow's is an ArrowException too
                raise
            except pa.ArrowException as error:
                raise self._error(str(error), passed) from None  # Arrow's text quotes cells

    def _parse(
        self, block: bytes, types: Mapping[str, pa.DataType], skipped_lines: int = 0
    ) -> pa.RecordBatch:
        options = self._options
        if skipped_lines and not block.endswith((b"\n", b"\r")):
            block += b"\n"  # Arrow skips only lines with a line end
        keys = [str(self.names.index(key)) for key in options.keys]
        table = arrow_csv.read_csv(
            pa.py_buffer(block),
            # With one thread, errors of Arrow have the row number.
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
                include_columns=keys if options.others == "dropped" else [],
                check_utf8=options.others == "typed",
                # An unquoted empty cell is null, "" is an empty text: both survive from CSV to CSV.
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
            ),
        )
        columns = [column.combine_chunks() for column in table.columns]
        return pa.RecordBatch.from_arrays(columns, schema=table.schema)

    def _error(self, cause: str, passed: int) -> TableFileError:
        """Return the error for Arrow's message about a block, after ``passed`` rows of the file."""
        name, row_match = self._options.name, _ROW.search(cause)
        row = passed + int(row_match[1]) if row_match else None
        if ragged := _RAGGED.search(cause):
            first = "the header, row 1," if self._options.header else "row 1"
            problem = f"{ragged[2]} cells where {first} has {ragged[1]}"
            return TableFileError(name, problem, "repair the row", row=row)
        if "UTF8" in cause:
            return TableFileError(name, "is not UTF-8", "convert the file first", row=row)
        if "conversion error" in cause:
            problem = "a value is not of the type of the values before it"
            return TableFileError(name, problem, "leave out --infer-types", row=row)
        return TableFileError(name, "is damaged or not CSV", "is it whole?", row=row)


def _first_record(block: bytes, delimiter: str, name: str) -> tuple[list[str], int]:
    """Return the cells of the first record, and its number of lines."""
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
    """Writes rows as lines; a cell is quoted only if it must be."""

    def __init__(self, stream: Any, schema: pa.Schema, delimiter: str, *, header: bool) -> None:
        self._stream = stream
        self._delimiter = delimiter
        if header:
            self._write_cells(header_cells(schema.names))

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows; null is an empty cell, an empty text is ``""``."""
        self._write_cells(batch.columns)

    def _write_cells(self, columns: list[pa.Array]) -> None:
        self._stream.write(bytes_of(join(joined_cells(columns, self._delimiter), b"\n")))

    def close(self) -> None:
        """Do nothing: every row is written."""


def header_cells(names: list[str]) -> list[pa.Array]:
    """Return names as the columns of one row."""
    return [pa.array([name]) for name in names]


def joined_cells(columns: list[pa.Array], delimiter: str) -> pa.Array:
    """Return n rows as texts: the cells, quoted if they must be, and delimiters."""
    # A class of characters; the delimiter in it is escaped, as "\^" or "\-". A letter must not be.
    special = f'["\r\n{"" if delimiter.isalnum() else chr(92)}{delimiter}]'
    parts: list[Any] = []
    for column in columns:
        parts += [delimiter.encode(), _quote(cell_texts(column), special)]
    return join(*parts[1:])


def _quote(texts: pa.Array, special: str) -> pa.Array:
    # An empty text is written as "", an empty cell is null.
    needs = pc.or_(pc.match_substring_regex(texts, special), pc.equal(pc.binary_length(texts), 0))
    needs = pc.fill_null(needs, False)
    if not pc.any(needs).as_py():
        return texts
    doubled = pc.replace_substring(texts.filter(needs), b'"', b'""')
    return pc.replace_with_mask(texts, needs, join(b'"', doubled, b'"'))
