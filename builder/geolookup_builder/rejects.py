"""The rows of a source that are rejected, lose a value or are far: their counts, limit and list.

While a source is read, only record number and reason of a rejected row are kept, and the text of
an invalid value. A second pass over the members with such rows reads their lines and texts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import Field
from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError, count_text
from geolookup.files.csv_lines import csv_writer
from geolookup.filesystem import atomic
from geolookup.remote.key import Mask
from geolookup_builder.build_report import FAR_KM, SourceReport, rejects_file
from geolookup_builder.ranges import REASONS, WRONG_CELL_COUNT
from geolookup_builder.sources.reading.reader import Batch, RecordNumbers, Reject
from geolookup_builder.values import reason_of

DEFAULT_REJECTED_SHARE = 0.01
#: Invalid values, and far rows, of a source table that are listed; all are counted.
MOST_LISTED = 100_000
_SHOWN = 50  # characters of a value, or of a row
_FAR = f"far: coordinates over {FAR_KM} km outside their country"
_REMEDY = "repair them, or allow them with 'build --max-rejects N'"


@dataclass(frozen=True, slots=True)
class NulledCells:
    """Cells of one field of a batch with an invalid value: the row and the text of each."""

    field: Field
    rows: I64
    texts: pa.Array


@dataclass(slots=True)
class _OfMember:
    numbers: RecordNumbers
    records: list[I64] = field(default_factory=list)
    reasons: list[I64] = field(default_factory=list)
    nulled: list[NulledCells] = field(default_factory=list)  # rows are counted over the member
    far: list[I64] = field(default_factory=list)  # counted in the same way

    def range_reasons(self) -> dict[int, str]:
        """Return the reason of each rejected row, by the number of its record."""
        bad_ranges = self.numbers.of(np.concatenate(self.records))
        texts = [REASONS[reason] for reason in np.concatenate(self.reasons)]
        reasons = dict(zip(bad_ranges.tolist(), texts, strict=True))
        # Records with a wrong number of cells have no row in a batch, only a number.
        return {**reasons, **dict.fromkeys(self.numbers.skipped, WRONG_CELL_COUNT)}

    def value_reasons(self, mask: Mask) -> dict[int, str]:
        """Return the reason of each row that lost values or is far, by its record number."""
        reasons: dict[int, str] = {}
        for cells in self.nulled:
            records = self.numbers.of(cells.rows).tolist()
            for record, text in zip(records, cells.texts.to_pylist(), strict=True):
                # Masked before it is cut: a part of a key is not recognised.
                column = cells.field.source_column
                reason = f"{column} {mask(text)[:_SHOWN]!r} {reason_of(cells.field)}"
                before = reasons.get(record)
                reasons[record] = f"{before}; {reason}" if before else f"nulled: {reason}"
        for record in chain.from_iterable(self.numbers.of(rows).tolist() for rows in self.far):
            before = reasons.get(record)
            reasons[record] = f"{before}; {_FAR}" if before else _FAR
        return reasons


@dataclass(slots=True)
class Rejects:
    """The rejected rows of one source table, those that lost values, and far ones."""

    members: dict[int, _OfMember] = field(default_factory=dict)
    _nulled: int = 0
    _far: int = 0

    def add(self, batch: Batch, nulled: Sequence[NulledCells], far: I64) -> None:
        """Record the rejected rows of a batch (no family), its invalid values and far rows."""
        # By identity: an archive may hold two members of one name.
        of_member = self.members.setdefault(id(batch.numbers), _OfMember(batch.numbers))
        rows = np.flatnonzero(batch.ranges.family == 0)
        of_member.records.append(rows + batch.start)
        of_member.reasons.append(batch.ranges.reason[rows].astype(np.int64))
        far = far[: MOST_LISTED - self._far]
        self._far += len(far)
        of_member.far.append(far + batch.start)
        for cells in nulled:
            count = min(len(cells.rows), MOST_LISTED - self._nulled)
            self._nulled += count
            numbers, texts = cells.rows[:count] + batch.start, cells.texts.slice(0, count)
            of_member.nulled.append(NulledCells(cells.field, numbers, texts))

    def skip_count(self) -> int:
        """Return the number of records with the wrong number of cells."""
        return sum(len(member.numbers.skipped) for member in self.members.values())

    def counts(self) -> Counter[str]:
        """Return the number of rejected rows by reason."""
        counts: Counter[str] = Counter()
        for member in self.members.values():
            reasons, numbers = np.unique(np.concatenate(member.reasons), return_counts=True)
            counts.update({REASONS[r]: int(n) for r, n in zip(reasons, numbers, strict=True)})
            counts[WRONG_CELL_COUNT] += len(member.numbers.skipped)
        # Unary plus drops the reasons without a row.
        return +counts

    def check_limit(
        self, report: SourceReport, most: int | None, mask: Mask, path: Path | None = None
    ) -> None:
        """Raise BuildError for more rejected rows than allowed; None: 1 % of the rows.

        ``path`` is the file that lists them.
        """
        # 1 % of 250 rows is 2.
        limit = math.floor(report.read * DEFAULT_REJECTED_SHARE) if most is None else most
        count = report.rejected.total()
        if count > limit:
            first = next(self.find())
            problem = (
                f"{first.reason}: {mask(first.text)[:_SHOWN]!r};"
                f" {count:,} of {count_text(report.read, 'row')} of {report.name} rejected,"
                f" the limit is {limit:,}"
            )
            remedy = f"{_REMEDY}; {rejects_file(path)} lists all"
            raise BuildError(first.file, problem, line=first.line, remedy=remedy)

    def find(self) -> Iterator[Reject]:
        """Yield the rejected rows with line and text, member by member, in file order."""
        for member in self.members.values():
            yield from member.numbers.find_rejects(member.numbers.member, member.range_reasons())

    def find_all(self, mask: Mask) -> Iterator[Reject]:
        """Yield the rejected rows, those that lost values and far ones, as ``find`` does."""
        for member in self.members.values():
            reasons = {**member.value_reasons(mask), **member.range_reasons()}
            yield from member.numbers.find_rejects(member.numbers.member, reasons)


def write_rejects(path: Path, rejects: list[Rejects], mask: Mask) -> None:
    """Write the rows of all sources: file, line, reason, text; keys are masked.

    The file is replaced atomically: it may be a source that this function reads.
    """
    with (
        atomic.staged_file(path) as fresh,
        # A path that is not UTF-8 is written as its bytes.
        fresh.open("w", encoding="utf-8", errors="surrogateescape", newline="") as stream,
    ):
        rows = csv_writer(stream)
        rows.writerow(("file", "line", "reason", "text"))
        for reject in chain.from_iterable(source.find_all(mask) for source in rejects):
            # Files without lines have line 0.
            cells = mask(reject.file), reject.line or "", reject.reason, mask(reject.text)
            rows.writerow(cells)
