"""JSON lines to batches, by Arrow's JSON reader.

Arrow parses blocks of whole lines, with the types that the first records show.
When a block fails, its lines are parsed one by one to find the bad one. Arrow
crashes on a bare ``null`` before the first object, so a line that does not begin
an object is refused before.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError
from geolookup_builder.sources.reading.dictionary_columns import as_texts
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import Batch, Meaning, RecordNumbers, Reject
from geolookup_builder.sources.reading.text import Layout

BLOCK_BYTES = 16 << 20
MAX_LINE = 16 << 20  # bytes or characters
_SAMPLE = 1000  # records that show what keys and types there are
_OBJECT = re.compile(rb"^[ \t\r]*\{", re.MULTILINE)
_NO_OBJECT = re.compile(rb"^[ \t\r]*[^{ \t\r\n]", re.MULTILINE)
_ROW = re.compile(r"in row ([0-9]+)$")
_TYPES = ((bool, pa.bool_()), (str, pa.string()), (float, pa.float64()), (int, pa.int64()))


def keys(member: Member) -> dict[str, pa.DataType]:
    """Return the keys of the first records, each with the type of its values (null: text)."""
    found: dict[str, pa.DataType] = {}
    with _text(member) as stream:
        for line, text in islice(_lines(stream), _SAMPLE):
            for key, value in _object(member, line, text).items():
                shown = next((arrow for python, arrow in _TYPES if isinstance(value, python)), None)
                if shown is not None and found.get(key) in (None, pa.null(), pa.int64()):
                    found[key] = shown
                found.setdefault(key, pa.null())
    return {key: pa.string() if pa.types.is_null(each) else each for key, each in found.items()}


def batches(member: Member, layout: Layout, meaning: Meaning) -> Iterator[Batch]:
    """Yield the records of a member; BuildError where a line is not a JSON object."""
    numbers, types, line = RecordNumbers(member, _find_rejects, _first_lines), keys(member), 1
    used = sorted(layout.texts | layout.wanted)
    schema = pa.schema([(key, types.get(key, pa.string())) for key in used])
    with member.open() as stream:
        for block in _blocks(member, stream):
            rows = as_texts(_parsed(member, line, block, schema), layout)
            yield Batch(numbers, numbers.delivered, *meaning(rows))
            numbers.delivered += len(rows)
            line += block.count(b"\n")


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


def _parsed(member: Member, line: int, block: bytes, schema: pa.Schema) -> pa.Table:
    """Parse the lines of a block, the first of which is ``line``."""
    _check(member, line, block)
    try:
        table = pajson.read_json(
            io.BytesIO(block),
            pajson.ReadOptions(use_threads=False, block_size=len(block)),
            pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid as error:
        raise _failure(member, line, block, str(error)) from error
    if len(table) != _objects(block):
        raise _failure(member, line, block, "the numbers of lines and records differ")
    return table


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


def _failure(member: Member, line: int, block: bytes, text: str) -> BuildError:
    """Return the error of a block that Arrow refused, with its line where one can be found."""
    lines = [(at, each) for at, each in enumerate(block.split(b"\n"), line) if each.strip()]
    for at, each in lines:
        _object(member, at, each)
    row = _ROW.search(text)
    place = lines[int(row[1])][0] if row and int(row[1]) < len(lines) else None
    problem = f"differs from the records before ({text.splitlines()[0]})"
    return BuildError(
        member.label, problem, line=place, remedy="give each key one type, and state it once"
    )
