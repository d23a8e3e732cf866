"""Text files of lines: lists of addresses, and JSON lines, one object per line, parsed by Arrow.

From JSON lines to JSON lines, a line is preserved and new members are appended. Into other formats,
the first block decides the columns.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from geolookup.files.byte_streams import InputStream
from geolookup.files.column_text import TextSink, bytes_of, join, joined_members
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
    paths,
)
from geolookup.files.text_blocks import TextError, line_blocks, read_full
from geolookup.filesystem.signatures import START_BYTES

_BLOCK = 1 << 22
_NEWLINE = 10
_ROW = re.compile(r"in row (\d+)")
_KEY = re.compile(r"Column\(/(.+?)\)")
#: Arrow crashes when it infers types of great depth; this is its own limit for IPC files.
_DEEPEST = 64
#: What a line with an integer has that floats may not have: from 2^53 on, that is 16 digits.
_LONG = "(^|[^0-9.])[0-9]{16}"
_STRING = re.compile(rb'(?s)"(?:[^"\\]++|\\.)*+"?')
_TYPES = ((bool, pa.bool_()), (str, pa.string()), (int | float, pa.float64()))


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that are not blank, without line ends and surrounding whitespace."""

    texts: pa.Array  # large_binary
    numbers: Any  # int64, the line number of each in the file, from 1

    @classmethod
    def of(cls, block: bytes, first: int) -> Lines:
        """Return the lines of a block; its first line has the number ``first``."""
        texts = pc.ascii_trim_whitespace(cut_lines(block)).cast(pa.large_binary())
        not_blank = pc.greater(pc.binary_length(texts), 0)
        numbers = np.flatnonzero(not_blank.to_numpy(zero_copy_only=False)) + first
        return cls(texts.filter(not_blank), numbers)


def cut_lines(block: bytes) -> pa.Array:
    """Return the lines of a block, each with its line feed, as large_string without a copy."""
    if not block.endswith(b"\n"):
        block += b"\n"
    # b"a\n\nb\n": ends 2 3 5, bounds 0 2 3 5.
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE) + 1
    bounds = np.append(0, ends).astype(np.int64)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(block)]
    return pa.Array.from_buffers(pa.large_string(), len(ends), buffers)


def lines_of(plain: Any, name: str) -> Iterator[Lines]:
    """Yield the lines of a stream, without blank lines, a block at a time."""
    with explain_errors(name, "a file of lines"):
        begun = read_full(plain, START_BYTES)
        check_kind(name, begun, "text")
        for first, block in line_blocks(plain, _BLOCK, begun=begun):
            yield Lines.of(block, first)


def read_list(stream: InputStream, options: ReadOptions) -> Rows:
    """Return a list of addresses as one column, named by the first key; it need not be UTF-8."""
    column = options.keys[0] if options.keys else "ip"
    check_columns(options, [column])
    schema = pa.schema([(column, pa.large_string())])
    numbers = RowNumbers()

    def batches() -> Iterator[pa.RecordBatch]:
        for part in lines_of(stream.plain, options.name):
            numbers.add(part.numbers)
            texts = part.texts.cast(pa.large_string(), safe=False)
            yield pa.record_batch([texts], schema=schema)

    return Rows(schema, explained_batches(batches(), options.name, "a list"), numbers=numbers)


def read_json(stream: InputStream, options: ReadOptions) -> Rows:
    """Return rows: the keys and whole lines, or columns of the types of the first block."""
    blocks = (lines for lines in lines_of(stream.plain, options.name) if len(lines.texts))
    first = next(blocks, None)
    with explain_errors(options.name, "JSON"):
        if first is None:
            read = pa.schema([(key, pa.string()) for key in options.keys])
        elif options.others == "typed":
            read = pa.schema(_texts(parse(first, None).schema))
            check_columns(options, paths(read))
        else:
            types = _types_of_members(first, options.keys)
            check_columns(options, list(types))
            read = _schema_of({key: types[key] or pa.string() for key in options.keys})
    has_lines = options.others == "as_is"
    schema = read.append(pa.field(LINE, pa.large_binary())) if has_lines else read
    numbers, dropped = RowNumbers(), set[str]()

    def batches(parts: Iterable[Lines]) -> Iterator[pa.RecordBatch]:
        for lines in parts:
            numbers.add(lines.numbers)
            table = parse(lines, read, "infer" if options.others == "typed" else "ignore")
            if not table.schema.equals(read):  # members that the first block lacks
                dropped.update(path for path in paths(table.schema) if path not in paths(read))
                table = parse(lines, read)
            if options.others == "typed":
                _check_integers(table.schema, lines)
            columns = [column.combine_chunks() for column in table.columns]
            yield pa.record_batch([*columns, lines.texts] if has_lines else columns, schema=schema)

    rows = batches([] if first is None else chain([first], blocks))
    explained = explained_batches(rows, options.name, "JSON")
    return Rows(schema, explained, numbers=numbers, dropped=dropped)


