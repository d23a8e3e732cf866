"""Text files of lines: lists of addresses, and JSON lines, one object per line.

From JSON lines to JSON lines, a line is preserved and new members are appended. Into other formats,
the first block decides the columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from geolookup.files.byte_streams import InputStream
from geolookup.files.column_text import json_texts
from geolookup.files.joined_texts import bytes_of, join
from geolookup.files.json_depth import DEEPEST, first_deep_line
from geolookup.files.row_streams import (
    LINE,
    ReadOptions,
    RowNumbers,
    Rows,
    WriteOptions,
    check_columns,
    check_kind,
    explain_errors,
    explained_batches,
    holds_address,
)
from geolookup.files.text_blocks import TextError, line_blocks, read_full
from geolookup.filesystem.signatures import START_BYTES

_BLOCK = 1 << 22
_NEWLINE = 10
_ROW, _KEY = re.compile(r" in row (\d+)$"), re.compile(r"Column\(/(.+?)\)")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that are not blank, without line ends and surrounding whitespace."""

    texts: pa.Array  # large_binary
    numbers: Any  # int64, the line number of each in the file, from 1

    @classmethod
    def of(cls, block: bytes, first: int) -> Lines:
        """Return the lines of a block; its first line has the number ``first``."""
        if not block.endswith(b"\n"):
            block += b"\n"
        # b"a\n\nb\n": ends 2 3 5, bounds 0 2 3 5, texts "a\n", "\n" (dropped), "b\n".
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE) + 1
        # The block itself is the memory of the texts: each begins after a line feed.
        bounds = np.concatenate([[0], ends]).astype(np.int64)
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(block)]
        texts = pa.Array.from_buffers(pa.large_string(), len(ends), buffers)
        texts = pc.ascii_trim_whitespace(texts).cast(pa.large_binary())
        not_blank = pc.greater(pc.binary_length(texts), 0)
        numbers = np.flatnonzero(not_blank.to_numpy(zero_copy_only=False)) + first
        return cls(texts.filter(not_blank), numbers)


def lines_of(plain: Any, name: str) -> Iterator[Lines]:
    """Yield the lines of a stream, without blank lines, a block at a time."""
    with explain_errors(name, "a file of lines"):
        begun = read_full(plain, START_BYTES)
        check_kind(name, begun, "text")
        for first, block in line_blocks(plain, _BLOCK, begun=begun):
            yield Lines.of(block, first)


class PlainList:
    """Reads a list of addresses as one column, named by the first key; read only."""

    def read(self, stream: InputStream, options: ReadOptions) -> Rows:
        """Return one column; lines need not be UTF-8."""
        column = options.keys[0]
        check_columns(options, [column])
        schema = pa.schema([(column, pa.large_string())])
        numbers = RowNumbers()

        def batches() -> Iterator[pa.RecordBatch]:
            for part in lines_of(stream.plain, options.name):
                numbers.add(part.numbers)
                texts = part.texts.cast(pa.large_string(), safe=False)
                yield pa.record_batch([texts], schema=schema)

        row_batches = explained_batches(batches(), options.name, "a list")
        return Rows(schema, row_batches, numbers=numbers)

    def names(self, _stream: InputStream, _options: ReadOptions) -> list[str]:
        """Return no names: a list has no columns."""
        return []


_NO_LINES = Lines(pa.array([], pa.large_binary()), np.zeros(0, np.int64))


class JsonLines:
    """Reads and writes one object per line."""

    def read(self, stream: InputStream, options: ReadOptions) -> Rows:
        """Return rows: the keys and whole lines, or columns of the types of the first block."""
        blocks = lines_of(stream.plain, options.name)
        first = next(blocks, _NO_LINES)
        with explain_errors(options.name, "JSON"):
            columns = _first_schema(first, options)
        check_columns(options, columns.names if len(first.texts) else list(options.keys))
        keys = pa.schema([_key(columns, key) for key in options.keys])
        read = columns if options.others == "typed" else keys
        line = pa.field(LINE, pa.large_binary())
        schema = read.append(line) if options.others == "as_is" else read
        numbers = RowNumbers()
        batches = _batches(first, blocks, read, schema, options, numbers)
        return Rows(schema, explained_batches(batches, options.name, "JSON"), numbers=numbers)

    def names(self, stream: InputStream, options: ReadOptions) -> list[str]:
        """Return the keys of the first block; if its types differ, of its first line."""
        first = next(lines_of(stream.plain, options.name), _NO_LINES)
        with explain_errors(options.name, "JSON"):
            return list(_first_schema(first, replace(options, keys=(), others="dropped")).names)

    def write(self, stream: Any, schema: pa.Schema, _options: WriteOptions) -> ObjectSink:
        """Return a sink that writes one object per row."""
        return ObjectSink(stream, schema)


def _first_schema(first: Lines, options: ReadOptions) -> pa.Schema:
    """Return the columns of the first block; texts in the form of timestamps remain texts."""
    if not len(first.texts):
        return pa.schema([pa.field(key, pa.string()) for key in options.keys])
    try:
        schema = parse(first, None).schema
    except TextError:
        if options.others == "typed":
            raise
        # Other columns may change their type from line to line: only their names are needed.
        schema = parse(Lines(first.texts[:1], first.numbers[:1]), None).schema
    return pa.schema(
        [
            field.with_type(pa.string()) if pa.types.is_timestamp(field.type) else field
            for field in schema
        ]
    )


