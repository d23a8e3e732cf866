"""The part of a source that the keys ``only``, ``families`` and ``within`` keep.

Conditions are evaluated on the answers of the source by itself, as rows of tables: a dataset has
them, other sources are interned for that. The space outside becomes unknown in all layers, and
lower sources show through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import Field
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import count_addresses, cut_at
from geolookup.prefixes.possible_values import absent_values, check_values
from geolookup.prefixes.select import masks_of
from geolookup_builder.build_report import BuildReport, SourceReport
from geolookup_builder.columns import ROW, Partition
from geolookup_builder.layers import restrict
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.table import recipe_errors

#: The report of a table, and by family the intervals with their deciding rows.
Counted = tuple[SourceReport, Mapping[int, Partition]]


class Rows:
    """The row tables of the answers of a source, by the field that they hold."""

    def __init__(self, files: Mapping[str, pa.RecordBatch | pa.Table]) -> None:
        self._files = files
        self.counts = {
            table: files[name].num_rows for table, name in fmt.TABLES.items() if name in files
        }

    def column(self, field: Field) -> pa.Array:
        """Return the values of a stored field, one for each row of the table that stores it."""
        column = self.values(field.table, field.column)
        if pa.types.is_dictionary(column.type):
            # Predicates number null after the last value: an index of 8 bits may be too narrow.
            indices = column.indices.cast(pa.int32())
            return pa.DictionaryArray.from_arrays(indices, column.dictionary)
        return column

    def values(self, table: str, column: str) -> pa.Array:
        """Return a column of a table; the links of locations are columns too."""
        values = self._files[fmt.TABLES[table]].column(column)
        return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def kept_space(
    spec: SourceSpec,
    name: str,
    rows: Rows,
    families: Mapping[int, Partition],
    tables: Iterable[Counted],
    report: BuildReport,
) -> dict[int, Partition]:
    """Return by family the space that is kept.

    ``families`` are the intervals of the source, by their rows. Rows that are left out of a table
    are counted in its report. Raises BuildError for a value of ``only`` that no answer can have. A
    value that no answer of the source has is a warning.
    """
    restriction, kept = spec.restriction, dict[int, Partition]()
    with recipe_errors(spec.recipe):
        check_values(rows, restriction.conditions)
    absent = absent_values(rows, restriction.conditions)
    report.warnings.extend(f"{name}: {line}" for line in absent)
    masks = masks_of(rows, rows.counts, restriction.conditions)
    for family, part in families.items():
        marks = masks.mark({table: of.view(np.uint32) for table, of in part.numbers.items()})
        starts, is_inside = cut_at(family, restriction.inside(family))
        inside = Partition(starts, {ROW: is_inside})
        kept[family] = restrict(Partition(part.starts, {ROW: marks}), inside)
    for of_table, deciding in tables:
        _count_left_out(of_table, deciding, kept)
    return kept


def _count_left_out(
    report: SourceReport, deciding: Mapping[int, Partition], kept: Mapping[int, Partition]
) -> None:
    result = {family: restrict(intervals, kept[family]) for family, intervals in deciding.items()}
    rows = _owners(deciding) - _owners(result)
    report.used -= rows
    report.rows["left out"] += rows
    report.addresses["left out"] += _addresses(deciding) - _addresses(result)


def _addresses(table: Mapping[int, Partition]) -> int:
    return sum(count_addresses(part.starts, part.numbers[ROW] > 0) for part in table.values())


def _owners(table: Mapping[int, Partition]) -> int:
    """Return how many rows own an interval, of either family."""
    owners = np.concatenate([part.numbers[ROW] for part in table.values()])
    is_owner = np.zeros(int(owners.max()) + 1, bool)
    is_owner[owners] = True
    return int(np.count_nonzero(is_owner[1:]))
