"""JSON lines to batches, by Arrow's JSON reader.

Arrow parses blocks of whole lines in threads, with the types that the first records show.
When a block fails, its lines are parsed one by one to find the bad one. Arrow
crashes on a bare ``null`` before the first object, so a line that does not begin
an object is refused before.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError
from geolookup.parallel import in_order
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.json_shapes import Shape
from geolookup_builder.sources.reading.nested import Steps, leaves, only, steps_to, type_at
from geolookup_builder.sources.reading.reader import Batch, Meaning, RecordNumbers, Reject
from geolookup_builder.sources.reading.recognition import check_text
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.typed_columns import as_columns, steps_of

BLOCK_BYTES = 16 << 20
MAX_LINE = 16 << 20  # bytes or characters
_SAMPLE = 1000  # records that show what keys and types there are
_SAMPLES = 100  # until all keys that are looked for were seen
_OBJECT = re.compile(rb"^[ \t\r]*\{", re.MULTILINE)
_NO_OBJECT = re.compile(rb"^[ \t\r]*[^{ \t\r\n]", re.MULTILINE)
_ROW = re.compile(r"in row ([0-9]+)$")
#: Of 128 bits: 39 digits.
_INTEGER = pa.decimal256(39, 0)

#: How records are read, and what they mean.
Plan = tuple[Layout, Meaning]
#: Returns the plan for records with these columns.
Others = Callable[[pa.Schema], Plan]


def schema(member: Member, paths: Iterable[str] = ()) -> pa.Schema:
    """Return the keys of the first records as columns, with the types of their first values.

    More records are read where these lack some of the ``paths``.
    """
    check_text(member)
    shape = Shape()
    with _text(member) as stream:
        lines = _lines(stream)
        for _ in range(_SAMPLES):
            for line, text in islice(lines, _SAMPLE):
                shape.add(_object(member, line, text))
            found = pa.schema(list(shape.columns()))
            if all(steps_to(found, path) is not None for path in paths):
                break
    return found


def batches(
    member: Member, layout: Layout, meaning: Meaning, others: Others | None = None
) -> Iterator[Batch]:
    """Yield the records of a member; BuildError where a line is not a JSON object.

    ``others`` says how a block is read that has other keys than the first records; by default
    these are ignored.
    """
    numbers = RecordNumbers(member, _find_rejects, _first_lines)
    found = schema(member, layout.texts | layout.wanted)
    read = partial(_read, member=member, schema=found, plan=(layout, meaning), others=others)
    with member.open() as stream, in_order(read, _numbered(member, stream)) as blocks:
        for ranges, fields in blocks:
            batch = Batch(numbers, numbers.delivered, ranges, fields)
            numbers.delivered += len(batch)
            yield batch


def _read(
    numbered: tuple[int, bytes],
    member: Member,
    schema: pa.Schema,
    plan: Plan,
    others: Others | None,
) -> tuple[ParsedRanges, Mapping[str, Any]]:
    """Return the ranges and fields of a block; ``numbered`` has the number of its first line."""
    (layout, meaning), steps = plan, steps_of(member, schema, plan[0])
    types = {
        each: _parsed_type(schema, each, of_range=name in layout.texts)
        for name, each in steps.items()
    }
    known = pa.schema(only(schema, types))
    rows = _parsed(member, *numbered, known, "infer" if others else "ignore")
    if others and set(leaves(rows.schema)) != set(leaves(schema)):
        layout, meaning = others(rows.schema)
        steps = steps_of(member, rows.schema, layout)
    return meaning(as_columns(rows, layout, steps))


def _parsed_type(found: pa.Schema, steps: Steps, *, of_range: bool) -> pa.DataType:
    """Return the type of a column: numbers of ranges may have 128 bits, and have no fraction."""
    kind = type_at(found, steps)
    return _INTEGER if of_range and pa.types.is_floating(kind) else kind


def _find_rejects(member: Member, wanted: dict[int, str]) -> Iterator[Reject]:
    """Yield the records with these numbers (from 1), with line and text."""
    with _text(member) as stream:
        for number, (line, text) in enumerate(_lines(stream), 1):
            if number in wanted:
                yield Reject(member.label, line, wanted[number], text.rstrip("\r\n"))


def _first_lines(member: Member, records: I64) -> I64:
    """Return the line of each record, by number from 1."""
    with _text(member) as stream:
        found = np.fromiter((line for line, _ in _lines(stream)), np.int64)
    return found[records - 1]


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
        if line.strip(" \t\r\n"):
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


def _numbered(member: Member, stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of its first line."""
    line = 1
    for block in _blocks(member, stream):
        yield line, block
        line += block.count(b"\n")


