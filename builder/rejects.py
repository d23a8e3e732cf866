"""The rows that were not taken: kept as numbers, named by line only when asked.

Strategy: while a source is read, a rejected row costs its record number and a
reason. Lines and texts are found in a second pass over the members that have
any, where quoted line breaks are followed by the standard CSV reader, which
skips whole records in C.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from builder.inputs import Member
from builder.points import I64
from builder.ranges import REASONS, WRONG_CELL_COUNT
from builder.sources.damage import unlimited_cells
from builder.sources.reader import Batch, RowNumbers


@dataclass(frozen=True, slots=True)
class Reject:
    """One rejected row as the user sees it."""

    file: str
    line: int
    reason: str
    text: str


@dataclass(slots=True)
class _OfMember:
    numbers: RowNumbers
    records: list[I64] = field(default_factory=list)
    reasons: list[I64] = field(default_factory=list)


@dataclass(slots=True)
class Rejects:
    """The rejected rows of one source."""

    members: dict[int, _OfMember] = field(default_factory=dict)

    def add(self, batch: Batch) -> None:
        """Take note of a batch's rows without a family."""
        # Not by label: an archive may hold two members of one name.
        of_member = self.members.setdefault(id(batch.numbers), _OfMember(batch.numbers))
        rows = np.flatnonzero(batch.ranges.family == 0)
        of_member.records.append(rows + batch.start)
        of_member.reasons.append(batch.ranges.reason[rows].astype(np.int64))

    def skipped(self) -> int:
        """Return how many rows could not be cut into cells."""
        return sum(len(each.numbers.skipped) for each in self.members.values())

    def counts(self) -> Counter[str]:
        """Return how many rows were rejected for which reason."""
        found: Counter[str] = Counter()
        for each in self.members.values():
            reasons, numbers = np.unique(np.concatenate(each.reasons), return_counts=True)
            found.update({REASONS[r]: int(n) for r, n in zip(reasons, numbers, strict=True)})
            found[WRONG_CELL_COUNT] += len(each.numbers.skipped)
        return +found

    def located(self) -> Iterator[Reject]:
        """Yield the rejected rows with line and text, member by member, in file order."""
        for each in self.members.values():
            bad_ranges = each.numbers.of(np.concatenate(each.records))
            reasons = [REASONS[reason] for reason in np.concatenate(each.reasons)]
            wanted = dict(zip(bad_ranges.tolist(), reasons, strict=True))
            wanted.update(dict.fromkeys(each.numbers.skipped, WRONG_CELL_COUNT))
            yield from _locate(each.numbers.member, wanted)


def _locate(member: Member, wanted: dict[int, str]) -> Iterator[Reject]:
    """Find records by number; record 0 is the header."""
    with member.open() as stream, unlimited_cells():
        lines = _Lines(io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline=""))
        records = filter(None, csv.reader(lines))  # Arrow passes over empty lines too
        passed = 0
        for number, reason in sorted(wanted.items()):
            if number > passed:
                next(islice(records, number - passed - 1, number - passed), None)
            lines.keep()
            next(records, None)
            passed = number + 1
            line, text = lines.kept()
            yield Reject(member.label, line, reason, text)


class _Lines:
    """Lines on their way to the CSV reader: counted, and kept while a wanted record is read."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream
        self._count = 0
        self._kept: list[str] | None = None

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self._count += 1
            if self._kept is not None:
                self._kept.append(line)
            yield line

    def keep(self) -> None:
        self._kept = []

    def kept(self) -> tuple[int, str]:
        """Return the first line number and the text of the record, without empty lines before."""
        lines, self._kept = self._kept or [], None
        first = self._count - len(lines) + 1
        blank = next((at for at, line in enumerate(lines) if line.strip("\r\n")), 0)
        return first + blank, "".join(lines[blank:]).rstrip("\r\n")


def write(path: Path, rejects: list[Rejects]) -> None:
    """Write the rejected rows of all sources: file, line, reason, text."""
    # A path that is not UTF-8 is written as the bytes it is.
    with path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(("file", "line", "reason", "text"))
        for each in rejects:
            for found in each.located():
                rows.writerow((found.file, found.line, found.reason, found.text))
