"""JSON lines to batches, by Arrow's JSON reader.

Arrow parses blocks of whole lines in threads, with the types that the first records show. A block
with other keys is planned again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any, TypeAlias

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup.files.json_lines import parse
from geolookup.files.lines import Lines
from geolookup.files.text_blocks import TextError, line_blocks
from geolookup.parallel import in_order
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.delimited import find_rejects
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Reading
from geolookup_builder.sources.reading.products import Fields, typed_header
from geolookup_builder.sources.reading.reader import Batch, RecordNumbers
from geolookup_builder.sources.reading.sniffing import JSON, TEXT, check_kind
from geolookup_builder.sources.reading.text import check_utf8, line_layout
from geolookup_builder.sources.reading.typed_columns import as_columns, columns_of, flat, only
from geolookup_builder.values import is_text

BLOCK_BYTES = 4 << 20
MAX_LINE = 16 << 20  # bytes or characters
_SAMPLE_BYTES = 1 << 15  # of records that show what keys and types there are
_SAMPLES = 1000  # until all keys that are looked for were seen
#: Of 128 bits: 39 digits. Numbers of ranges may be so long, and have no fraction.
_INTEGER = pa.decimal256(39, 0)
#: Nested deeper, values are ignored: Arrow's types are nested as deep as the values.
_DEPTH = 40
#: ``bool`` before the numbers: it is an ``int``.
_TYPES = ((bool, pa.bool_()), (str, pa.string()), (int | float, pa.float64()))
#: Values that were seen: of an object its members, of a list its items, else a type, or None.
_Shape: TypeAlias = Any


def schema(member: Member, paths: Iterable[str] = ()) -> pa.Schema:
    """Return the keys of the first records as columns, with the types of their first values.

    More records are read if these lack some of the ``paths``.
    """
    return _schema(_sampled(member, paths))


def _sampled(member: Member, paths: Iterable[str]) -> dict[str, Any]:
    check_kind(member, TEXT, JSON)
    shape: dict[str, Any] = {}
    with member.open() as stream:
        for line, block in islice(line_blocks(stream, _SAMPLE_BYTES, MAX_LINE), _SAMPLES):
            check_utf8(line, block)
            lines = Lines.of(block, line)
            for number, text in zip(lines.numbers, lines.texts.to_pylist(), strict=True):
                _widen(shape, _object(member, int(number), text))
            if {*paths} <= {*flat(_schema(shape)).names}:
                break
    return shape


def _object(member: Member, line: int, text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        remedy = "write one object a line; the file may be truncated"
        raise BuildError(member.label, "not a JSON object", line=line, remedy=remedy)
    return value


def _widen(shape: _Shape, value: Any, depth: int = 0) -> _Shape:
    """Return a shape with that of a value; one of another kind than the first is ignored."""
    if depth > _DEPTH or value is None:
        return shape
    if isinstance(value, dict):
        shape = {} if shape is None else shape
        for key, below in value.items() if isinstance(shape, dict) else ():
            shape[key] = _widen(shape.get(key), below, depth + 1)
    elif isinstance(value, list):
        shape = [None] if shape is None else shape
        for item in value if isinstance(shape, list) else ():
            shape[0] = _widen(shape[0], item, depth + 1)
    elif shape is None:
        shape = next(arrow for python, arrow in _TYPES if isinstance(value, python))
    return shape


def _schema(shape: dict[str, Any]) -> pa.Schema:
    return pa.schema([pa.field(key, _type(below)) for key, below in shape.items() if is_text(key)])


def _type(shape: _Shape) -> pa.DataType:
    """Return the type of a column; text if there was no value."""
    if isinstance(shape, dict):
        return pa.struct(list(_schema(shape)))
    return pa.list_(_type(shape[0])) if isinstance(shape, list) else shape or pa.string()


def batches(member: Member, reading: Reading) -> Iterator[Batch]:
    """Yield the records of a member; BuildError if a line is not a JSON object.

    Records with other keys than the first ones are planned again.
    """
    blocks = _Blocks(member, reading)
    find = partial(find_rejects, layout=line_layout())
    numbers = RecordNumbers(member, find, blocks.unread, reading.layout.offered)
    with (
        member.open() as stream,
        in_order(blocks.read, line_blocks(stream, BLOCK_BYTES, MAX_LINE)) as parts,
    ):
        for ranges, fields in parts:
            numbers.unread = blocks.unread
            yield numbers.batch(ranges, fields)


class _Blocks:
    """Reads blocks of records in threads, with the keys of the first records and of later ones."""

    def __init__(self, member: Member, reading: Reading) -> None:
        self._member, self._replan, self._lock = member, reading.replan, Lock()
        self._shape = _sampled(member, reading.layout.texts | reading.layout.fields)
        schema = _schema(self._shape)
        # One object: threads replace it.
        self._state = schema, reading, frozenset(flat(schema).names)

    @property
    def unread(self) -> tuple[str, ...]:
        """The paths that nothing reads."""
        return self._state[1].layout.unread

    def read(self, numbered_block: tuple[int, bytes]) -> tuple[ParsedRanges, Fields]:
        """Return the ranges and fields of a block, given with the number of its first line."""
        line, block = numbered_block
        check_utf8(line, block)
        lines = Lines.of(block, line)
        schema, reading, known = self._state
        table = self._parse(lines, schema, reading)
        if new := frozenset(flat(table.schema).names) - known:
            schema, reading = self._learn(lines, new)
            table = self._parse(lines, schema, reading)
        # A block is one chunk of Arrow at most times; a batch needs one array a column.
        columns = [column.combine_chunks() for column in table.columns]
        rows = pa.RecordBatch.from_arrays(columns, schema=table.schema)
        columns_of(self._member, rows.schema, reading.layout)  # checks their types
        return reading.meaning(as_columns(rows, reading.layout))

    def _parse(self, lines: Lines, schema: pa.Schema, reading: Reading) -> pa.Table:
        """Return the keys of a layout, and those that the schema lacks."""
        types = {}
        for name, kind in columns_of(self._member, schema, reading.layout).items():
            is_number = name in reading.layout.texts and pa.types.is_floating(kind)
            types[name] = _INTEGER if is_number else kind
        read = pa.schema(only(schema, types))
        try:
            return parse(lines, read, "infer")
        except TextError:  # perhaps of a key that nothing reads
            return parse(lines, read)

    def _learn(self, lines: Lines, new: frozenset[str]) -> tuple[pa.Schema, Reading]:
        """Add the keys of lines, and plan again: Arrow would take dates in texts for times.

        A new path that has another kind than the same key before is not learnt twice.
        """
        with self._lock:
            for text in lines.texts:
                _widen(self._shape, json.loads(text.as_py()))
            schema = _schema(self._shape)
            reading = self._replan(typed_header(self._member.label, schema))
            self._state = schema, reading, self._state[2] | new
            return schema, reading