def _texts(columns: Iterable[pa.Field]) -> Iterator[pa.Field]:
    """Yield columns; nulls, and texts in the form of timestamps, are texts, also in values."""
    for column in columns:
        kind = column.type
        if pa.types.is_timestamp(kind) or pa.types.is_null(kind):
            kind = pa.string()
        elif pa.types.is_struct(kind):
            kind = pa.struct([*_texts(kind)])
        elif pa.types.is_list(kind):
            kind = pa.list_(*_texts([kind.value_field]))
        yield column.with_type(kind)


def _types_of_members(lines: Lines, keys: tuple[str, ...]) -> dict[str, pa.DataType | None]:
    """Return the types of members by path, of as many lines as show a value of each key."""
    types: dict[str, pa.DataType | None] = {}

    def add(members: dict[str, Any], before: str = "") -> None:
        for name, value in members.items():
            of_value = (kind for python, kind in _TYPES if isinstance(value, python))
            if isinstance(value, dict):
                add(value, f"{before}{name}.")
            else:
                types[before + name] = types.get(before + name) or next(of_value, None)

    for number, text in zip(lines.numbers, lines.texts, strict=True):
        members = _object(text.as_py())
        if members is None:
            raise _no_object(number)
        add(members)
        if all(types.get(key) for key in keys):
            break
    return types


def _schema_of(types: dict[str, pa.DataType]) -> pa.Schema:
    """Return columns of paths: ``request.ip`` is a member of the column ``request``."""
    columns: dict[str, pa.DataType] = {}
    for path, kind in types.items():
        name, _, below = path.partition(".")
        known = columns.get(name, pa.struct([]))
        if below:
            kind = pa.struct([*known, *_schema_of({below: kind})])
        columns[name] = kind
    return pa.schema(columns.items())


def parse(lines: Lines, schema: pa.Schema | None, unexpected: str = "ignore") -> pa.Table:
    """Return the objects of lines as columns; without a schema, Arrow infers the types.

    ``unexpected`` is the treatment of members outside the schema: "ignore" or "infer".
    Raises TextError for a line that is not one object, or whose types differ.
    """
    # Arrow crashes on a bare ``null`` before the first object.
    if not pc.all(pc.starts_with(lines.texts, b"{")).as_py():
        raise _error(lines)
    if schema is None or unexpected == "infer":  # Arrow makes types that are as deep as the values
        _check_values(lines)
    try:
        table = _read(lines.texts, schema, unexpected)
    except pa.ArrowInvalid as error:
        raise _error(lines, error, schema, unexpected) from None  # Arrow's text quotes cells
    if table.num_rows != len(lines.texts):  # "{} {}" in one line is two objects for Arrow
        raise _error(lines)
    return table


def _read(texts: pa.Array, schema: pa.Schema | None, unexpected: str) -> pa.Table:
    data = bytes_of(join(texts, b"\n"))
    return arrow_json.read_json(
        pa.BufferReader(data),
        # One block: an object is never cut at the end of a block.
        arrow_json.ReadOptions(use_threads=False, block_size=max(data.size, 1)),
        arrow_json.ParseOptions(
            explicit_schema=schema,
            unexpected_field_behavior="infer" if schema is None else unexpected,
        ),
    )


