"""CSV and TSV (RFC 4180), with or without a header, parsed by Arrow.

All columns are read as text. CSV to CSV preserves every cell: leading zeros, dates, bytes that are
not UTF-8, and the difference between an empty cell (null) and ``""`` (an empty text). Lines of a
block without quotes pass through whole.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
from geolookup.files.column_text import TextSink, header_line, joined_cells
from geolookup.files.lines import cut_lines
from geolookup.files.row_streams import (
    LINE,
    Others,
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
    """Return a sink of lines; cells are appended to whole lines. A header is written at once."""
    delimiter = options.delimiter or delimiter
    first = schema.names.index(LINE) + 1 if LINE in schema.names else 0
    if options.header:
        stream.write(header_line([*options.names, *schema.names[first:]], delimiter))

    def render(batch: pa.RecordBatch) -> pa.Array:
        lines = batch.columns[first - 1 : first] if first else []
        return joined_cells(batch.columns[first:], delimiter, b"\n", lines)

    return TextSink(stream, render)


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
    has_lines = options.others == "as_is"
    kind = pa.string() if options.others == "typed" else pa.large_string()
    columns = names if options.others == "typed" else options.keys
    schema = pa.schema([(name, kind) for name in columns])
    if has_lines:
        schema = schema.append(pa.field(LINE, pa.large_binary()))
    parser = _parser(names, schema, options.others, delimiter)
    batches = _batches(chain([first] if first else [], blocks), parser, options)
    numbers = RowNumbers(1 + int(options.header))
    return Rows(schema, batches, numbers=numbers, names=names if has_lines else ())


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


def _parser(
    names: list[str], schema: pa.Schema, others: Others, delimiter: str
) -> Callable[[bytes], pa.RecordBatch]:
    """Return a function from a block of whole records to their rows."""
    # Arrow receives numbers as names: a name can occur twice.
    numbers = [str(at) for at in range(len(names))]
    has_lines = LINE in schema.names
    is_typed = others == "typed"
    read = numbers if is_typed else [str(names.index(key)) for key in schema.names if key != LINE]
    kind = pa.string() if is_typed else pa.large_string()
    parse_options = arrow_csv.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=True,
        ignore_empty_lines=len(names) > 1,  # in a file of one column, they are empty cells
    )

    def parse(block: bytes) -> pa.RecordBatch:
        if not block.endswith((b"\n", b"\r")):
            # Without a line end, a last empty cell after "" is an empty text, not null.
            block += b"\n"
        has_returns = b"\r" in block and block.count(b"\r") != block.count(b"\r\n")
        is_plain = b'"' not in block and not has_returns
        convert_options = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(numbers, kind),
            include_columns=numbers if has_lines and not is_plain else read,
            check_utf8=is_typed,
            # An empty cell is null, "" is an empty text.
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        )
        # With one thread, and all of it at once, errors of Arrow have the row number.
        read_options = arrow_csv.ReadOptions(
            use_threads=False, block_size=len(block) + 1, column_names=numbers
        )
        table = arrow_csv.read_csv(
            pa.py_buffer(block), read_options, parse_options, convert_options
        )
        cells = {name: table[name].combine_chunks() for name in table.column_names}
        columns = [cells[name] for name in read]
        if has_lines and is_plain:
            lines = pc.ascii_rtrim(cut_lines(block), "\r\n").cast(pa.large_binary())
            is_row = pc.not_equal(lines, b"") if len(names) > 1 else None
            columns.append(
                lines if is_row is None or pc.all(is_row).as_py() else lines.filter(is_row)
            )
        elif has_lines:
            columns.append(joined_cells([*cells.values()], delimiter))
        return pa.record_batch(columns, schema=schema)

    return parse


def _batches(
    blocks: Iterable[bytes], parse: Callable[[bytes], pa.RecordBatch], options: ReadOptions
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of blocks, parsed by threads; TableFileError for one that cannot be read."""
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
