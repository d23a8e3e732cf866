"""JSON lines, one object per line, parsed by Arrow.

From JSON lines to JSON lines, a line is preserved and new members are appended. Into other formats,
the first block decides the columns.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from geolookup.files.byte_streams import InputStream
from geolookup.files.column_text import TextSink, bytes_of, join, joined_members
from geolookup.files.lines import Lines, line_blocks_of
from geolookup.files.row_streams import (
    LINE,
    Block,
    ReadOptions,
    Rows,
    WriteOptions,
    check_columns,
    holds_address,
    paths,
)
from geolookup.files.text_blocks import TextError

#: Bytes of a block; the first one decides the columns.
_BLOCK = 1 << 22
_KEY = re.compile(r"Column\(/(.+?)\)")
#: Arrow crashes when it infers types of great depth; this is its own limit for IPC files.
_DEEPEST = 64
#: What a line with an integer has that floats may not have: from 2^53 on, that is 16 digits.
_LONG = "(^|[^0-9.])[0-9]{16}"
_STRING = re.compile(rb'(?s)"(?:[^"\\]++|\\.)*+"?')
_TYPES = ((bool, pa.bool_()), (str, pa.string()), (int | float, pa.float64()))


def read_json(stream: InputStream, options: ReadOptions) -> Rows:
    """Return rows: the keys and whole lines, or columns of the types of the first block."""
    blocks = line_blocks_of(stream, options.name, _BLOCK)
    raw = next(blocks, (1, b""))
    first = Lines.of(raw[1], raw[0])
    is_typed, has_lines = options.others == "typed", options.others == "as_is"
    if not len(first.texts):
        read = pa.schema([(key, pa.string()) for key in options.keys])
    elif is_typed:
        read = pa.schema(_texts(parse(first, None).schema))
        check_columns(options, paths(read))
    else:
        types = _types_of_members(first, options.keys)
        check_columns(options, list(types))
        read = _schema_of({key: types[key] or pa.string() for key in options.keys})
    schema = read.append(pa.field(LINE, pa.large_binary())) if has_lines else read
    dropped = set[str]()

    def batch(numbered: tuple[int, bytes]) -> Block:
        lines = Lines.of(numbered[1], numbered[0])
        table = parse(lines, read, "infer" if is_typed else "ignore")
        if not table.schema.equals(read):  # members that the first block lacks
            dropped.update(path for path in paths(table.schema) if path not in paths(read))
            table = parse(lines, read)
        if is_typed:
            _check_integers(table, lines)
        columns = [column.combine_chunks() for column in table.columns]
        columns += [lines.texts] * has_lines
        return Block(pa.record_batch(columns, schema=schema), lines.numbers)

    return Rows(schema, chain([raw] if len(first.texts) else [], blocks), batch, dropped=dropped)


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


def _types_of_members(lines: Lines, keys: Iterable[str]) -> dict[str, pa.DataType | None]:
    """Return the types of members by path, of as many lines as show a value of each key."""
    types: dict[str, pa.DataType | None] = {}
    for number, text in zip(lines.numbers, lines.texts, strict=True):
        members = _object(text.as_py())
        if members is None:
            raise _no_object(number)
        for path, value in _members(members):
            of_value = (kind for python, kind in _TYPES if isinstance(value, python))
            types[path] = types.get(path) or next(of_value, None)
        if all(types.get(key) for key in keys):
            break
    return types


def _members(value: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the paths and values of the members that are not objects."""
    for name, member in value.items():
        if isinstance(member, dict):
            yield from _members(member, f"{before}{name}.")
        else:
            yield before + name, member


def _schema_of(types: dict[str, pa.DataType]) -> pa.Schema:
    """Return columns of paths: ``request.ip`` is a member of the column ``request``."""
    columns: dict[str, pa.DataType] = {}
    for path, kind in types.items():
        name, _, below = path.partition(".")
        if below:
            known = columns.get(name, pa.struct([]))
            kind = pa.struct([*known, *_schema_of({below: kind})])
        columns[name] = kind
    return pa.schema(columns.items())


def parse(lines: Lines, schema: pa.Schema | None, unexpected: str = "ignore") -> pa.Table:
    """Return the objects of lines as columns; without a schema, Arrow infers the types.

    ``unexpected`` is the treatment of members outside the schema: "ignore" or "infer".
    Raises TextError for a line that is not one object, or whose types differ.
    """
    if schema is not None and not len(lines.texts):
        return schema.empty_table()
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


def _check_integers(table: pa.Table, lines: Lines) -> None:
    """Raise TextError for an integer that a column or a member of floats has changed."""
    is_long = pc.match_substring_regex(lines.texts, _LONG)
    for at in np.flatnonzero(is_long.to_numpy(zero_copy_only=False)).tolist():
        members = json.loads(lines.texts[at].as_py())
        for name, value in table.slice(at, 1).to_pylist()[0].items():
            if _is_changed(members.get(name), value):
                member = "a member" if holds_address(name) else f"member {name!r}"
                problem = f"{member} has an integer too large for its column"
                raise TextError(problem, "write it in quotes", int(lines.numbers[at]))


def _is_changed(value: Any, read: Any) -> bool:
    if isinstance(value, dict):
        return any(_is_changed(member, read.get(name)) for name, member in value.items())
    if isinstance(value, list):
        return any(map(_is_changed, value, read))
    return type(value) is int and isinstance(read, float) and value != read


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
    key = _KEY.search(str(cause))
    member = "a member" if key is None or holds_address(key[1]) else f"member {key[1]!r}"
    problem = f"{member} changes its type, occurs twice or is malformed"

    def is_refused(count: int) -> bool:
        try:
            _read(lines.texts[:count], schema, unexpected)
        except pa.ArrowInvalid:
            return True
        return False

    # Arrow states no row of a value that it cannot convert: it ends the fewest refused lines.
    at = bisect_left(range(1, len(lines.texts)), True, key=is_refused)
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

    def tails(columns: list[pa.Array]) -> pa.Array:
        return joined_members(schema.names[-len(columns) :], columns)

    def lines(columns: list[pa.Array], tails: pa.Array | None) -> pa.Array:
        if not first:
            members = [joined_members(schema.names[: len(columns)], columns)]
            members += [] if tails is None else [tails]
            return join(b"{", join(*members, delimiter=b","), b"}\n")
        # {"ip":"8.8.8.8"} loses its last byte, and the members follow after a comma.
        own = columns[first - 1]
        empty, comma = (pa.scalar(text, pa.large_binary()) for text in (b"", b","))
        between = pc.if_else(pc.match_substring_regex(own, r"^\{\s*\}$"), empty, comma)
        return join(pc.binary_replace_slice(own, -1, 1 << 60, b""), between, tails, b"}\n")

    return TextSink(stream, tails, lines)