def _key(schema: pa.Schema, key: str) -> pa.Field:
    if key not in schema.names:
        return pa.field(key, pa.string())
    field = schema.field(key)
    return field.with_type(pa.string()) if pa.types.is_null(field.type) else field


def _batches(
    first: Lines,
    further: Iterator[Lines],
    read: pa.Schema,
    schema: pa.Schema,
    options: ReadOptions,
    numbers: RowNumbers,
) -> Iterator[pa.RecordBatch]:
    for lines in _with(first, further):
        numbers.add(lines.numbers)
        table = parse(lines, read).select(read.names).combine_chunks()
        columns = [column.combine_chunks() for column in table.columns]
        if options.others == "as_is":
            columns.append(lines.texts)
        yield pa.record_batch(columns, schema=schema)


def _with(first: Lines, further: Iterator[Lines]) -> Iterator[Lines]:
    if len(first.texts):
        yield first
    for lines in further:
        if len(lines.texts):
            yield lines


def parse(lines: Lines, schema: pa.Schema | None, unexpected: str = "ignore") -> pa.Table:
    """Return the objects of lines as columns; without a schema, Arrow infers the types.

    ``unexpected`` is the treatment of members outside the schema: "ignore" or "infer".
    Raises TextError for a line that is not one object, or whose types differ.
    """
    # Arrow crashes on a bare ``null`` before the first object.
    if not pc.all(pc.starts_with(lines.texts, b"{")).as_py():
        raise _error(lines, schema, "")
    if schema is None or unexpected == "infer":  # Arrow makes types that are as deep as the values
        _check_depth(lines)
    try:
        table = _table(lines, schema, unexpected)
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except pa.ArrowException as error:
        raise _error(lines, schema, str(error)) from None  # Arrow's text quotes cells
    # "{} {}" in one line is two objects for Arrow.
    if table.num_rows != len(lines.texts):
        raise _error(lines, schema, "")
    return table


def _check_depth(lines: Lines) -> None:
    if (deep := first_deep_line(lines.texts)) is not None:
        problem = f"values are nested deeper than {DEEPEST}, or a bracket is not closed"
        raise TextError(problem, "flatten or repair them", int(lines.numbers[deep]))


def _table(lines: Lines, schema: pa.Schema | None, unexpected: str) -> pa.Table:
    data = bytes_of(join(lines.texts, b"\n"))
    return arrow_json.read_json(
        pa.BufferReader(data),
        # One block: an object is never cut at the end of a block.
        arrow_json.ReadOptions(use_threads=False, block_size=max(data.size, 1)),
        arrow_json.ParseOptions(
            explicit_schema=schema,
            unexpected_field_behavior="infer" if schema is None else unexpected,
        ),
    )


def _error(lines: Lines, schema: pa.Schema | None, cause: str) -> TextError:
    """Return the error for lines that Arrow refuses with the text ``cause``."""
    for number, text in zip(lines.numbers, lines.texts.to_pylist(), strict=True):
        if not _is_object(text):
            remedy = "write one object per line; is the file whole?"
            return TextError("not one JSON object", remedy, int(number))
    row, key = _ROW.search(cause), _KEY.search(cause)
    at = int(row[1]) if row else len(lines.texts)
    line = lines.numbers[at] if at < len(lines.texts) else _first_bad_line(lines, schema)
    if cause.startswith("JSON parse error") and "Column(" not in cause:
        return TextError("a text is malformed, or a number too large", "repair it", int(line))
    member = "a member" if key is None or holds_address(key[1]) else f"member {key[1]!r}"
    problem = f"{member} occurs twice" if "twice" in cause else f"{member} changes its type"
    return TextError(problem, "write each member once, with one type", int(line))


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _first_bad_line(lines: Lines, schema: pa.Schema | None) -> int:
    """Return the number of the first line that Arrow refuses; at least one of ``lines`` is."""
    first, end = 0, len(lines.texts)
    while end - first > 1:
        # Bisection: log2(n) parses of a block instead of one for each line.
        middle = (first + end) // 2
        # The lines before ``first`` are accepted, one before ``end`` is not.
        try:
            _table(Lines(lines.texts[first:middle], lines.numbers), schema, "ignore")
        except MemoryError:  # Arrow's is an ArrowException too
            raise
        except pa.ArrowException:
            end = middle
        else:
            first = middle
    return int(lines.numbers[first])


class ObjectSink:
    """Writes rows as objects, or appends members to lines that were read ``as_is``."""

    def __init__(self, stream: Any, schema: pa.Schema) -> None:
        self._stream = stream
        self._line = schema.names.index(LINE) if LINE in schema.names else None
        self._first = 0 if self._line is None else self._line + 1
        self._names = schema.names[self._first :]

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows; a null value is written as null."""
        members = joined_members(self._names, batch.columns[self._first :])
        self._stream.write(bytes_of(join(*self._begin(batch), members, b"}\n")))

    def _begin(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the text before the first new member of each row."""
        if self._line is None:
            return [pa.array([b"{"] * len(batch), pa.large_binary())]
        lines = batch.column(self._line)
        is_empty = pc.match_substring_regex(lines, r"^\{\s*\}$")
        empty, comma = (pa.scalar(text, pa.large_binary()) for text in (b"", b","))
        # {"ip":"8.8.8.8"} loses its last byte, and the members follow after a comma.
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
    return join(*parts[1:])
