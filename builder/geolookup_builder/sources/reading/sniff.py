"""The first records of a file without a header, which show whether it is what it is taken for.

Strategy: a bounded piece of the file is cut by the standard reader. A column is refused
where most of its cells are not what the layout says; single bad rows are for the rejects.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from geolookup.errors import BuildError
from geolookup_builder.sources.reading.damage import unlimited_cells
from geolookup_builder.sources.reading.inputs import Member

_SAMPLE_BYTES = 4 << 20
_SAMPLE_RECORDS = 1000
_IPV4_MAX = (1 << 32) - 1
_INTEGER_DIGITS = 39  # of 2^128 - 1

INTEGER = re.compile(r"[0-9]+")
ADDRESS = re.compile(r"[0-9]+\.[0-9.]+|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*")
NETWORK = re.compile(rf"({ADDRESS.pattern})/[0-9]+")
ALPHA2 = re.compile(r"[A-Za-z]{2}")
DEGREES = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]*)?")
AS_NUMBER = re.compile(r"(AS)?[0-9]{1,10}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sample:
    """The first records of a member, each with its line."""

    member: Member
    records: Sequence[tuple[int, list[str]]]

    @property
    def width(self) -> int:
        """The number of cells that most records have."""
        return Counter(len(cells) for _, cells in self.records).most_common(1)[0][0]

    def column(self, at: int) -> list[tuple[int, str]]:
        """Return line and cell of each record of the usual width."""
        width = self.width
        return [(line, cells[at]) for line, cells in self.records if len(cells) == width]


def sample(member: Member, delimiter: str = ",", *, quoted: bool = True) -> Sample:
    """Read the first records of a member; BuildError where there is none."""
    with member.open() as stream:
        data = stream.read(_SAMPLE_BYTES)
    whole = len(data) < _SAMPLE_BYTES
    text = data.decode("utf-8-sig", "replace")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
    records, line = [], 1
    with unlimited_cells():
        for cells in islice(reader, _SAMPLE_RECORDS):
            if cells:  # Arrow passes over empty lines too
                records.append((line, cells))
            line = reader.line_num + 1
    if not whole and len(records) in range(2, _SAMPLE_RECORDS):
        records.pop()  # cut by the end of the sample
    if not records:
        raise BuildError(member.label, "no rows", remedy="fetch it again")
    return Sample(member, records)


def check_width(found: Sample, width: int, layout: str, remedy: str) -> None:
    """Raise BuildError where most records are not of ``width`` cells."""
    if found.width != width:
        line = next(line for line, cells in found.records if len(cells) == found.width)
        problem = f"{found.width} columns, but {layout} has {width}"
        raise BuildError(found.member.label, problem, line=line, remedy=remedy)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A cell of a column whose cells are, for the most part, not what they should be."""

    line: int
    column: str
    cell: str


def mismatch(
    found: Sample, columns: Sequence[str], patterns: Mapping[str, re.Pattern[str]], *missing: str
) -> Mismatch | None:
    """Return the first cell of the first column that its pattern does not fit.

    Empty cells and those of ``missing`` fit any column.
    """
    for at, name in enumerate(columns):
        if name in patterns:
            cells = [each for each in found.column(at) if each[1] and each[1] not in missing]
            bad = [each for each in cells if not patterns[name].fullmatch(each[1])]
            if 2 * len(bad) > len(cells):
                return Mismatch(bad[0][0], name, bad[0][1])
    return None


def check_content(
    found: Sample,
    columns: Sequence[str],
    patterns: Mapping[str, re.Pattern[str]],
    layout: str,
    *missing: str,
) -> None:
    """Raise BuildError where a column does not hold what the layout says."""
    bad = mismatch(found, columns, patterns, *missing)
    if bad is not None:
        shown = bad.cell if len(bad.cell) < 50 else bad.cell[:50] + "…"
        problem = f"{shown!r} is no {bad.column}, so this is not {layout}"
        remedy = "name the right layout in the recipe"
        raise BuildError(found.member.label, problem, line=bad.line, remedy=remedy)


def integer_family(found: Sample, at: int = 1) -> int:
    """Return the family that integers in a column are of: 6 where most cells are beyond IPv4."""
    cells = [cell for _, cell in found.column(at)]
    integers = [cell for cell in cells if INTEGER.fullmatch(cell)]
    beyond = [i for i in integers if len(i) > _INTEGER_DIGITS or int(i) > _IPV4_MAX]
    return 6 if 2 * len(beyond) > len(cells) else 4
