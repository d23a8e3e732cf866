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
    """A problem of rows: a word of ``KINDS``, and a text for each row.

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
class Rejects:
    """The rejected rows of one source table, those that lost values, and far ones."""

    #: By identity: an archive may hold two members of one name.
    members: dict[int, tuple[RecordNumbers, list[Remarks]]] = field(default_factory=dict)
    _listed: Counter[str] = field(default_factory=Counter)  # by word and field

    def add(self, batch: Batch, nulled: Iterable[Remarks], far: I64) -> None:
        """Record the rejected rows of a batch (no family), its invalid values and far rows."""
        _, kept = self.members.setdefault(id(batch.numbers), (batch.numbers, []))
        rejected = np.flatnonzero(batch.ranges.family == 0)
        reasons = [REASONS[reason] for reason in batch.ranges.reason[rejected]]
        kept.append(Remarks("rejected", rejected + batch.start, reasons))
        for one in (*nulled, Remarks("far", far, [_FAR] * len(far))):
            rows = one.rows[: MOST_LISTED - self._listed[one.word + one.field]]
            self._listed[one.word + one.field] += len(rows)
            kept.append(replace(one, rows=rows + batch.start, texts=one.texts[: len(rows)]))

    def counts(self) -> Counter[str]:
        """Return the number of rejected rows by reason."""
        records = (_records(*member, "rejected", "", str) for member in self.members.values())
        return Counter(reason for _, reason in chain.from_iterable(records))

    def first(self, word: str, column: str, mask: Mask) -> Reject | None:
        """Return the first row of a kind of ``KINDS``, None if its rows are not listed.

        Its reason quotes the value or the row.
        """
        for numbers, remarks in self.members.values():
            first = min(_records(numbers, remarks, word, column, mask), default=None)
            row = first and next(numbers.find_rejects(numbers.member, dict([first])), None)
            if row:
                quoted = "" if word == "nulled" else f": {mask(row.text)[:_SHOWN]!r}"
                return Reject(row.file, row.line, row.reason + quoted, "")
        return None

    def find(self, mask: Mask) -> Iterator[Reject]:
        """Yield these rows with line, all reasons and text, member by member, in file order."""
        for numbers, remarks in self.members.values():
            yield from numbers.find_rejects(numbers.member, _all_reasons(numbers, remarks, mask))


def _records(
    numbers: RecordNumbers, remarks: Sequence[Remarks], word: str, column: str, mask: Mask
) -> Iterator[tuple[int, str]]:
    """Yield the records of a kind, and of a field, with their reasons."""
    for one in remarks:
        if (one.word, one.field) == (word, column):
            yield from zip(numbers.of(one.rows).tolist(), one.reasons(mask), strict=True)
    if word == "rejected":
        # Records with a wrong number of cells have no row in a batch, only a number.
        yield from ((record, WRONG_CELL_COUNT) for record in numbers.skipped)


def _all_reasons(numbers: RecordNumbers, remarks: Sequence[Remarks], mask: Mask) -> dict[int, str]:
    """Return all reasons of each record in one text; a rejected row has only its own."""
    fields = dict.fromkeys(one.field for one in remarks if one.field)
    reasons = dict[int, str]()
    for word, column in (*(("nulled", name) for name in fields), ("far", "")):
        for record, text in _records(numbers, remarks, word, column, mask):
            reason = text if word == "far" else f"nulled: {text}"
            reasons[record] = f"{reasons[record]}; {text}" if record in reasons else reason
    return {**reasons, **dict(_records(numbers, remarks, "rejected", "", mask))}


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
