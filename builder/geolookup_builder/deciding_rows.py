"""The deciding rows of each source table, collected for ``explain = "full"``.

The overlay of the layers discards them: the intervals of each table with their
deciding row, and the range, file, line and values of these rows. Tables are not overlaid here,
so the files (``explained_files``) grow with the sum of the sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from geolookup.dataset.runs import Codes, factorize
from geolookup.parallel import alongside
from geolookup_builder import explained_files
from geolookup_builder.explained_files import TableRows
from geolookup_builder.flatten import Intervals, coalesce
from geolookup_builder.gather import SourceRows
from geolookup_builder.layer_values import LayerValues
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.inputs import label_in_recipe
from geolookup_builder.sources.reading.positions import RowPositions
from geolookup_builder.tables import as_stored


class DecidingRows:
    """Collects the deciding rows of all source tables."""

    def __init__(self) -> None:
        self._rows: list[TableRows] = []
        self._files: list[tuple[int, str]] = []

    def add(
        self,
        source: int,
        spec: SourceSpec,
        rows: SourceRows,
        positions: RowPositions,
        partitions: Mapping[int, Intervals],
    ) -> None:
        """Add a table of the source with that number in the recipe, from 1.

        ``partitions`` are its intervals by family, owned by row numbers of the table.
        """
        is_used = np.zeros(positions.rows + 1, bool)  # the last is for the owner -1
        for of_family in partitions.values():
            is_used[of_family.owner] = True
        is_used[-1] = False
        with alongside(partial(positions.of, np.flatnonzero(is_used)), len(is_used)) as find:
            # Used: yes no yes. Numbers: 0, -1, 1.
            number = np.where(is_used, np.cumsum(is_used) - 1, -1)
            intervals = {
                family: coalesce(Intervals(of_family.starts, number[of_family.owner]))
                for family, of_family in partitions.items()
            }
            selection, origins = rows.select(is_used[:-1]), find()
        ranges = selection.family, selection.first, selection.last
        # Files are numbered over all tables; 0 is "no file".
        file = origins.file + len(self._files) + 1
        self._rows.append(TableRows(*ranges, file, origins.line, selection.numbers, intervals))
        names = (label_in_recipe(label, spec.path, spec.base) for label in origins.labels)
        self._files.extend((source, name) for name in names)

    def tables(self, layers: Mapping[str, LayerValues]) -> dict[str, pa.Table]:
        """Return the tables by file name."""
        values, begin = {}, 1
        numbers: list[dict[str, Codes]] = [{} for _ in self._rows]
        for layer, layer_values in layers.items():
            values[layer], codes = self._values(layer, layer_values, begin)
            for table, of_table in zip(numbers, codes, strict=True):
                table[layer] = of_table
            begin += values[layer].num_rows
        rows = [replace(table, numbers=own) for table, own in zip(self._rows, numbers, strict=True)]
        return explained_files.tables(rows, self._files, values)

    def _values(self, layer: str, values: LayerValues, begin: int) -> tuple[pa.Table, list[Codes]]:
        """Return a layer's distinct values, and for each table the numbers of the rows' values.

        Values are numbered from ``begin``; 0: the row has none.
        """
        parts = [table.numbers.get(layer, _NONE) for table in self._rows]
        tuples, numbers = values.in_use(np.concatenate([_ZERO, *parts]))
        # In the order of the rows, independent of the blocks in which they were read.
        # The first number is UNKNOWN, so code 0 is "no value".
        codes, first = factorize([numbers])
        distinct = tuples.take(numbers[first[1:]])
        codes = np.where(codes > 0, codes + np.int32(begin - 1), np.int32(0))
        # Tables of 3 and 2 rows: split after 1 (UNKNOWN) and after 1 + 3.
        bounds = np.cumsum([1, *map(len, parts)])[:-1]
        fields = values.schema.by_source_column
        columns = {name: as_stored(distinct.values(name), fields[name]) for name in values.names}
        return pa.table(columns), np.split(codes, bounds)[1:]


_NONE, _ZERO = np.empty(0, np.int32), np.zeros(1, np.int32)
