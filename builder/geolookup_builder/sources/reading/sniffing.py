"""The beginning of a file: its records, their content, and the format that they show.

``format = "auto"`` reads the beginning of a file once (``opening``); each format examines it with
the checks that its reader makes anyway and returns a ``Detection`` or None. Readers of files
without a header compare a ``Sample`` of records with the expected content. A column is refused if
most of its cells do not match; single bad rows are rejected later, one by one.

A reader of text calls ``check_kind`` before it reads: an error about bytes that are not text would
not name the cause.
"""

from __future__ import annotations

import codecs
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from geolookup.contract.fields import BY_SOURCE_COLUMN
from geolookup.errors import BuildError, count_text
from geolookup.filesystem.signatures import END_BYTES, START_BYTES, Kind, is_binary, looks_like
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.text import Layout, csv_records, mask_lines, unlimited_cells

_START_BYTES = 1 << 10
_OPENING_BYTES = 1 << 17  # at most what the standard CSV reader accepts as one cell
_SAMPLE_BYTES = 4 << 20
_SAMPLE_RECORDS = 1000
_IPV4_MAX = (1 << 32) - 1
_INTEGER_DIGITS = 39  # of 2^128 - 1
_SHOWN = 50  # characters of a cell, in messages

DELIMITERS = ",;\t|"
#: Kinds of text.
TEXT = Kind("text", "name the format of its rows, or fetch it again")
JSON = Kind("JSON", "write one object a line; if it is an error of the server, fetch it again")
INTEGER = re.compile(r"[0-9]+")
#: Of the form of an address, whether valid or not.
ADDRESS = re.compile(r"[0-9]+\.[0-9.]+|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*")
NETWORK = re.compile(rf"({ADDRESS.pattern})/[0-9]+")
ALPHA2 = re.compile(r"[A-Za-z]{2}")
DEGREES = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]*)?")
AS_NUMBER = re.compile(r"(AS)?[0-9]{1,10}", re.IGNORECASE)
#: The first cell of a row: an address, a prefix, or an integer, also in hexadecimal.
RANGE = re.compile(rf"({ADDRESS.pattern})(/[0-9]+)?|[0-9A-Fa-f]+")


@dataclass(frozen=True, slots=True)
class Detection:
    """That a file is of a format: why, and whether the file's name is the vendor's own.

    ``score`` is the number of the columns of its header that the format knows, ``unknown`` are the
    others. Two formats with equal ``meaning`` read the file alike.
    """

    reason: str
    has_own_name: bool = False
    score: int = 0
    unknown: tuple[str, ...] = ()
    meaning: object = None


class NearMissError(BuildError):
    """A file fits a format except for its columns or its delimiter; ``auto`` reports it.

    ``options`` are the options of a recipe's source to read the file with, as far as its header
    shows them. The nearest miss has the greatest ``score``: columns that the format knows.
    """

    options: Mapping[str, Any] = {}

    def __init__(
        self, path: str | PathLike[str], problem: str, *, score: int = 0, **more: Any
    ) -> None:
        super().__init__(path, problem, **more)
        self.score = score


@dataclass(frozen=True, slots=True)
class Opening:
    """A member, and its first whole lines as a member that is held in memory.

    ``spec`` is its source: options that the recipe states are how the member is written.
    """

    member: Member
    start: Member
    spec: SourceSpec


def opening(member: Member, spec: SourceSpec | None = None) -> Opening:
    """Read the beginning of a member; BuildError if it cannot be read."""
    with member.open() as stream:
        data = stream.read(_OPENING_BYTES)
    if len(data) == _OPENING_BYTES:
        # Whole lines only; one line that is longer than the opening stays.
        data = data[: data.rfind(b"\n") + 1] or data

    start = Member(member.label, lambda: io.BytesIO(data))
    fields, path = frozenset(BY_SOURCE_COLUMN), Path(member.label)
    return Opening(member, start, spec or SourceSpec("auto", "", fields, {}, {}, path, Path()))


def first_lines(start: Member, layout: Layout) -> list[str]:
    """Return the first lines of a file that are not masked."""
    with start.open() as stream:
        text = mask_lines(stream.read(), layout).decode("utf-8-sig", "replace")
    return [line for line in text.splitlines() if line.strip()]


