"""The rows of a source that are rejected, lose a value or are far: their counts and list.

While a source is read, only row numbers and reasons are kept, and the text of an invalid value. A
second pass over the members with such rows reads their lines and texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np

from geolookup.dataset.intervals import I64
from geolookup.files.csv_lines import csv_writer
from geolookup.filesystem import atomic
from geolookup.remote.key import Mask
from geolookup_builder.build_report import FAR_KM
from geolookup_builder.ranges import REASONS, WRONG_CELL_COUNT
from geolookup_builder.sources.reading.reader import Batch, RecordNumbers, Reject

#: Invalid values of a field, and far rows, of a source table that are listed; all are counted.
MOST_LISTED = 100_000
_SHOWN = 50  # characters of a value, or of a row
_FAR = f"far: coordinates over {FAR_KM} km outside their country"


@dataclass(frozen=True, slots=True)
class Remarks:
    """What is wrong with rows: a word of ``KINDS``, and a text of each row.

    Of a ``field`` the texts are values; ``reason`` follows each.
    """

    word: str
    rows: I64
    texts: Sequence[str]
    field: str = ""
    reason: str = ""

    def reasons(self, mask: Mask) -> Iterator[str]:
        """Yield the reason of each row."""
        for text in self.texts:
            # Masked before it is cut: a part of a key is not recognised.
            value = f"{self.field} {mask(text)[:_SHOWN]!r} {self.reason}"
            yield value if self.field else text


@dataclass(slots=True)
class _OfMember:
    numbers: RecordNumbers
    remarks: list[Remarks] = field(default_factory=list)

    def records(self, word: str, column: str, mask: Mask) -> Iterator[tuple[int, str]]:
        """Yield the records of a kind, and of a field, with their reasons."""
        for remarks in self.remarks:
            if (remarks.word, remarks.field) == (word, column):
                records = self.numbers.of(remarks.rows).tolist()
                yield from zip(records, remarks.reasons(mask), strict=True)
        if word == "rejected":
            # Records with a wrong number of cells have no row in a batch, only a number.
            yield from ((record, WRONG_CELL_COUNT) for record in self.numbers.skipped)

    def all_reasons(self, mask: Mask) -> dict[int, str]:
        """Return all reasons of each record in one text; a rejected row has only its own."""
        fields = dict.fromkeys(one.field for one in self.remarks if one.field)
        reasons = dict[int, str]()
        for word, column in (*(("nulled", name) for name in fields), ("far", "")):
            for record, text in self.records(word, column, mask):
                reason = text if word == "far" else f"nulled: {text}"
                reasons[record] = f"{reasons[record]}; {text}" if record in reasons else reason
        return {**reasons, **dict(self.records("rejected", "", mask))}

    def find(self, reasons: dict[int, str]) -> Iterator[Reject]:
        """Yield records with line and text, in file order."""
        return self.numbers.find_rejects(self.numbers.member, reasons)


@dataclass(slots=True)
class Rejects:
    """The rejected rows of one source table, those that lost values, and far ones."""

    members: dict[int, _OfMember] = field(default_factory=dict)
    _listed: Counter[str] = field(default_factory=Counter)  # by field

    def add(self, batch: Batch, nulled: Iterable[Remarks], far: I64) -> None:
        """Record the rejected rows of a batch (no family), its invalid values and far rows."""
        # By identity: an archive may hold two members of one name.
        of_member = self.members.setdefault(id(batch.numbers), _OfMember(batch.numbers))
        rejected = np.flatnonzero(batch.ranges.family == 0)
        reasons = [REASONS[reason] for reason in batch.ranges.reason[rejected]]
        of_member.remarks.append(Remarks("rejected", rejected + batch.start, reasons))
        far = self._first("", far) + batch.start
        of_member.remarks.append(Remarks("far", far, [_FAR] * len(far)))
        for cells in nulled:
            rows = self._first(cells.field, cells.rows) + batch.start
            of_member.remarks.append(replace(cells, rows=rows, texts=cells.texts[: len(rows)]))

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
        return Counter(
            reason
            for member in self.members.values()
            for _, reason in member.records("rejected", "", str)
        )

    def first(self, word: str, column: str, mask: Mask) -> Reject | None:
        """Return the first row of a kind of ``KINDS``, None if its rows are not listed.

        Its reason quotes the value or the row.
        """
        for member in self.members.values():
            first = min(member.records(word, column, mask), default=None)
            row = first and next(member.find(dict([first])), None)
            if row:
                quoted = "" if word == "nulled" else f": {mask(row.text)[:_SHOWN]!r}"
                return Reject(row.file, row.line, row.reason + quoted, "")
        return None

    def find(self, mask: Mask) -> Iterator[Reject]:
        """Yield these rows with line and text, member by member, in file order."""
        for member in self.members.values():
            yield from member.find(member.all_reasons(mask))


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
