"""JSON lines: one object a line.

From JSON lines to JSON lines a line is preserved and new members are appended;
into other formats, the first block decides which columns there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
from geolookup.files.column_text import bytes_of, joined, json_texts
from geolookup.files.lines import Lines, lines_of
from geolookup.files.row_streams import (
    LINE,
    ReadOptions,
    RowNumbers,
    Rows,
    WriteOptions,
    check_columns,
)

_NO_LINES = Lines(pa.array([], pa.large_binary()), [])


class JsonLines:
    """Reads and writes one object a line."""

    def read(self, stream: InputStream, wanted: ReadOptions) -> Rows:
        """Return rows: the keys and whole lines, or columns of the types of the first block."""
        blocks = lines_of(stream.plain, wanted.name)
        first = next(blocks, _NO_LINES)
        found = _first_schema(first, wanted)
        check_columns(wanted.name, found.names if len(first.texts) else wanted.keys, wanted.keys)
        keys = pa.schema([_key(found, key) for key in wanted.keys])
        parsed = found if wanted.rest == "typed" else keys
        schema = (
            parsed.append(pa.field(LINE, pa.large_binary())) if wanted.rest == "as_is" else parsed
        )
        numbers = RowNumbers()
        batches = _batches(first, blocks, parsed, schema, wanted, numbers)
        return Rows(schema, batches, numbers=numbers)

    def names(self, stream: InputStream, wanted: ReadOptions) -> list[str]:
        """Return the keys of the first block, of its first line where the types differ."""
        first = next(lines_of(stream.plain, wanted.name), _NO_LINES)
        return list(_first_schema(first, replace(wanted, keys=(), rest="dropped")).names)

    def write(self, stream: Any, schema: pa.Schema, _wanted: WriteOptions) -> ObjectSink:
        """Return a sink that writes an object a row."""
        return ObjectSink(stream, schema)


def _first_schema(first: Lines, wanted: ReadOptions) -> pa.Schema:
    """Return the columns of the first block; texts in the form of timestamps remain texts."""
    if not len(first.texts):
        return pa.schema([pa.field(key, pa.string()) for key in wanted.keys])
    try:
        found = _parse(first, None, wanted.name).schema
    except TableFileError:
        if wanted.rest == "typed":
            raise
        # Other columns may change their type from line to line: only their names are needed.
        found = _parse(Lines(first.texts[:1], first.numbers[:1]), None, wanted.name).schema
    return pa.schema(
        [
            each.with_type(pa.string()) if pa.types.is_timestamp(each.type) else each
            for each in found
        ]
    )


def _key(schema: pa.Schema, key: str) -> pa.Field:
    if key not in schema.names:
        return pa.field(key, pa.string())
    found = schema.field(key)
    return found.with_type(pa.string()) if pa.types.is_null(found.type) else found


def _batches(
    first: Lines,
    rest: Iterator[Lines],
    parsed: pa.Schema,
    schema: pa.Schema,
    wanted: ReadOptions,
    numbers: RowNumbers,
) -> Iterator[pa.RecordBatch]:
    for lines in _with(first, rest):
        numbers.add(lines.numbers)
        table = _parse(lines, parsed, wanted.name).select(parsed.names).combine_chunks()
        columns = [column.combine_chunks() for column in table.columns]
        if wanted.rest == "as_is":
            columns.append(lines.texts)
        yield pa.record_batch(columns, schema=schema)


def _with(first: Lines, rest: Iterator[Lines]) -> Iterator[Lines]:
    if len(first.texts):
        yield first
    for lines in rest:
        if len(lines.texts):
            yield lines


def _parse(lines: Lines, schema: pa.Schema | None, name: str) -> pa.Table:
    data = bytes_of(joined(lines.texts, b"\n"))
    try:
        table = arrow_json.read_json(
            pa.BufferReader(data),
            arrow_json.ReadOptions(use_threads=False, block_size=max(data.size, 1)),
            arrow_json.ParseOptions(
                explicit_schema=schema,
                unexpected_field_behavior="ignore" if schema is not None else "infer",
            ),
        )
    except pa.ArrowException as error:
        raise _explained(str(error), lines, name) from None  # Arrow's text quotes cells
    if table.num_rows != len(lines.texts):
        raise TableFileError(name, "not one object a line", "write each object on its own line")
    return table


def _explained(cause: str, lines: Lines, name: str) -> TableFileError:
    _, found, number = cause.rpartition(" in row ")
    at = int(number) if found and number.isdigit() else None
    row = int(lines.numbers[at]) if at is not None and at < len(lines.numbers) else None
    if "changed from" in cause and "Column()" not in cause:
        problem, remedy = "a member changes its type", "make it one type, or write JSON lines"
    elif "twice" in cause:
        problem, remedy = "a member is there twice", "repair the line"
    else:
        problem, remedy = "no JSON object", "repair the line; is the file whole?"
    return TableFileError(name, problem, remedy, row=row)


class ObjectSink:
    """Writes rows as objects; new members are appended to lines that were read ``as_is``."""

    def __init__(self, stream: Any, schema: pa.Schema) -> None:
        self._stream = stream
        self._line = schema.names.index(LINE) if LINE in schema.names else None
        self._first = 0 if self._line is None else self._line + 1
        self._names = schema.names[self._first :]

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows; a null value is written as null."""
        members = joined_members(self._names, batch.columns[self._first :])
        self._stream.write(bytes_of(joined(*self._begin(batch), members, b"}\n")))

    def _begin(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the text before the first new member of each row."""
        if self._line is None:
            return [pa.array([b"{"] * len(batch), pa.large_binary())]
        lines = batch.column(self._line)
        is_empty = pc.match_substring_regex(lines, r"^\{\s*\}$")
        empty, comma = (pa.scalar(each, pa.large_binary()) for each in (b"", b","))
        without_bracket = pc.binary_replace_slice(lines, -1, 1 << 60, b"")
        return [without_bracket, pc.if_else(is_empty, empty, comma)]

    def close(self) -> None:
        """Do nothing: every row is written."""


def joined_members(names: list[str], columns: list[pa.Array]) -> pa.Array:
    """Return n rows as texts: the members of their objects, and commas."""
    parts: list[Any] = []
    for name, column in zip(names, columns, strict=True):
        key = json.dumps(name, ensure_ascii=False).encode() + b":"
        parts += [b",", key, json_texts(column).fill_null(b"null")]
    return joined(*parts[1:])