def _check_values(lines: Lines) -> None:
    """Raise TextError for a line that is not UTF-8, and for one with values of great depth."""
    try:
        lines.texts.cast(pa.large_string())
    except pa.ArrowInvalid:
        for number, text in zip(lines.numbers, lines.texts, strict=True):
            if text.as_py().decode(errors="ignore").encode() != text.as_py():
                raise TextError("is not UTF-8", "convert the file first", int(number)) from None
    brackets = [pc.count_substring(lines.texts, bracket) for bracket in (b"[", b"{")]
    # Most texts have fewer brackets than that, so their depth is not computed.
    for at in np.flatnonzero(np.asarray(pc.add(*brackets)) > _DEEPEST).tolist():
        text = np.frombuffer(_STRING.sub(b"", lines.texts[at].as_py()), np.uint8)
        steps = np.isin(text, [*b"[{"]).astype(np.int64) - np.isin(text, [*b"]}"])
        if np.cumsum(steps).max(initial=0) > _DEEPEST:
            problem = f"values are nested deeper than {_DEEPEST}, or a bracket is not closed"
            raise TextError(problem, "flatten or repair them", int(lines.numbers[at]))


def _check_integers(schema: pa.Schema, lines: Lines) -> None:
    """Raise TextError for an integer that a column or a member of floats would change."""
    is_long = pc.match_substring_regex(lines.texts, _LONG)
    for at in np.flatnonzero(is_long.to_numpy(zero_copy_only=False)).tolist():
        members = json.loads(lines.texts[at].as_py())
        for column in schema:
            if _is_changed(members.get(column.name), column.type):
                member = "a member" if holds_address(column.name) else f"member {column.name!r}"
                problem = f"{member} has an integer too large for its column"
                raise TextError(problem, "write it in quotes", int(lines.numbers[at]))


def _is_changed(value: Any, kind: pa.DataType) -> bool:
    if isinstance(value, dict):
        return any(_is_changed(value.get(field.name), field.type) for field in kind)
    if isinstance(value, list):
        return any(_is_changed(item, kind.value_type) for item in value)
    if type(value) is not int or not pa.types.is_floating(kind):
        return False
    try:
        return int(float(value)) != value
    except OverflowError:
        return True


def _error(
    lines: Lines,
    cause: Exception | None = None,
    schema: pa.Schema | None = None,
    unexpected: str = "ignore",
) -> TextError:
    """Return the error for the first line that is no object, or for the cause that Arrow states."""
    for number, text in zip(lines.numbers, lines.texts, strict=True):
        if _object(text.as_py()) is None:
            return _no_object(number)
    row, key = _ROW.search(str(cause)), _KEY.search(str(cause))
    member = "a member" if key is None or holds_address(key[1]) else f"member {key[1]!r}"
    problem = f"{member} changes its type, occurs twice or is malformed"

    def is_refused(count: int) -> bool:
        try:
            _read(lines.texts[:count], schema, unexpected)
        except pa.ArrowInvalid:
            return True
        return False

    # Arrow states no row of a value that it cannot convert: it ends the fewest refused lines.
    at = int(row[1]) if row else bisect_left(range(1, len(lines.texts)), True, key=is_refused)
    return TextError(problem, "write each once, with one type", int(lines.numbers[at]))


def _no_object(line: int) -> TextError:
    remedy = "write one object per line; is the file whole?"
    return TextError("not one JSON object", remedy, int(line))


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_json(stream: Any, schema: pa.Schema, _options: WriteOptions) -> TextSink:
    """Return a sink of one object per row, or of lines with members appended; null is null."""
    first = schema.names.index(LINE) + 1 if LINE in schema.names else 0
    names = schema.names[first:]

    def render(batch: pa.RecordBatch) -> pa.Array:
        members = joined_members(names, batch.columns[first:])
        if not first:
            return join(b"{", members, b"}\n")
        # {"ip":"8.8.8.8"} loses its last byte, and the members follow after a comma.
        lines = batch.column(first - 1)
        empty, comma = (pa.scalar(text, pa.large_binary()) for text in (b"", b","))
        between = pc.if_else(pc.match_substring_regex(lines, r"^\{\s*\}$"), empty, comma)
        return join(pc.binary_replace_slice(lines, -1, 1 << 60, b""), between, members, b"}\n")

    return TextSink(stream, render)
