"""CSV and TSV (RFC 4180), with or without a header.

All columns are read as text. CSV to CSV preserves every cell: leading zeros, dates, bytes that are
not UTF-8, and the difference between an empty cell (null) and ``""`` (an empty text).

Strategy: Arrow parses blocks, and only the keys become columns. For CSV, whole lines pass through:
they are written again only if a record has several.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
from geolookup.files.column_text import TextSink, header_line, join, joined_cells
from geolookup.files.lines import BLOCK, lines_in
from geolookup.files.row_streams import (
    LINE,
    Block,
    Others,
    ReadOptions,
    Rows,
    WriteOptions,
    begin_text,
    check_columns,
    holds_address,
)
from geolookup.files.text_blocks import TextError, record_blocks

_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")
_ROW = re.compile(r"Row #(\d+)")
_LINE_END = re.compile(rb"\r\n|\r|\n|\Z")


def write_delimited(
    stream: Any, schema: pa.Schema, options: WriteOptions, delimiter: str
) -> TextSink:
    """Return a sink of lines; cells are appended to whole lines. A header is written at once."""
    delimiter = options.delimiter or delimiter
    first = schema.names.index(LINE) + 1 if LINE in schema.names else 0
    if options.header:
        stream.write(header_line([*options.names, *schema.names[first:]], delimiter))

    def tails(columns: list[pa.Array]) -> pa.Array:
        return joined_cells(columns, delimiter, b"\n")

    def lines(columns: list[pa.Array], tails: pa.Array | None) -> pa.Array:
        if tails is None:
            return joined_cells(columns, delimiter, b"\n")
        own = columns[first - 1] if first else joined_cells(columns, delimiter)
        return join(own, tails, delimiter=delimiter.encode())

    return TextSink(stream, tails, lines)


def read_delimited(stream: InputStream, options: ReadOptions, delimiter: str) -> Rows:
    """Return the rows: all columns as text, or for ``as_is`` the keys and whole lines."""
    delimiter = options.delimiter or delimiter
    blocks = _blocks(stream.plain, options.name, delimiter)
    first = next(blocks, b"")
    names, lines = _first_record(first, delimiter, options.name)
    if options.header:
        ends = [match.end() for match in islice(_LINE_END.finditer(first), lines)]
        first = first[max(ends, default=0) :]
    else:
        names = [f"column{at}" for at in range(1, len(names) + 1)]
    _check_header(names, options)
    parser = _Parser(names, options.keys, options.others, delimiter, options.header)
    has_lines = options.others == "as_is"
    raw = chain([first] if first else [], blocks)
    passed = 1 + int(options.header)
    return Rows(parser.schema, raw, parser.parse, first=passed, names=names if has_lines else ())


def _blocks(plain: Any, name: str, delimiter: str) -> Iterator[bytes]:
    begun = begin_text(plain, name, "CSV")
    if not begun:
        raise TableFileError(name, "is empty", "write at least a header")
    return (block for _, block in record_blocks(plain, BLOCK, delimiter, begun=begun))


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
    """Parses blocks of whole records."""

    def __init__(
        self, names: list[str], keys: Iterable[str], others: Others, delimiter: str, header: bool
    ) -> None:
        self._delimiter, self._has_header = delimiter, header
        self._is_typed, self._has_lines = others == "typed", others == "as_is"
        self._kind = pa.string() if self._is_typed else pa.large_string()
        columns = names if self._is_typed else list(keys)
        # Arrow receives numbers as names: a name can occur twice.
        self._numbers = [str(at) for at in range(len(names))]
        self._read = self._numbers if self._is_typed else [str(names.index(key)) for key in keys]
        self.schema = pa.schema([(name, self._kind) for name in columns])
        if self._has_lines:
            self.schema = self.schema.append(pa.field(LINE, pa.large_binary()))

    def parse(self, block: bytes) -> Block:
        """Return the rows of a block."""
        if not block.endswith((b"\n", b"\r")):
            # Without a line end, a last empty cell after "" is an empty text, not null.
            block += b"\n"
        columns = self._cells(block, self._read)
        if self._has_lines:
            columns.append(self._lines(block, len(columns[0])))
        return Block(pa.record_batch(columns, schema=self.schema))

    def _lines(self, block: bytes, rows: int) -> pa.Array:
        """Return the lines of a block without line ends, written again if a record has several."""
        # A carriage return in a cell, or as a line end, is not one of these.
        if block.count(b"\r") == block.count(b"\r\n"):
            lines = pc.ascii_rtrim(lines_in(block), "\r")[:-1]
            if len(self._numbers) > 1:
                lines = lines.filter(pc.not_equal(lines, ""))
            # A record with a line feed in a cell has several lines.
            if len(lines) == rows:
                return lines.view(pa.large_binary())
        return joined_cells(self._cells(block, self._numbers), self._delimiter)

    def _cells(self, block: bytes, read: list[str]) -> list[pa.Array]:
        """Return the columns with these numbers; an empty cell is null, ``""`` an empty text."""
        parse_options = arrow_csv.ParseOptions(
            delimiter=self._delimiter,
            newlines_in_values=True,
            ignore_empty_lines=len(self._numbers) > 1,  # in one column, they are empty cells
        )
        convert_options = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(self._numbers, self._kind),
            include_columns=read,
            check_utf8=self._is_typed,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        )
        # With one thread, and all of it at once, errors of Arrow have the row number.
        read_options = arrow_csv.ReadOptions(
            use_threads=False, block_size=len(block) + 1, column_names=self._numbers
        )
        try:
            table = arrow_csv.read_csv(
                pa.py_buffer(block), read_options, parse_options, convert_options
            )
        except pa.ArrowInvalid as error:  # its text quotes cells
            raise self._explained(str(error)) from None
        return [table[name].combine_chunks() for name in read]

    def _explained(self, cause: str) -> TextError:
        """Return the error for Arrow's message about a block."""
        row_match = _ROW.search(cause)
        row = int(row_match[1]) - 1 if row_match else None
        if ragged := _RAGGED.search(cause):
            first = "the header, row 1," if self._has_header else "row 1"
            problem = f"{ragged[2]} cells where {first} has {ragged[1]}"
            return TextError(problem, "repair the row", row=row)
        if "UTF8" in cause:
            return TextError("is not UTF-8", "convert the file first", row=row)
        return TextError("is damaged or not CSV", "is it whole?", row=row)
