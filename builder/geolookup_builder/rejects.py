"""The rejected rows of a source: counted by reason, listed with file and line on demand.

While a source is read, only record number and reason of a rejected row are kept. Line
and text are found in a second pass over the members with rejected rows.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from geolookup.dataset.intervals import I64
from geolookup.filesystem import atomic
from geolookup.remote.key import Mask
from geolookup_builder.ranges import REASONS, WRONG_CELL_COUNT
from geolookup_builder.sources.reading.reader import Batch, RecordNumbers, Reject


@dataclass(slots=True)
class _OfMember:
    numbers: RecordNumbers
    records: list[I64] = field(default_factory=list)
    reasons: list[I64] = field(default_factory=list)


@dataclass(slots=True)
class Rejects:
    """The rejected rows of one source."""

    members: dict[int, _OfMember] = field(default_factory=dict)

    def add(self, batch: Batch) -> None:
        """Record the rejected rows of a batch: those without a family."""
        # By identity: an archive may hold two members of one name.
        of_member = self.members.setdefault(id(batch.numbers), _OfMember(batch.numbers))
        rows = np.flatnonzero(batch.ranges.family == 0)
        of_member.records.append(rows + batch.start)
        of_member.reasons.append(batch.ranges.reason[rows].astype(np.int64))

    def skipped(self) -> int:
        """Return the number of records with the wrong number of cells."""
        return sum(len(each.numbers.skipped) for each in self.members.values())

    def counts(self) -> Counter[str]:
        """Return the number of rejected rows by reason."""
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
            yield from each.numbers.find_rejects(each.numbers.member, wanted)


def write(path: Path, rejects: list[Rejects], mask: Mask) -> None:
    """Write the rejected rows of all sources: file, line, reason, text; keys are masked.

    The file is replaced atomically: it may be a source, which is read here.
    """
    with (
        atomic.staged_file(path) as fresh,
        # A path that is not UTF-8 is written as its bytes.
        fresh.open("w", encoding="utf-8", errors="surrogateescape", newline="") as stream,
    ):
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(("file", "line", "reason", "text"))
        for each in rejects:
            for found in each.located():
                rows.writerow((mask(found.file), found.line, found.reason, mask(found.text)))
