"""CSV and TSV (RFC 4180), with or without a header.

Columns are read as text. CSV to CSV preserves every cell: leading
zeros, dates, bytes that are not UTF-8, and the difference between an empty
cell (null) and ``""`` (an empty text).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
from geolookup.files.column_text import repeating_texts
from geolookup.files.delimited_lines import RecordLines
from geolookup.files.joined_texts import Cells, RowPart, RowWriter, join
from geolookup.files.row_streams import (
    LINE,
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

#: Returns the rows of a block, after some lines of it.
_Parse = Callable[..., pa.RecordBatch]
_BLOCK = 1 << 22
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")
_ROW = re.compile(r"Row #(\d+)")


class DelimitedText:
    """Reads and writes cells separated by one character."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter

    def read(self, stream: InputStream, options: ReadOptions) -> Rows:
        """Return the rows, all columns as text unless ``infer_types``."""
        table = _Table(stream, self.delimiter(options), options)
        _check_header(table.names, options)
        return table.rows()

    def names(self, stream: InputStream, options: ReadOptions) -> list[str]:
        """Return the cells of the header; no other row is read."""
        return _Table(stream, self.delimiter(options), options).names

    def delimiter(self, options: ReadOptions | WriteOptions) -> str:
        """Return the delimiter to read or to write."""
        return options.delimiter or self._delimiter

    def write(self, stream: Any, schema: pa.Schema, options: WriteOptions) -> CellSink:
        """Return a sink; with ``header`` it writes the header at once."""
        delimiter, in_lines = self.delimiter(options), options.in_lines
        return CellSink(stream, schema, delimiter, in_lines, header=options.header)


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
        """Return the rows; with ``dropped``, only the columns that are keys.

        With ``as_is``, the keys, and whole lines with the cells of the output.
        """
        options = self._options
        if options.others == "as_is":
            lines = RecordLines(
                (self._delimiter, options.line_delimiter or self._delimiter),
                self.names,
                [self.names.index(key) for key in options.keys],
            )
            parse = partial(self._parse_lines, lines)
            first = self._parse_first(parse)
            return self._rows(first, parse, first.schema, tuple(self.names))
        inferred = options.infer_types and options.others == "typed"
        text = set() if inferred else {*range(len(self.names))}
        keys = {self.names.index(key) for key in options.keys[:1]}
        types = {str(at): pa.string() for at in text | keys}
        first = self._parse_first(partial(self._parse, types))
        types = {field.name: field.type for field in first.schema}
        schema = pa.schema([field.with_name(self.names[int(field.name)]) for field in first.schema])
        return self._rows(first, partial(self._parse, types), schema)

    def _parse_first(self, parse: _Parse) -> pa.RecordBatch:
        """Return the rows of the first block: they decide the types."""
        try:
            return parse(self._first, self._header_lines)
        except MemoryError:  # Arrow's is an ArrowException too
            raise
        except pa.ArrowException as error:
            passed = int(self._options.header) - self._header_lines
            raise self._error(str(error), passed) from None

    def _rows(
        self,
        first: pa.RecordBatch,
        parse: _Parse,
        schema: pa.Schema,
        in_lines: tuple[str, ...] = (),
    ) -> Rows:
        batches, numbers = self._batches(first, parse, schema), int(self._options.header)
        return Rows(schema, batches, numbers=RowNumbers(1 + numbers), in_lines=in_lines)

    def _batches(
        self, first: pa.RecordBatch, parse: _Parse, schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch(first.columns, schema=schema)
        passed = int(self._options.header) + len(first)
        with in_order(parse, self._blocks) as parsed:
            try:
                for batch in parsed:
                    yield pa.record_batch(batch.columns, schema=schema)
                    passed += len(batch)
            except MemoryError:  # Arrow's is an ArrowException too
                raise
            except pa.ArrowException as error:
                raise self._error(str(error), passed) from None  # Arrow's text quotes cells

    def _parse_lines(
        self, lines: RecordLines, block: bytes, skipped_lines: int = 0
    ) -> pa.RecordBatch:
        batch = lines.split(block, skipped_lines)
        if batch is None:
            types = {str(at): pa.string() for at in range(len(self.names))}
            columns = self._parse(types, block, skipped_lines).columns
            joined = joined_cells(columns, self._options.line_delimiter or self._delimiter)
            batch = lines.batch([columns[key] for key in lines.keys], joined)
        return batch

    def _parse(
        self, types: Mapping[str, pa.DataType], block: bytes, skipped_lines: int = 0
    ) -> pa.RecordBatch:
        options = self._options
        if not block.endswith((b"\n", b"\r")):
            # Arrow skips only lines with a line end. Without one, a last empty cell after "" is
            # an empty text, not null.
            block += b"\n"
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
    """Writes rows as lines, or appends cells to lines that were read ``as_is``.

    ``in_lines`` has the names of the columns in such lines.
    """

    def __init__(
        self,
        stream: Any,
        schema: pa.Schema,
        delimiter: str,
        in_lines: Sequence[str] = (),
        *,
        header: bool,
    ) -> None:
        self._delimiter = delimiter
        self._rows = RowWriter(stream, delimiter)
        self._line = schema.names.index(LINE) if in_lines else None
        self._first = 0 if self._line is None else self._line + 1
        if header:
            names = header_cells([*in_lines, *schema.names[self._first :]])
            self._rows.write([*_cells(names, delimiter), b"\n"])

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows; null is an empty cell, an empty text is ``""``."""
        cells = _cells(batch.columns[self._first :], self._delimiter)
        if self._line is not None:
            cells = [batch.column(self._line), self._delimiter.encode(), *cells]
        self._rows.write([*cells, b"\n"])

    def close(self) -> None:
        """Do nothing: every row is written."""


def header_cells(names: list[str]) -> list[pa.Array]:
    """Return names as the columns of one row."""
    return [pa.array([name]) for name in names]


def joined_cells(columns: list[pa.Array], delimiter: str) -> pa.Array:
    """Return n rows as texts: the cells, quoted if they must be, and delimiters."""
    return join(*_cells(columns, delimiter), delimiter=delimiter)


def _cells(columns: list[pa.Array], delimiter: str) -> list[RowPart]:
    parts: list[RowPart] = []
    for column in columns:
        parts += [delimiter.encode(), Cells(repeating_texts(column))]
    return parts[1:]
