"""JSON lines: one object a line.

From JSON lines to JSON lines a line stays as it is, and members are added at
its end; into other formats, the first block says which columns there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from geolookup.errors import TableFileError
from geolookup.files.lines import Lines, lines_of
from geolookup.files.reading import LINE, Reading, Rows, check_columns
from geolookup.files.rendering import bytes_of, joined, json_texts
from geolookup.files.streams import Incoming
from geolookup.files.writing import Writing

_NOTHING = Lines(pa.array([], pa.large_binary()), [])


class JsonLines:
    """Reads and writes one object a line."""

    def read(self, stream: Incoming, wanted: Reading) -> Rows:
        """Return rows: the keys and whole lines, or columns of the types of the first block."""
        blocks = lines_of(stream.plain, wanted.name)
        first = next(blocks, _NOTHING)
        met = _met(first, wanted)
        check_columns(wanted.name, met.names if len(first.texts) else wanted.keys, wanted.keys)
        parsed = met if wanted.rest == "typed" else pa.schema([_key(met, k) for k in wanted.keys])
        schema = (
            parsed.append(pa.field(LINE, pa.large_binary())) if wanted.rest == "as_is" else parsed
        )
        return Rows(schema, _batches(first, blocks, parsed, schema, wanted))

    def write(self, stream: Any, schema: pa.Schema, _wanted: Writing) -> ObjectSink:
        """Return a sink that writes an object a row."""
        return ObjectSink(stream, schema)


def _met(first: Lines, wanted: Reading) -> pa.Schema:
    """Return the columns of the first block; texts that look like times stay texts."""
    if not len(first.texts):
        return pa.schema([pa.field(key, pa.string()) for key in wanted.keys])
    try:
        found = _parse(first, None, wanted.name).schema
    except TableFileError:
        if wanted.rest == "typed":
            raise
        # Other columns may change their type from line to line; only their names matter.
        found = _parse(Lines(first.texts[:1], first.numbers[:1]), None, wanted.name).schema
    return pa.schema(
        [
            each.with_type(pa.string()) if pa.types.is_timestamp(each.type) else each
            for each in found
        ]
    )


def _key(met: pa.Schema, key: str) -> pa.Field:
    if key not in met.names:
        return pa.field(key, pa.string())
    found = met.field(key)
    return found.with_type(pa.string()) if pa.types.is_null(found.type) else found


def _batches(
    first: Lines, rest: Iterator[Lines], parsed: pa.Schema, schema: pa.Schema, wanted: Reading
) -> Iterator[pa.RecordBatch]:
    for lines in _with(first, rest):
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
        raise _explained(str(error), lines, name) from error
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
    """Writes rows as objects: new members go to the end of lines that were read as they are."""

    def __init__(self, stream: Any, schema: pa.Schema) -> None:
        self._stream = stream
        self._line = schema.names.index(LINE) if LINE in schema.names else None
        self._first = 0 if self._line is None else self._line + 1
        self._names = [
            json.dumps(n, ensure_ascii=False).encode() for n in schema.names[self._first :]
        ]

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows; what is null is said to be so."""
        parts: list[Any] = []
        for name, column in zip(self._names, batch.columns[self._first :], strict=True):
            parts += [b",", name + b":", json_texts(column).fill_null(b"null")]
        parts[:1] = self._begin(batch)
        self._stream.write(bytes_of(joined(*parts, b"}\n")))

    def _begin(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return what stands before the first new member of each row."""
        if self._line is None:
            return [pa.array([b"{"] * len(batch), pa.large_binary())]
        lines = batch.column(self._line)
        is_empty = pc.match_substring_regex(lines, r"^\{\s*\}$")
        nothing, comma = (pa.scalar(each, pa.large_binary()) for each in (b"", b","))
        without_bracket = pc.binary_replace_slice(lines, -1, 1 << 60, b"")
        return [without_bracket, pc.if_else(is_empty, nothing, comma)]

    def close(self) -> None:
        """Nothing is left to write."""
