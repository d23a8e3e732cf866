"""What every reader delivers: tables of batches of source rows, and the rows it rejects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading.detection import Claim, Opening
from geolookup_builder.sources.reading.inputs import Member


@dataclass(frozen=True, slots=True)
class Reject:
    """One rejected row as the user sees it."""

    file: str
    line: int
    reason: str
    text: str


#: Finds rejected records (number: reason) in a member, in file order.
Locate = Callable[[Member, dict[int, str]], Iterator[Reject]]
#: Gives the line that each record (number) of a member begins on; 0 where it has no lines.
Lines = Callable[[Member, I64], I64]


@dataclass(slots=True)
class RowNumbers:
    """The record numbers of a member's rows: the first, behind a header if there is one, is 1.

    Readers hand on only whole rows; ``skipped`` are the records that were none.
    """

    member: Member
    locate: Locate
    lines: Lines
    skipped: list[int] = field(default_factory=list)
    delivered: int = 0

    def of(self, rows: I64) -> I64:
        """Return the record numbers of delivered rows, counted from 0 over the member."""
        skipped = np.array(sorted(self.skipped), np.int64) - 1
        before = np.searchsorted(skipped - np.arange(len(skipped)), rows, side="right")
        return rows + before + 1


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows of one member: a range and the stated fields of each."""

    numbers: RowNumbers
    start: int  # of the first row, among the member's delivered rows
    ranges: ParsedRanges
    fields: Mapping[str, pa.DictionaryArray]

    def __len__(self) -> int:
        return len(self.ranges.family)


@dataclass(frozen=True, slots=True)
class SourceTable:
    """One table of a source; several tables count as so many consecutive sources.

    ``note`` is for the summary: what of the source was left out, and why.
    """

    name: str
    batches: Iterator[Batch]
    note: str = ""


def _no_claim(_read: Opening) -> None:
    """Claim nothing: a format that has to be named."""


@dataclass(frozen=True, slots=True)
class Format:
    """A source format: its name in recipes, its own options, and its reader.

    ``claims`` says whether a file is of the format, for ``auto``; a BuildError means no.
    """

    name: str
    options: frozenset[str]
    read: Callable[[SourceSpec], Iterator[SourceTable]]
    claims: Callable[[Opening], Claim | None] = _no_claim
