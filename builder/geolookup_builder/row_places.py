"""Where the rows of a source table stand: the file and line of each, found when asked for.

Strategy: while a table is read, only the batches are noted; lines are found in
a second pass over the members whose rows are wanted, a member at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from geolookup.dataset.intervals import I64
from geolookup_builder.sources.reading.reader import Batch, RowNumbers


@dataclass(frozen=True, slots=True)
class _Run:
    """Consecutive rows of one member."""

    begin: int  # of the first row, among the table's
    start: int  # of the first row, among the member's delivered rows
    numbers: RowNumbers


@dataclass(frozen=True, slots=True)
class Places:
    """For each row the index of its file's label, and its line; 0 where a file has no lines."""

    labels: list[str]
    file: I64
    line: I64


@dataclass(slots=True)
class RowPlaces:
    """The batches of one source table, in the order in which its rows are counted."""

    runs: list[_Run] = field(default_factory=list)
    rows: int = 0

    def add(self, batch: Batch) -> None:
        """Take note of a batch."""
        if not self.runs or self.runs[-1].numbers is not batch.numbers:
            self.runs.append(_Run(self.rows, batch.start, batch.numbers))
        self.rows += len(batch)

    def of(self, positions: I64) -> Places:
        """Return the places of rows, by their ascending positions in the table."""
        begins = [run.begin for run in self.runs]
        bounds = [*np.searchsorted(positions, begins).tolist(), len(positions)]
        file, line = np.zeros(len(positions), np.int64), np.zeros(len(positions), np.int64)
        for at, run in enumerate(self.runs):
            rows = slice(bounds[at], bounds[at + 1])
            if rows.start < rows.stop:
                records = run.numbers.of(positions[rows] - run.begin + run.start)
                file[rows] = at
                line[rows] = run.numbers.lines(run.numbers.member, records)
        return Places([run.numbers.member.label for run in self.runs], file, line)
