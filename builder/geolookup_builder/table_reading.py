"""The reading of one source table, for a build and for a check: its rows, counted and listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from geolookup.parallel import alongside, in_order
from geolookup.progress import Progress
from geolookup_builder.build_report import SourceReport
from geolookup_builder.flatten import Intervals
from geolookup_builder.gather import SourceRows
from geolookup_builder.rejects import Rejects
from geolookup_builder.sources.reading.positions import RowPositions
from geolookup_builder.sources.reading.reader import SourceTable
from geolookup_builder.table_intervals import TableIntervals, count, intervals_of


@dataclass(slots=True)
class TableReading:
    """The counts of a table that was read to its end; ``fields`` are its files' fields."""

    positions: RowPositions = field(default_factory=RowPositions)
    rejects: Rejects = field(default_factory=Rejects)
    fields: dict[str, None] = field(default_factory=dict)


def read_table(
    table: SourceTable, rows: SourceRows, report: SourceReport, progress: Progress
) -> TableReading:
    """Gather all rows of a table, and count them in ``report``. Raises BuildError."""
    reading = TableReading()
    with (
        progress.stage(f"reading {table.name}"),
        in_order(lambda batch: (batch, rows.clean_batch(batch)), table.batches) as batches,
    ):
        for batch, clean_batch in batches:
            rows.add(clean_batch)
            reading.rejects.add(batch, clean_batch.nulled_cells, clean_batch.far.rows)
            reading.positions.add(batch)
            reading.fields |= dict.fromkeys(batch.fields)
            report.add_keys(batch.keys)
            progress.rows(len(batch))
    report.rejected = reading.rejects.counts()
    # Unary plus drops the fields whose count is 0.
    report.nulled = +report.nulled
    report.read += reading.rejects.skip_count()
    return reading


def flatten_table(
    rows: SourceRows,
    report: SourceReport,
    overlay: Callable[[int, TableIntervals], None],
    *,
    keep_rows: bool,
) -> dict[int, Intervals]:
    """Flatten the rows of a table, count them in ``report``, and return the deciding rows.

    ``overlay`` is called with each family and its intervals, in a thread of the family.
    """
    private = rows.schema.private_layers
    report.duplicates = rows.duplicates()
    by_family = {family: rows.of_family(family) for family in (4, 6)}
    if not keep_rows:
        rows.release()

    def flatten_family(family: int) -> TableIntervals:
        intervals = intervals_of(by_family.pop(family), family, report.read, private)
        overlay(family, intervals)
        return intervals

    with alongside(partial(flatten_family, 6), report.read) as ipv6:
        families = [flatten_family(4), ipv6()]
    count(families, report, private)
    return {of_family.intervals.starts.family: of_family.intervals for of_family in families}
