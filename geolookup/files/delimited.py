"""CSV and TSV: RFC 4180, with a header or without.

Columns are read as text, so that what goes from CSV to CSV comes out as it
went in: leading zeros, dates, bytes that are no UTF-8, and the difference
between nothing (null) and ``""`` (an empty text).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from geolookup.contract.address import parse
from geolookup.errors import InvalidAddressError, TableFileError
from geolookup.files.reading import Reading, Rows, check_columns, explained
from geolookup.files.rendering import bytes_of, cell_texts, joined
from geolookup.files.streams import Incoming
from geolookup.files.writing import Writing

_BLOCK = 1 << 22
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")
_BOM = b"\xef\xbb\xbf"
_IPV4 = re.compile(r"\d+\.\d+\.\d+\.\d+")
_OTHER = re.compile(r"[^0-9A-Fa-f:.]+")


class Delimited:
    """Reads and writes cells between one letter."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter

    def read(self, stream: Incoming, wanted: Reading) -> Rows:
        """Return the rows, all columns as text unless ``infer_types``."""
        delimiter = wanted.delimiter or self._delimiter
        with explained(wanted.name, "CSV"):
            first = _first_block(stream.plain)
        if not first:
            raise TableFileError(wanted.name, "is empty", "give at least a header")
        names = _first_row(first, delimiter, wanted.name)
        if not wanted.header:
            names = [f"column{number}" for number in range(1, len(names) + 1)]
        _check_header(names, wanted)
        return _Reader(_Whole(first, stream.plain), names, delimiter, wanted).rows()

    def write(self, stream: Any, schema: pa.Schema, wanted: Writing) -> CellSink:
        """Return a sink that has written the header, where one is wanted."""
        delimiter = wanted.delimiter or self._delimiter
        return CellSink(stream, schema, delimiter, header=wanted.header)


def _first_block(plain: Any) -> bytes:
    """Return the first block, which must hold the header."""
    parts, size = [], 0
    while size < _BLOCK and (part := plain.read(_BLOCK - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _first_row(first: bytes, delimiter: str, name: str) -> list[str]:
    # What follows it need not be UTF-8.
    text = io.TextIOWrapper(io.BytesIO(first.removeprefix(_BOM)), "utf-8", "surrogateescape", "")
    try:
        names = next(csv.reader(text, delimiter=delimiter), [])
        "".join(names).encode()
    except UnicodeEncodeError:
        raise TableFileError(name, "the header is not UTF-8", "convert the file", row=1) from None
    except csv.Error:
        raise TableFileError(name, "the header is too long", "is it a CSV?", row=1) from None
    return names


def _check_header(names: list[str], wanted: Reading) -> None:
    """Raise TableFileError where a column is missing; cells of data are not shown for names."""
    if any(key not in names for key in wanted.keys) and any(map(_holds_address, names)):
        problem = "there is an address where the names of columns should be"
        raise TableFileError(wanted.name, problem, "give --no-header", row=1)
    check_columns(wanted.name, names, wanted.keys)


def _holds_address(cell: str) -> bool:
    """Tell whether an address is in a cell, also among other words or before a port."""
    return bool(_IPV4.search(cell)) or any(map(_is_address, _OTHER.split(cell)))


def _is_address(text: str) -> bool:
    try:
        parse(text)
    except InvalidAddressError:
        return False
    return True


class _Whole:
    """A stream of which a beginning was read already."""

    closed = False

    def __init__(self, first: bytes, rest: Any) -> None:
        self._first: io.BytesIO | None = io.BytesIO(first)
        self._rest = rest

    def read(self, size: int = -1) -> bytes:
        if self._first is not None:
            if part := self._first.read(size):
                return part
            self._first = None
        found: bytes = self._rest.read(size)
        return found


class _Reader:
    """Arrow's reader of one file, and what to say when it finds something wrong."""

    def __init__(self, stream: _Whole, names: list[str], delimiter: str, wanted: Reading) -> None:
        self._stream = stream
        self._names = names
        self._delimiter = delimiter
        self._wanted = wanted

    def rows(self) -> Rows:
        batches = self._batches()
        first = next(batches)
        return Rows(first.schema, _chained(first, batches))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield batches, at least one; with ``dropped``, only the columns that are keys."""
        try:
            with explained(self._wanted.name, "CSV"):
                reader = self._open()
                none = pa.record_batch(
                    [pa.array([], each.type) for each in reader.schema], schema=reader.schema
                )
                yield none
                yield from reader
        except TableFileError as error:
            raise self._explained(error) from error.__cause__

    def _open(self) -> Any:
        wanted = self._wanted
        text = [] if wanted.infer_types and wanted.rest == "typed" else self._names
        return arrow_csv.open_csv(
            pa.PythonFile(self._stream, "r"),
            # One thread, for only then a bad row's number is known.
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


def _chained(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


class CellSink:
    """Writes rows as lines; cells are quoted where they need to be, and only there."""

    def __init__(self, stream: Any, schema: pa.Schema, delimiter: str, *, header: bool) -> None:
        self._stream = stream
        self._delimiter = delimiter.encode()
        self._special = f'["\r\n{"" if delimiter.isalnum() else chr(92)}{delimiter}]'
        if header:
            self._put([pa.array([name.encode()], pa.large_binary()) for name in schema.names])

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows; null is nothing, an empty text is ``""``."""
        self._put([cell_texts(column) for column in batch.columns])

    def _put(self, columns: list[pa.Array]) -> None:
        parts: list[Any] = []
        for column in columns:
            parts += [self._delimiter, self._quoted(column)]
        self._stream.write(bytes_of(joined(*parts[1:], b"\n")))

    def _quoted(self, texts: pa.Array) -> pa.Array:
        needs = pc.or_(
            pc.match_substring_regex(texts, self._special), pc.equal(pc.binary_length(texts), 0)
        )
        needs = pc.fill_null(needs, False)
        if not pc.any(needs).as_py():
            return texts
        doubled = pc.replace_substring(texts.filter(needs), b'"', b'""')
        return pc.replace_with_mask(texts, needs, joined(b'"', doubled, b'"'))

    def close(self) -> None:
        """Nothing is left to write."""
