"""JSON lines to batches, by Arrow's JSON reader.

Arrow parses blocks of whole lines in threads, with the types that the first records show.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.errors import BuildError
from geolookup.files.lines import Lines, parse
from geolookup.files.text_blocks import TextError, line_blocks
from geolookup.parallel import in_order
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.positions import rejects_between
from geolookup_builder.sources.reading.reader import Batch, Meaning, RecordNumbers, Reject
from geolookup_builder.sources.reading.sniffing import check_text
from geolookup_builder.sources.reading.text import Layout, check_utf8
from geolookup_builder.sources.reading.typed_columns import (
    Steps,
    as_columns,
    leaves,
    only,
    steps_of,
    steps_to,
    type_at,
    unread_leaves,
)
from geolookup_builder.text_lists import is_text

BLOCK_BYTES = 4 << 20
MAX_LINE = 16 << 20  # bytes or characters
_SAMPLE = 1000  # records that show what keys and types there are
_SAMPLES = 100  # until all keys that are looked for were seen
#: Of 128 bits: 39 digits.
_INTEGER = pa.decimal256(39, 0)

#: Nested deeper, values are ignored: Arrow's types are nested as deep as the values.
_DEPTH = 40
#: ``bool`` before the numbers: it is an ``int``.
_TYPES = ((bool, pa.bool_()), (str, pa.string()), (int | float, pa.float64()))

#: How records are read, and their meaning.
Plan = tuple[Layout, Meaning]
#: Returns the plan for records with these columns.
Replan = Callable[[pa.Schema], Plan]


def schema(member: Member, paths: Iterable[str] = ()) -> pa.Schema:
    """Return the keys of the first records as columns, with the types of their first values.

    More records are read if these lack some of the ``paths``.
    """
    return pa.schema(list(_sampled(member, paths).columns()))


def _sampled(member: Member, paths: Iterable[str]) -> Shape:
    check_text(member)
    shape = Shape()
    with _text(member) as stream:
        lines = _lines(stream)
        for _ in range(_SAMPLES):
            for line, text in islice(lines, _SAMPLE):
                shape.add(_object(member, line, text))
            columns = pa.schema(list(shape.columns()))
            if all(steps_to(columns, path) is not None for path in paths):
                break
    return shape


def batches(
    member: Member, layout: Layout, meaning: Meaning, replan: Replan | None = None
) -> Iterator[Batch]:
    """Yield the records of a member; BuildError if a line is not a JSON object.

    ``replan`` says how records are read that have other keys than the first ones; by default these
    are ignored.
    """
    shape = _sampled(member, layout.texts | layout.fields)
    blocks = _Blocks(member, shape, (layout, meaning), replan)
    numbers = RecordNumbers(member, _find_rejects, blocks.unread, layout.offered)
    with (
        member.open() as stream,
        in_order(blocks.read, line_blocks(stream, BLOCK_BYTES, MAX_LINE)) as parts,
    ):
        for ranges, fields in parts:
            numbers.unread = blocks.unread
            yield numbers.batch(ranges, fields)


class _Blocks:
    """Reads blocks of records in threads, with the keys of the first records and of later ones."""

    def __init__(self, member: Member, shape: Shape, plan: Plan, replan: Replan | None) -> None:
        self._member, self._shape, self._replan = member, shape, replan
        schema = pa.schema(list(shape.columns()))
        self._state = schema, plan, frozenset(leaves(schema))  # one object: threads replace it
        self._lock = Lock()

    @property
    def unread(self) -> tuple[str, ...]:
        """The paths that nothing reads."""
        schema, (layout, _), _ = self._state
        return unread_leaves(schema, layout)

    def read(self, numbered_block: tuple[int, bytes]) -> tuple[ParsedRanges, Mapping[str, Any]]:
        """Return the ranges and fields of a block, given with the number of its first line."""
        line, block = numbered_block
        check_utf8(line, block)
        lines = Lines.of(block, line)
        schema, (layout, meaning), known = self._state
        table = self._parse(lines, schema, layout)
        if self._replan and (new := frozenset(leaves(table.schema)) - known):
            schema, (layout, meaning) = self._learn(lines, new, self._replan)
            table = self._parse(lines, schema, layout)
        # A block is one chunk of Arrow at most times; a batch needs one array a column.
        columns = [column.combine_chunks() for column in table.columns]
        rows = pa.RecordBatch.from_arrays(columns, schema=table.schema)
        return meaning(as_columns(rows, layout, steps_of(self._member, rows.schema, layout)))

    def _parse(self, lines: Lines, schema: pa.Schema, layout: Layout) -> pa.Table:
        """Return the keys of a layout, and those that the schema lacks."""
        steps = steps_of(self._member, schema, layout)
        types = {
            path: _parsed_type(schema, path, of_range=name in layout.texts)
            for name, path in steps.items()
        }
        arrow_schema = pa.schema(only(schema, types))
        if self._replan:
            try:
                return parse(lines, arrow_schema, "infer")
            except TextError:  # perhaps of a key that nothing reads
                pass
        return parse(lines, arrow_schema)

    def _learn(self, lines: Lines, new: frozenset[str], replan: Replan) -> tuple[pa.Schema, Plan]:
        """Add the keys of lines, and plan again: Arrow would take dates in texts for times.

        A new path that has another kind than the same key before is not learnt twice.
        """
        with self._lock:
            for text in lines.texts:
                self._shape.add(json.loads(text.as_py()))
            schema = pa.schema(list(self._shape.columns()))
            plan = replan(schema)
            self._state = schema, plan, self._state[2] | new
            return schema, plan


def _parsed_type(columns: pa.Schema, steps: Steps, *, of_range: bool) -> pa.DataType:
    """Return the type of a column: numbers of ranges may have 128 bits, and have no fraction."""
    kind = type_at(columns, steps)
    return _INTEGER if of_range and pa.types.is_floating(kind) else kind


def _find_rejects(member: Member, reasons: dict[int, str]) -> Iterator[Reject]:
    """Yield the records with these numbers (from 1), with line and text."""
    with _text(member) as stream:
        lines = np.fromiter((line for line, _ in _lines(stream)), np.int64)
    of_records = lines[np.array(sorted(reasons), np.int64) - 1]
    return rejects_between(member, reasons, of_records, of_records + 1, "\n")


@contextmanager
def _text(member: Member) -> Iterator[io.TextIOWrapper]:
    with (
        member.open() as stream,
        io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="\n") as text,
    ):
        yield text


def _lines(stream: io.TextIOWrapper) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        if line.strip(" \t\r\n\v\f"):
            yield number, line


def _object(member: Member, line: int, text: str | bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        remedy = "write one object a line; the file may be truncated"
        raise BuildError(member.label, "not a JSON object", line=line, remedy=remedy)
    return value


class Shape:
    """The kind of the first values of a key: one type, objects with members, or lists of items."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._type: pa.DataType | None = None
        self._members: dict[str, Shape] | None = None
        self._items: Shape | None = None

    def add(self, value: Any) -> None:
        """Note a value; null says nothing, and one of another kind than the first is ignored."""
        if self._depth > _DEPTH or value is None:
            return
        if isinstance(value, dict):
            self._add_members(value)
        elif isinstance(value, list):
            self._add_items(value)
        elif self._is_new():
            self._type = next(arrow for python, arrow in _TYPES if isinstance(value, python))

    def _is_new(self) -> bool:
        return self._type is None and self._members is None and self._items is None

    def _add_members(self, value: dict[str, Any]) -> None:
        if self._is_new():
            self._members = {}
        if self._members is not None:
            for key, member in value.items():
                self._members.setdefault(key, Shape(self._depth + 1)).add(member)

    def _add_items(self, value: list[Any]) -> None:
        if self._is_new():
            self._items = Shape(self._depth + 1)
        if self._items is not None:
            for item in value:
                self._items.add(item)

    def arrow_type(self) -> pa.DataType:
        """Return the type of a column of these values; text if there is none."""
        if self._members is not None:
            return pa.struct(list(self.columns()))
        if self._items is not None:
            return pa.list_(self._items.arrow_type())
        return self._type or pa.string()

    def columns(self) -> Iterator[pa.Field]:
        """Yield the members of objects as columns."""
        for key, shape in (self._members or {}).items():
            if is_text(key):
                yield pa.field(key, shape.arrow_type())
