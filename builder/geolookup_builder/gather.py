"""The rows of one source table, gathered from its batches: ranges and layer numbers by family.

IPv6 ranges that overlap IPv4-mapped space are folded here. Rows beyond the budget of memory are
written to files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.fields import OWN_PREFIX
from geolookup.dataset.intervals import I64, concat
from geolookup.filesystem.limits import check_space
from geolookup.parallel import cores, in_order
from geolookup.progress import Progress
from geolookup_builder.bands import RowBands
from geolookup_builder.build_report import SourceReport
from geolookup_builder.cleaning import CleanBatch, clean_batch
from geolookup_builder.columns import Columns, Partition
from geolookup_builder.layer_values import LayerValues
from geolookup_builder.memory import release
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.rejects import Rejects
from geolookup_builder.rows import Positions, Rows, combined, fold
from geolookup_builder.sources.reading.inputs import label_in_recipe
from geolookup_builder.sources.reading.products import names_of_fields
from geolookup_builder.sources.reading.reader import RecordNumbers, SourceTable
from geolookup_builder.values import Reference


class SourceRows:
    """Gathers and counts the rows of one source table."""

    def __init__(
        self,
        layers: Mapping[str, LayerValues],
        reference: Reference,
        report: SourceReport,
        spec: SourceSpec,
        columns: Columns,
    ) -> None:
        self._layers, self._reference = layers, reference
        self.report, self._spec, self._columns = report, spec, columns
        self.schema = spec.schema
        self.stated: dict[str, None] = {}  # the layers of any batch
        self._runs: dict[int, list[Rows]] = {4: [], 6: []}
        self._batches: dict[int, list[Rows]] = {4: [], 6: []}  # in memory, since the last run
        self.nbytes = 0  # of these batches
        for values in layers.values():
            values.begin_table()
        self._values = self._size_of_values()  # after the last run

    def _size_of_values(self) -> int:
        return sum(values.nbytes for values in self._layers.values())

    def read(self, table: SourceTable, progress: Progress) -> Rejects:
        """Gather all rows of the table, and count them in the report; return those to list.

        Raises BuildError.
        """
        report, rejects, fields = self.report, Rejects(), dict[str, None]()
        clean = partial(clean_batch, spec=self._spec, reference=self._reference)
        # Half as many threads as cores: others parse files, and each holds a batch.
        threads = max(1, cores() // 2)
        with (
            progress.stage(f"reading {table.name}"),
            in_order(lambda batch: (batch, clean(batch)), table.batches, threads) as batches,
        ):
            for batch, cleaned in batches:
                self._add(cleaned)
                rejects.add(batch, cleaned.nulled_cells, cleaned.far.rows)
                fields |= dict.fromkeys(batch.fields)
                progress.rows(len(batch))
        report.fields = tuple(fields)
        report.keep(self._spec.fields)
        report.emptied.update(table.emptied)
        report.rejected = rejects.counts()
        _report_files([numbers for numbers, _ in rejects.members.values()], report, self._spec)
        # Unary plus drops the fields whose count is 0.
        report.stated, report.nulled = +report.stated, +report.nulled
        report.read += rejects.skip_count()
        return rejects

    def _add(self, batch: CleanBatch) -> None:
        """Add the rows of a batch that are not rejected."""
        report = self.report
        numbers = {layer: self._layers[layer].add(values) for layer, values in batch.tuples.items()}
        self.stated |= dict.fromkeys(numbers)
        for family, (index, first, last) in batch.families.items():
            of_family = {layer: codes[index] for layer, codes in numbers.items()}
            rows = Rows(first, last, self._positions(index), of_family).in_order()
            if family == 6:
                folded, rows = fold(rows)
                report.rows["folded"] += len(folded)
                # Last less first, and one more address of each row.
                report.addresses["folded"] += folded.last.minus(folded.first).total() + len(folded)
                self._keep(4, folded)
            self._keep(family, rows)
        self._count(batch)
        if self.nbytes + self._size_of_values() - self._values > self._columns.budget.rows:
            self._columns.in_files = True
            self.end_run()

    def _positions(self, index: I64) -> Positions:
        """Return the positions of rows in the table: after the rows of earlier batches."""
        positions = index + self.report.read
        is_narrow = not len(index) or positions[-1] < 1 << 32
        return positions.astype(np.uint32) if is_narrow else positions

    def _keep(self, family: int, rows: Rows) -> None:
        if len(rows):
            self._batches[family].append(rows)
            self.nbytes += rows.nbytes

    def _count(self, batch: CleanBatch) -> None:
        report = self.report
        report.read += batch.size
        report.stated.update(batch.stated)
        report.nulled.update(batch.nulled)
        report.aliases.update(batch.aliases)
        report.rows["far"] += len(batch.far.rows)
        report.swapped += batch.far.swapped
        report.coded += batch.coded

    def end_run(self) -> None:
        """Give the rows since the last run their final numbers; write them, if files are in use."""
        if self._columns.in_files:
            check_space(self._columns.output, self.nbytes)
        renumber = {layer: values.merge_equal() for layer, values in self._layers.items()}
        for family, batches in self._batches.items():
            for rows in batches:
                for layer, codes in rows.numbers.items():
                    rows.numbers[layer] = renumber[layer](codes)
            self._batches[family] = []
            self._runs[family] += self._in_files(batches) if self._columns.in_files else batches
        self.nbytes, self._values = 0, self._size_of_values()
        if self._columns.in_files:
            self._columns.check_values(self._values, self._spec.recipe)
        self._columns.release()
        release()

    def _in_files(self, batches: list[Rows]) -> list[Rows]:
        """Return the rows of batches as one run in files, written column by column."""
        if not batches:
            return []
        order = concat([rows.first for rows in batches]).order()

        def write(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
            in_order = np.concatenate(values)[order]
            column = self._columns.column(in_order.dtype)
            column.append(in_order)
            return column.finish()

        return [combined(batches, self.stated, write)]

    def families(self, partitions: Mapping[int, Partition]) -> dict[int, RowBands]:
        """Return the rows by family, to be taken in bands that fit in memory beside ``partitions``.

        IPv4 has the parts folded from IPv6.
        """
        for family, batches in self._batches.items():
            rows, starts = RowBands(family, batches, self.stated), partitions[family].starts
            if len(rows.divide(starts, self._columns.budget.band)) > 1:
                self._columns.in_files = True
        self.end_run()
        runs, self._runs = self._runs, {}
        return {family: RowBands(family, of, self.stated) for family, of in runs.items()}


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
