"""The rows of one source table, gathered from its batches: ranges and layer numbers by family.

IPv6 ranges that overlap IPv4-mapped space are folded here. Rows beyond the budget of memory are
written as sorted runs (``row_runs``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from geolookup.dataset.intervals import I64
from geolookup_builder.build_report import SourceReport
from geolookup_builder.cleaning import CleanBatch, Cleaning
from geolookup_builder.flatten import Ranges
from geolookup_builder.folding import folded, into_mapped
from geolookup_builder.layer_values import LayerValues
from geolookup_builder.layers import LayerPartition
from geolookup_builder.memory import release
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.row_runs import (
    FamilyRows,
    GatheredRows,
    Positions,
    Renumber,
    RowBands,
)
from geolookup_builder.spill import Spill
from geolookup_builder.values import Reference

#: The work on a band of rows in memory. Larger bands take more memory, and no less time.
BAND = 48 << 20


class SourceRows:
    """Gathers the batches of one source table."""

    def __init__(
        self,
        layers: Mapping[str, LayerValues],
        reference: Reference,
        report: SourceReport,
        spec: SourceSpec,
        spill: Spill,
        in_memory: str = "",
    ) -> None:
        self._layers = layers
        self.schema = spec.schema
        self.cleaning = Cleaning(spec, reference)
        self._report = report
        self._families = {family: FamilyRows(family) for family in (4, 6)}
        self._folded = FamilyRows(4)
        self._spill, self._recipe = spill, spec.recipe
        self.in_memory = in_memory  # the key of the recipe that needs all rows in memory
        self._marks = {layer: values.mark() for layer, values in layers.items()}
        self._values = sum(values.nbytes for values in layers.values())  # after the last run

    def add(self, batch: CleanBatch) -> None:
        """Add the rows of a batch that are not rejected."""
        numbers = {layer: self._layers[layer].add(values) for layer, values in batch.tuples.items()}
        for family, rows in self._families.items():
            index, first, last = batch.families[family]
            family_numbers = {layer: codes[index] for layer, codes in numbers.items()}
            of_family = GatheredRows(Ranges(first, last), family_numbers, self._positions(index))
            rows.add(of_family)
            if family == 6:
                self._fold(of_family)
        self._report.read += batch.size
        self._report.nulled.update(batch.nulled)
        self._report.aliases.update(batch.aliases)
        self._report.far += len(batch.far.rows)
        self._report.swapped += batch.far.swapped
        for name, counts in batch.words.items():
            self._report.unknown_words.setdefault(name, Counter()).update(counts)
        values = sum(values.nbytes for values in self._layers.values()) - self._values
        if self.nbytes + values > self._spill.budget.rows:
            self.write_runs()

    def _positions(self, index: I64) -> Positions:
        """Return the positions of rows in the table: after the rows of earlier batches."""
        positions = index + self._report.read
        is_narrow = not len(index) or positions[-1] < 1 << 32
        return positions.astype(np.uint32) if is_narrow else positions

    def _fold(self, rows: GatheredRows) -> None:
        """Add the parts of IPv6 rows in IPv4-mapped space to the IPv4 rows."""
        wide = rows[into_mapped(rows.ranges)]
        ranges = folded(wide.ranges, self._report)
        self._folded.add(GatheredRows(ranges, wide.numbers, wide.position))

    def write_runs(self) -> None:
        """Write the rows in memory as sorted runs."""
        if self.in_memory:
            raise self._spill.too_large(self._recipe, f"{self.in_memory} needs all rows in memory")
        self._spill.check_space(self.nbytes)
        renumber = self._merge_equal()
        for rows in self._stores():
            rows.write_run(self._spill, renumber)
        values = sum(values.nbytes for values in self._layers.values())
        self._spill.check_values(values, self._recipe)
        self._values = values
        self._spill.release_pages()
        release()

    def _merge_equal(self) -> dict[str, Renumber]:
        return {
            layer: values.merge_equal(self._marks[layer]) for layer, values in self._layers.items()
        }

    @property
    def nbytes(self) -> int:
        """The bytes of the rows in memory."""
        return sum(rows.nbytes for rows in self._stores())

    def families(self, partitions: Mapping[int, LayerPartition]) -> dict[int, RowBands]:
        """Return the rows by family, in bands that fit in memory beside ``partitions``.

        IPv4 has the parts folded from IPv6.
        """
        keep = bool(self.in_memory)
        families = {
            4: RowBands(4, (self._families[4], self._folded), keep=keep),
            6: RowBands(6, (self._families[6],), keep=keep),
        }
        bases = {family: partition.starts for family, partition in partitions.items()}
        most = self._spill.budget.band
        is_spilled = any(rows.runs for rows in self._stores())
        if is_spilled or any(of.work(bases.get(family)) > most for family, of in families.items()):
            self.write_runs()
        else:
            most, renumber = min(most, BAND), self._merge_equal()
            for rows in self._stores():
                rows.renumber(renumber)
            release()
        for family, of_family in families.items():
            of_family.divide(bases.get(family), most)
        return families

    def remove_runs(self) -> None:
        """Remove the files of the rows."""
        for rows in self._stores():
            rows.remove_runs(self._spill)

    def _stores(self) -> tuple[FamilyRows, ...]:
        return (*self._families.values(), self._folded)
