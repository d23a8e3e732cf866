"""CSV and TSV (RFC 4180), with or without a header, parsed by Arrow.

All columns are read as text. CSV to CSV preserves every cell: leading zeros, dates, bytes that are
not UTF-8, and the difference between an empty cell (null) and ``""`` (an empty text).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
from geolookup.files.column_text import TextSink, header_line, joined_cells
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


def write_delimited(
    stream: Any, schema: pa.Schema, options: WriteOptions, delimiter: str
) -> TextSink:
    """Return a sink of lines; with ``header`` the header is written at once."""
    delimiter = options.delimiter or delimiter
    if options.header:
        stream.write(header_line(schema.names, delimiter))
    return TextSink(stream, lambda batch: joined_cells(batch.columns, delimiter, b"\n"))


def read_delimited(stream: InputStream, options: ReadOptions, delimiter: str) -> Rows:
    """Return the rows, all columns as text unless ``infer_types``; threads parse blocks."""
    delimiter = options.delimiter or delimiter
    blocks = _blocks(stream.plain, options.name, delimiter)
    first = next(blocks, b"")
    names, header_lines = _first_record(first, delimiter, options.name)
    if not options.header:
        names, header_lines = [f"column{at}" for at in range(1, len(names) + 1)], 0
    _check_header(names, options)
    parser = _Parser(names, options, delimiter)
    schema = parser.parse_first(first, header_lines)
    batches, numbers = parser.batches(blocks), RowNumbers(1 + int(options.header))
    return Rows(schema, batches, numbers=numbers)


def _blocks(plain: Any, name: str, delimiter: str) -> Iterator[bytes]:
    with explain_errors(name, "CSV"):
        begun = read_full(plain, START_BYTES)
        if not begun:
            raise TableFileError(name, "is empty", "write at least a header")
        check_kind(name, begun, "CSV")
        for _, block in record_blocks(plain, _BLOCK, delimiter, begun=begun):
            yield block


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


def _check_header(names: list[str], options: ReadOptions) -> None:
    """Raise TableFileError for a missing column; the message quotes no cells of a data row."""
    if any(key not in names for key in options.keys) and any(map(holds_address, names)):
        problem = "an address is among the names of columns"
        remedy = "if the file has no header, pass --no-header"
        raise TableFileError(options.name, problem, remedy, row=1)
    check_columns(options, names)


class _Parser:
    """Parses blocks of one file; the first decides the types.

    Arrow receives numbers as names: a name can occur twice.
    """

    def __init__(self, names: list[str], options: ReadOptions, delimiter: str) -> None:
        self._names, self._options = names, options
        keys = [str(names.index(key)) for key in options.keys]
        is_inferred = options.infer_types and options.others == "typed"
        texts = keys[:1] if is_inferred else map(str, range(len(names)))
        self._passed = int(options.header)  # rows of the file, for messages
        self._parse_options = arrow_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            # In a file of one column an empty line is an empty cell.
            ignore_empty_lines=len(names) > 1,
        )
        self._convert_options = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(texts, pa.string()),
            # An empty list means all columns.
            include_columns=keys if options.others == "dropped" else [],
            check_utf8=options.others == "typed",
            # An empty cell is null, "" is an empty text.
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        )

    def parse_first(self, block: bytes, header_lines: int) -> pa.Schema:
        """Parse the first block after its header; return the schema of all rows."""
        try:
            first = self._parse(block, header_lines)
        except pa.ArrowInvalid as error:
            self._passed -= header_lines
            raise self._error(str(error)) from None  # Arrow's text quotes cells
        self._convert_options.column_types = first.schema
        names = [self._names[int(name)] for name in first.schema.names]
        self._first = first.rename_columns(names)
        return self._first.schema

    def batches(self, blocks: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the first block and of further blocks; TableFileError if damaged."""
        schema = self._first.schema
        yield self._first
        self._passed += len(self._first)
        with in_order(self._parse, blocks) as parsed:
            try:
                for batch in parsed:
                    yield pa.record_batch(batch.columns, schema=schema)
                    self._passed += len(batch)
            except pa.ArrowInvalid as error:
                raise self._error(str(error)) from None

    def _parse(self, block: bytes, skipped_lines: int = 0) -> pa.RecordBatch:
        if not block.endswith((b"\n", b"\r")):
            # Arrow skips only lines with a line end. Without one, a last empty cell after "" is
            # an empty text, not null.
            block += b"\n"
        table = arrow_csv.read_csv(
            pa.py_buffer(block),
            # With one thread, errors of Arrow have the row number.
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=len(block) + 1,  # all of it at once
                column_names=[str(at) for at in range(len(self._names))],
                skip_rows=skipped_lines,
            ),
            self._parse_options,
            self._convert_options,
        )
        columns = [column.combine_chunks() for column in table.columns]
        return pa.RecordBatch.from_arrays(columns, schema=table.schema)

    def _error(self, cause: str) -> TableFileError:
        """Return the error for Arrow's message about the block after the rows that passed."""
        name, row_match = self._options.name, _ROW.search(cause)
        row = self._passed + int(row_match[1]) if row_match else None
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