def _blocks(member: Member, stream: IO[bytes]) -> Iterator[bytes]:
    """Yield blocks of whole lines, without a byte order mark."""
    pending = stream.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
    line = 1
    while piece := stream.read(BLOCK_BYTES):
        whole, newline, pending = (pending + piece).rpartition(b"\n")
        if newline:
            yield whole + newline
            line += whole.count(b"\n") + 1
        elif len(pending) > MAX_LINE:
            problem = f"a record of more than {MAX_LINE:,} bytes"
            raise BuildError(member.label, problem, line=line, remedy="write one object a line")
    if pending:
        yield pending


def _parsed(
    member: Member, line: int, block: bytes, schema: pa.Schema, unexpected: str
) -> pa.RecordBatch:
    """Parse the lines of a block, the first of which is ``line``."""
    _check(member, line, block)
    try:
        table = _table(block, schema, unexpected)
    except pa.ArrowInvalid as error:
        raise _failure(member, line, block, str(error), schema) from error
    if len(table) != _objects(block):
        text = "the numbers of lines and records differ"
        raise _failure(member, line, block, text, schema)
    columns = [column.combine_chunks() for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _table(block: bytes, schema: pa.Schema, unexpected: str) -> pa.Table:
    return pajson.read_json(
        io.BytesIO(block),
        pajson.ReadOptions(use_threads=False, block_size=len(block)),
        pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unexpected),
    )


def _check(member: Member, line: int, block: bytes) -> None:
    """Raise BuildError where a line is not UTF-8, which Arrow would accept, or no object."""
    try:
        block.decode()
    except UnicodeDecodeError as error:
        at = line + block.count(b"\n", 0, error.start)
        raise BuildError(
            member.label, "not UTF-8", line=at, remedy="convert it to UTF-8"
        ) from error
    if _objects(block) < _lines_in(block) and (other := _NO_OBJECT.search(block)):
        _object(member, line + block.count(b"\n", 0, other.end()), other[0])


def _objects(block: bytes) -> int:
    """Return how many lines begin an object; the slow pattern only where a blank comes first."""
    plain = block.count(b"\n{") + block.startswith(b"{")
    return plain if plain == _lines_in(block) else len(_OBJECT.findall(block))


def _lines_in(block: bytes) -> int:
    return block.count(b"\n") + (not block.endswith(b"\n"))


def _failure(member: Member, line: int, block: bytes, text: str, schema: pa.Schema) -> BuildError:
    """Return the error of a block that Arrow refused, with its line where one can be found."""
    lines = [(at, each) for at, each in enumerate(block.split(b"\n"), line) if each.strip()]
    for at, each in lines:
        _object(member, at, each)
    row = _ROW.search(text)
    place = lines[int(row[1])][0] if row and int(row[1]) < len(lines) else _refused(lines, schema)
    problem = f"differs from the records before ({text.splitlines()[0]})"
    return BuildError(
        member.label, problem, line=place, remedy="give each key one type, and state it once"
    )


def _refused(lines: list[tuple[int, bytes]], schema: pa.Schema) -> int:
    """Return the first line that Arrow refuses, of lines with one such."""
    while len(lines) > 1:
        half = lines[: len(lines) // 2]
        try:
            _table(b"\n".join(each for _, each in half), schema, "ignore")
        except pa.ArrowInvalid:
            lines = half
        else:
            lines = lines[len(half) :]
    return lines[0][0]
