"""CSV and TSV (RFC 4180), with or without a header, parsed by Arrow.

All columns are read as text. CSV to CSV preserves every cell: leading zeros, dates, bytes that are
not UTF-8, and the difference between an empty cell (null) and ``""`` (an empty text).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import chain, islice
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

_BLOCK = 1 << 21
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")
_ROW = re.compile(r"Row #(\d+)")
_LINE_END = re.compile(rb"\r\n|\r|\n|\Z")


def write_delimited(
    stream: Any, schema: pa.Schema, options: WriteOptions, delimiter: str
) -> TextSink:
    """Return a sink of lines; with ``header`` the header is written at once."""
    delimiter = options.delimiter or delimiter
    if options.header:
        stream.write(header_line(schema.names, delimiter))
    return TextSink(stream, lambda batch: joined_cells(batch.columns, delimiter, b"\n"))


def read_delimited(stream: InputStream, options: ReadOptions, delimiter: str) -> Rows:
    """Return the rows, all columns as text; threads parse blocks."""
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
    columns = options.keys if options.others == "dropped" and options.keys else names
    # Texts that become cells again are large: they are not converted.
    kind = pa.string() if options.others == "typed" else pa.large_string()
    schema = pa.schema([(name, kind) for name in columns])
    batches = _batches(chain([first] if first else [], blocks), names, schema, options, delimiter)
    return Rows(schema, batches, numbers=RowNumbers(1 + int(options.header)))


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


def _batches(
    blocks: Iterator[bytes],
    names: list[str],
    schema: pa.Schema,
    options: ReadOptions,
    delimiter: str,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of blocks; TableFileError for a row that cannot be read."""
    # Arrow receives numbers as names: a name can occur twice.
    numbers = [str(at) for at in range(len(names))]
    parse_options = arrow_csv.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=True,
        ignore_empty_lines=len(names) > 1,  # in a file of one column, they are empty cells
    )
    is_whole = schema.names == names
    convert_options = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(numbers, schema.types[0]),
        include_columns=numbers if is_whole else [str(names.index(key)) for key in schema.names],
        check_utf8=options.others == "typed",
        # An empty cell is null, "" is an empty text.
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )

    def parse(block: bytes) -> pa.RecordBatch:
        if not block.endswith((b"\n", b"\r")):
            # Without a line end, a last empty cell after "" is an empty text, not null.
            block += b"\n"
        # With one thread, and all of it at once, errors of Arrow have the row number.
        read_options = arrow_csv.ReadOptions(
            use_threads=False, block_size=len(block) + 1, column_names=numbers
        )
        table = arrow_csv.read_csv(
            pa.py_buffer(block), read_options, parse_options, convert_options
        )
        return pa.record_batch([one.combine_chunks() for one in table.columns], schema=schema)

    passed = int(options.header)
    with in_order(parse, blocks) as batches:
        try:
            for batch in batches:
                yield batch
                passed += len(batch)
        except pa.ArrowInvalid as error:  # its text quotes cells
            raise _explained(str(error), options, passed) from None


def _explained(cause: str, options: ReadOptions, passed: int) -> TableFileError:
    """Return the error for Arrow's message about a block, after ``passed`` rows of the file."""
    name, row_match = options.name, _ROW.search(cause)
    row = passed + int(row_match[1]) if row_match else None
    if ragged := _RAGGED.search(cause):
        first = "the header, row 1," if options.header else "row 1"
        problem = f"{ragged[2]} cells where {first} has {ragged[1]}"
        return TableFileError(name, problem, "repair the row", row=row)
    if "UTF8" in cause:
        return TableFileError(name, "is not UTF-8", "convert the file first", row=row)
    return TableFileError(name, "is damaged or not CSV", "is it whole?", row=row)
