"""The rows of a source that are rejected, lose a value or are far: their counts and list.

While a source is read, only record number and reason of a rejected row are kept, and the text of
an invalid value. A second pass over the members with such rows reads their lines and texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import Field
from geolookup.dataset.intervals import I64
from geolookup.files.csv_lines import csv_writer
from geolookup.filesystem import atomic
from geolookup.remote.key import Mask
from geolookup_builder.build_report import FAR_KM
from geolookup_builder.ranges import REASONS, WRONG_CELL_COUNT
from geolookup_builder.sources.reading.reader import Batch, RecordNumbers, Reject
from geolookup_builder.values import reason_of

#: Invalid values of a field, and far rows, of a source table that are listed; all are counted.
MOST_LISTED = 100_000
_SHOWN = 50  # characters of a value, or of a row
_FAR = f"far: coordinates over {FAR_KM} km outside their country"


@dataclass(frozen=True, slots=True)
class NulledCells:
    """Values of one field of a batch that become null: the row and the text of each.

    They are invalid, or mean nothing ``without`` another field, whose value is.
    """

    field: Field
    rows: I64
    texts: pa.Array
    without: str = ""

    @property
    def reason(self) -> str:
        """The reason, to follow the value."""
        return f"means nothing without {self.without}" if self.without else reason_of(self.field)


class _Remark(NamedTuple):
    """What is wrong with a record: a word of the report, the field of a value, the reason."""

    record: int
    word: str
    field: str
    reason: str


@dataclass(slots=True)
class _OfMember:
    numbers: RecordNumbers
    rows: list[I64] = field(default_factory=list)  # rejected; all rows are of the member
    reasons: list[I64] = field(default_factory=list)
    nulled: list[NulledCells] = field(default_factory=list)
    far: list[I64] = field(default_factory=list)

    def remarks(self, mask: Mask) -> Iterator[_Remark]:
        """Yield what is wrong with records: invalid values, far rows, then rejected rows."""
        for cells in self.nulled:
            name = cells.field.source_column
            for record, text in self._records(cells.rows, cells.texts.to_pylist()):
                # Masked before it is cut: a part of a key is not recognised.
                reason = f"{name} {mask(text)[:_SHOWN]!r} {cells.reason}"
                yield _Remark(record, "nulled", name, reason)
        for rows in self.far:
            for record, text in self._records(rows, [_FAR] * len(rows)):
                yield _Remark(record, "far", "", text)
        texts = [REASONS[reason] for reason in np.concatenate(self.reasons)]
        rejected = dict(self._records(np.concatenate(self.rows), texts))
        # Records with a wrong number of cells have no row in a batch, only a number.
        rejected |= dict.fromkeys(self.numbers.skipped, WRONG_CELL_COUNT)
        yield from (_Remark(record, "rejected", "", text) for record, text in rejected.items())

    def _records(self, rows: I64, texts: list[str]) -> Iterator[tuple[int, str]]:
        return zip(self.numbers.of(rows).tolist(), texts, strict=True)

    def find(self, reasons: dict[int, str]) -> Iterator[Reject]:
        """Yield records with line and text, in file order."""
        return self.numbers.find_rejects(self.numbers.member, reasons)


@dataclass(slots=True)
class Rejects:
    """The rejected rows of one source table, those that lost values, and far ones."""

    members: dict[int, _OfMember] = field(default_factory=dict)
    _listed: Counter[str] = field(default_factory=Counter)  # by field

    def add(self, batch: Batch, nulled: Sequence[NulledCells], far: I64) -> None:
        """Record the rejected rows of a batch (no family), its invalid values and far rows."""
        # By identity: an archive may hold two members of one name.
        of_member = self.members.setdefault(id(batch.numbers), _OfMember(batch.numbers))
        rows = np.flatnonzero(batch.ranges.family == 0)
        of_member.rows.append(rows + batch.start)
        of_member.reasons.append(batch.ranges.reason[rows].astype(np.int64))
        of_member.far.append(self._first(_FAR, far) + batch.start)
        for cells in nulled:
            first = self._first(cells.field.path, cells.rows)
            texts = cells.texts.slice(0, len(first))
            of_member.nulled.append(replace(cells, rows=first + batch.start, texts=texts))

    def _first(self, name: str, rows: I64) -> I64:
        """Return as many rows as are still listed under a name."""
        rows = rows[: MOST_LISTED - self._listed[name]]
        self._listed[name] += len(rows)
        return rows

    def skip_count(self) -> int:
        """Return the number of records with the wrong number of cells."""
        return sum(len(member.numbers.skipped) for member in self.members.values())

    def counts(self) -> Counter[str]:
        """Return the number of rejected rows by reason."""
        counts = Counter({WRONG_CELL_COUNT: self.skip_count()})
        for member in self.members.values():
            counts.update(REASONS[reason] for reason in np.concatenate(member.reasons).tolist())
        # Unary plus drops the reasons without a row.
        return +counts

    def first(self, word: str, column: str, mask: Mask) -> Reject | None:
        """Return the first row of a kind of ``KINDS``, None if its rows are not listed.

        Its reason quotes the value or the row.
        """
        for member in self.members.values():
            remarks = (one for one in member.remarks(mask) if one[1:3] == (word, column))
            first = min(remarks, default=None)
            row = first and next(member.find({first.record: first.reason}), None)
            if row:
                quoted = "" if word == "nulled" else f": {mask(row.text)[:_SHOWN]!r}"
                return Reject(row.file, row.line, row.reason + quoted, "")
        return None

    def find(self, mask: Mask) -> Iterator[Reject]:
        """Yield these rows with line and text, member by member, in file order.

        A row has all its reasons; a rejected row has only its own.
        """
        for member in self.members.values():
            reasons = dict[int, str]()
            for record, word, _, text in member.remarks(mask):
                reason = f"nulled: {text}" if word == "nulled" else text
                if record in reasons and word != "rejected":
                    reason = f"{reasons[record]}; {text}"
                reasons[record] = reason
            yield from member.find(reasons)


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
        for reject in chain.from_iterable(source.find(mask) for source in rejects):
            # Files without lines have line 0.
            cells = mask(reject.file), reject.line or "", reject.reason, mask(reject.text)
            rows.writerow(cells)
