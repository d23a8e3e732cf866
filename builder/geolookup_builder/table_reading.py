"""The reading of one source table, for a build and for a check: its rows, counted and listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from geolookup.contract.fields import OWN_PREFIX
from geolookup.parallel import alongside, cores, in_order
from geolookup.progress import Progress
from geolookup_builder.bands import Band, underlay_bands
from geolookup_builder.build_report import SourceReport
from geolookup_builder.columns import Columns, JoinedIntervals, Partition
from geolookup_builder.flatten import Intervals
from geolookup_builder.gather import SourceRows
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.rejects import Rejects
from geolookup_builder.sources.reading.inputs import label_in_recipe
from geolookup_builder.sources.reading.products import names_of_fields
from geolookup_builder.sources.reading.reader import RecordNumbers, SourceTable
from geolookup_builder.table_intervals import ROW, TableCounts, count, layers_of


@dataclass(slots=True)
class TableReading:
    """The files of a table, and its rows that are listed."""

    files: list[RecordNumbers] = field(default_factory=list)  # that have rows
    rejects: Rejects = field(default_factory=Rejects)


def read_table(
    table: SourceTable,
    rows: SourceRows,
    report: SourceReport,
    spec: SourceSpec,
    progress: Progress,
) -> TableReading:
    """Gather all rows of a table, and count them in ``report``. Raises BuildError."""
    reading, fields = TableReading(), dict[str, None]()
    with (
        progress.stage(f"reading {table.name}"),
        in_order(
            lambda batch: (batch, rows.cleaning.clean_batch(batch)),
            table.batches,
            _cleaning_threads(),
        ) as batches,
    ):
        for batch, clean_batch in batches:
            rows.add(clean_batch)
            reading.rejects.add(batch, clean_batch.nulled_cells, clean_batch.far.rows)
            if batch.numbers not in reading.files[-1:]:
                reading.files.append(batch.numbers)
            fields |= dict.fromkeys(batch.fields)
            progress.rows(len(batch))
    report.fields = tuple(fields)
    report.keep(spec.fields)
    report.emptied.update(table.emptied)
    report.rejected = reading.rejects.counts()
    _report_files(reading.files, report, spec)
    # Unary plus drops the fields whose count is 0.
    report.stated, report.nulled = +report.stated, +report.nulled
    report.read += reading.rejects.skip_count()
    return reading


def _report_files(files: Sequence[RecordNumbers], report: SourceReport, spec: SourceSpec) -> None:
    """Note what files were read as, and which of their columns nothing reads."""
    columns = dict.fromkeys(name for file in files for name in file.unread)
    others = (label_in_recipe(label, spec.base) for file in files for label in file.member.others)
    ours = names_of_fields(spec.schema)  # first: the report lists some columns only
    unread = sorted(columns, key=lambda name: name not in ours)
    report.unread = tuple(dict.fromkeys((*unread, *others)))
    # The offered own columns that the recipe does not ask for.
    columns_of_recipe = spec.options.get("columns")
    mapped = columns_of_recipe.values() if isinstance(columns_of_recipe, Mapping) else ()
    stated = report.fields + report.dropped
    offered = dict.fromkeys(name for file in files for name in file.offered)
    report.offered = tuple(
        name for name in offered if OWN_PREFIX + name not in stated and name not in mapped
    )
    products = dict.fromkeys(f"read as {file.product}" for file in files if file.product)
    report.note = "; ".join(filter(None, (report.note, *products)))


def _cleaning_threads() -> int:
    """Return half as many threads as cores: others parse files, and each holds a batch."""
    return max(1, cores() // 2)


def flatten_table(
    rows: SourceRows,
    report: SourceReport,
    partitions: dict[int, Partition],
    columns: Columns,
    *,
    with_rows: bool = False,
) -> dict[int, Intervals]:
    """Flatten the rows of a table, and overlay them below ``partitions``, in place.

    Counts the rows in ``report``. Returns the deciding rows by family, if asked for.
    """
    private, families = rows.schema.private_layers, rows.families(partitions)
    counts = {family: TableCounts(np.zeros(report.read, np.uint8)) for family in families}
    owners = dict[int, Intervals]()

    def flatten_family(family: int) -> None:
        of_family = families[family]
        deciding = JoinedIntervals(columns, family, {ROW: np.int64})

        def below(band: Band) -> Partition:
            layers = layers_of(
                of_family.take(band), band, counts[family], private, with_rows=with_rows
            )
            if with_rows:
                deciding.append(layers.starts, {ROW: layers.numbers.pop(ROW)})
            return layers

        of_bands = of_family.divide(columns.budget.band)
        partitions[family] = underlay_bands(partitions[family], of_bands, below, columns)
        if with_rows:
            of_rows = deciding.finish()
            owners[family] = Intervals(of_rows.starts, of_rows.numbers[ROW] - 1)

    with alongside(partial(flatten_family, 6), report.read) as ipv6:
        flatten_family(4)
        ipv6()
    rows.remove_files()
    count([*counts.values()], rows.stated, report, private)
    return owners
