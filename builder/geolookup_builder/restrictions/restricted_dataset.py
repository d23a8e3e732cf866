"""A dataset that is a source, without the parts that the keys of ``restriction`` leave out.

Conditions mark rows of its tables; an interval is kept if all of its rows are marked. Nothing of
the intervals that are left out is decoded.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import Field
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import I64, count_addresses
from geolookup.dataset.public_ranges import any_known
from geolookup.dataset.runs import join_runs
from geolookup.prefixes.select import RowMasks, masks_of
from geolookup_builder.build_report import SourceReport
from geolookup_builder.datasets.source import DatasetSource, RowPartition
from geolookup_builder.flatten import Intervals, coalesce
from geolookup_builder.layers import hide
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.restrictions.restriction import Restriction, check_conditions


def restricted(
    spec: SourceSpec, source: DatasetSource, report: SourceReport, warnings: list[str]
) -> DatasetSource:
    """Return the parts of a dataset that are kept, and count the others in its report.

    Raises BuildError for a value of ``only`` that no answer can have. A value that no answer of
    the dataset has is a warning.
    """
    rows = _Rows(source)
    check_conditions(spec.restriction, spec.recipe, source.name, rows, warnings)
    masks = masks_of(rows, rows.counts, spec.restriction.conditions)
    partitions = {}
    for family, partition in source.partitions.items():
        owners = _kept(partition, masks, spec.restriction, family)
        partitions[family] = _restricted(partition, owners)
        _count(report, partition, owners, partitions[family])
    return _with_used_rows(replace(source, partitions=partitions))


def _with_used_rows(source: DatasetSource) -> DatasetSource:
    """Return a dataset whose tables have only the rows that its intervals use."""
    batches, partitions = {}, source.partitions
    for table in partitions[4].rows:
        name = fmt.TABLES[table]
        batch = source.batches[name]
        is_used = np.zeros(batch.num_rows, bool)
        is_used[0] = True  # unknown
        for partition in partitions.values():
            is_used[partition.rows[table]] = True
        batches[name] = _taken(batch, np.flatnonzero(is_used))
        # Rows 0, 5 and 7 are used: they become 0, 1 and 2.
        numbers = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
        partitions = {
            family: RowPartition(
                partition.starts, {**partition.rows, table: numbers[partition.rows[table]]}
            )
            for family, partition in partitions.items()
        }
    return replace(source, used_rows=batches, partitions=partitions)


def _taken(batch: pa.RecordBatch, rows: I64) -> pa.RecordBatch:
    """Return some rows of a table, without the texts for single lookups."""
    columns = {}
    for name in batch.schema.names:
        if name not in fmt.JSON:
            column = batch.column(name).take(pa.array(rows))
            # Anew: the dictionary has the values of all rows.
            is_encoded = pa.types.is_dictionary(column.type)
            decoded = column.dictionary_decode() if is_encoded else column
            columns[name] = decoded.dictionary_encode() if is_encoded else column
    return pa.record_batch(columns)


class _Rows:
    """The columns of the row tables, by the field that they hold."""

    def __init__(self, source: DatasetSource) -> None:
        self._batches = source.batches
        #: the rows of each table that intervals refer to
        self.counts = {table: self._batch(table).num_rows for table in source.partitions[4].rows}

    def column(self, field: Field) -> pa.Array:
        """Return the values of a stored field, one for each row of the table that stores it."""
        column = self._batch(field.table).column(field.column)
        if pa.types.is_dictionary(column.type):
            # Predicates number null after the last value: an index of 8 bits may be too narrow.
            indices = column.indices.cast(pa.int32())
            return pa.DictionaryArray.from_arrays(indices, column.dictionary)
        return column

    def values(self, table: str, column: str) -> pa.Array:
        """Return a column of a table; the links of locations are columns too."""
        return self._batch(table).column(column)

    def _batch(self, table: str) -> pa.RecordBatch:
        return self._batches[fmt.TABLES[table]]


def _kept(
    partition: RowPartition, masks: RowMasks, restriction: Restriction, family: int
) -> Intervals:
    """Return a partition whose owners are intervals that are kept; -1: left out."""
    is_kept = masks.mark({table: rows.view(np.uint32) for table, rows in partition.rows.items()})
    owner = np.where(is_kept, np.arange(len(is_kept)), -1)
    intervals = Intervals(partition.starts, owner)
    outside = restriction.outside(family)
    return coalesce(hide(intervals, outside) if outside else intervals)


def _restricted(partition: RowPartition, owners: Intervals) -> RowPartition:
    # The owner -1 takes the last entry, 0: unknown.
    rows = {table: np.append(of, np.int32(0))[owners.owner] for table, of in partition.rows.items()}
    return RowPartition(*join_runs(owners.starts, rows))


def _count(
    report: SourceReport, partition: RowPartition, owners: Intervals, kept: RowPartition
) -> None:
    """Count the intervals and the known addresses that are left out."""
    known, known_after = any_known(partition.rows), any_known(kept.rows)
    is_kept = np.zeros(len(known) + 1, bool)  # the last is for the owner -1
    is_kept[owners.owner] = True
    rows = int(np.count_nonzero(known & ~is_kept[:-1]))
    report.rows_left_out += rows
    report.used -= rows
    before = count_addresses(partition.starts, known)
    report.addresses_left_out += before - count_addresses(kept.starts, known_after)