@dataclass(frozen=True, slots=True)
class Sample:
    """The first records of a member, each with its line, and the usual number of their cells."""

    member: Member
    records: Sequence[tuple[int, list[str]]]
    width: int

    def column(self, at: int) -> list[tuple[int, str]]:
        """Return line and cell of each record of the usual width."""
        return [(line, cells[at]) for line, cells in self.records if len(cells) == self.width]


def sample(member: Member, delimiter: str = ",", *, quoted: bool = True) -> Sample:
    """Read the first records of a member; BuildError if there is none, or no text."""
    check_kind(member, TEXT)
    with member.open() as stream:
        data = stream.read(_SAMPLE_BYTES)
    text = io.StringIO(data.decode("utf-8-sig", "replace"), newline="")
    rows = islice(csv_records(text, delimiter, quoted=quoted), _SAMPLE_RECORDS)
    with unlimited_cells():
        records = [(begin + 1, [cell.strip() for cell in cells]) for begin, _, cells in rows]
    # The file goes on: the last record is incomplete, unless it is one that fills the sample.
    if len(data) == _SAMPLE_BYTES and len(records) in range(2, _SAMPLE_RECORDS):
        records.pop()
    if not records:
        raise BuildError(member.label, "no rows", remedy="fetch it again")
    widths = Counter(len(cells) for _, cells in records)
    return Sample(member, records, widths.most_common(1)[0][0])


def mismatch(
    rows: Sample,
    columns: Sequence[str],
    patterns: Mapping[str, re.Pattern[str]],
    layout: str,
    missing: Sequence[str],
) -> tuple[int, str] | None:
    """Return line and problem of the first record that shows that a file is not of a layout.

    Most records have another number of cells, or most cells of a column do not match its pattern.
    Empty cells and those in ``missing`` match any pattern.
    """
    if rows.width != len(columns):
        line = next(line for line, cells in rows.records if len(cells) == rows.width)
        return line, f"{count_text(rows.width, 'column')}, but {layout} has {len(columns)}"
    for at, name in enumerate(columns):
        if name in patterns:
            cells = [cell for cell in rows.column(at) if cell[1] and cell[1] not in missing]
            bad = [cell for cell in cells if not patterns[name].fullmatch(cell[1])]
            if 2 * len(bad) > len(cells):
                line, cell = bad[0]
                shown = cell if len(cell) < _SHOWN else cell[:_SHOWN] + "…"
                return line, f"{shown!r} is not a valid {name}, so this is not {layout}"
    return None


def integer_family(rows: Sample) -> int:
    """Return the family of the integers in the second column: 6 if most exceed IPv4."""
    cells = [cell for _, cell in rows.column(1)]
    integers = [cell for cell in cells if INTEGER.fullmatch(cell)]
    # Digits are counted first: ``int`` refuses more than 4,300 of them.
    beyond = [i for i in integers if len(i) > _INTEGER_DIGITS or int(i) > _IPV4_MAX]
    return 6 if 2 * len(beyond) > len(cells) else 4


def begins_json(member: Member, *brackets: bytes) -> bool:
    """Return whether a file begins as a JSON object or array, or with the given bracket."""
    with member.open() as stream:
        start: bytes = stream.read(_START_BYTES)
    return start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(brackets or (b"{", b"["))


def kind_of(member: Member) -> Kind | None:
    """Return the kind of a member by its bytes; None for binary data of no known kind."""
    with member.open() as stream:
        start: bytes = stream.read(START_BYTES)
    if kind := looks_like(start, _ending(member) if is_binary(start) else b""):
        return kind
    return None if is_binary(start) else JSON if begins_json(member) else TEXT


def _ending(member: Member) -> bytes:
    """Return the last bytes of a member; a compressed one is read through."""
    with member.open() as stream:
        if isinstance(stream, io.BufferedReader) and stream.seekable():
            # A file on the disk is seekable: only its end is read.
            stream.seek(max(0, stream.seek(0, io.SEEK_END) - END_BYTES))
        last = b""
        while block := stream.read(END_BYTES):
            last = (last + block)[-END_BYTES:]
    return last


def check_kind(member: Member, *expected: Kind) -> None:
    """Raise BuildError if a member is of a known kind other than those expected."""
    kind = kind_of(member)
    if kind is not None and kind not in expected:
        raise BuildError(member.label, f"this looks like {kind.name}", remedy=kind.remedy)
