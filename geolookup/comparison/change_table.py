"""Changes as rows: one row for each range whose answer differs, with the values before and after.

Strategy: ``changed_intervals`` has the ranges and the rows of both datasets. The values of a field
are prepared once for each row of its table, so a batch of ranges only takes indices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.comparison.changed_intervals import ROW_KINDS, ChangedRanges, changed_ranges
from geolookup.comparison.dataset_pair import ComparedField, DatasetPair
from geolookup.contract.fields import Field
from geolookup.contract.paths import names_of
from geolookup.contract.schema import column_members
from geolookup.contract.special import Range
from geolookup.dataset.arrow_files import type_of
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Addresses
from geolookup.dataset.networks import limits_of
from geolookup.export.ranges import TYPED, values_of
from geolookup.prefixes.conditions import Where
from geolookup.prefixes.spans import Halves
from geolookup.tables.row_tables import row_tables

BEFORE, AFTER = "before", "after"
SIDES = (BEFORE, AFTER)
#: The key of the table's metadata.
METADATA = "geolookup"
_COUNT = pa.decimal128(38, 0)
_TEXT = pa.dictionary(pa.int32(), pa.string())
#: Rows of a batch: writers search the values of each batch's dictionaries once.
BATCH = 1 << 17
#: The columns with the ends of ranges, by family; in rows of the other family they are null.
ENDS = {family: tuple(f"{end}_ipv{family}" for end in TYPED.names) for family in (4, 6)}


def diff_table(
    old: str | PathLike[str],
    new: str | PathLike[str] | None = None,
    *fields: str | Iterable[str],
    where: Where = None,
    not_: Where = None,
    within: object = None,
) -> pa.RecordBatchReader:
    """Return a row for each range whose answer differs between two datasets or stores.

    Rows are in address order, IPv4 first. They are disjoint; neighbours with equal columns are one
    row. The columns are ``family``, ``first_ipv4``, ``last_ipv4`` (uint32), ``first_ipv6``,
    ``last_ipv6`` (16 bytes in network order), ``addresses``, ``kind``, ``kilometres``; then
    for each field its values before and after, such as ``location_city_name_before``; then for each
    layer the deciding sources, such as ``source_location_before``. Null is unknown.

    ``fields`` are compared, by default all that are stored and the own columns of either dataset.
    ``where`` and ``not_`` are conditions as of ``Engine.prefixes``: the answer meets them in OLD
    or in NEW. ``within`` is a network. ``new`` is by default the default dataset.

    Raises ValueError and TypeError for an unknown field, a malformed condition or network, and
    DatasetError for a missing or damaged dataset; the reader raises the latter too.
    """
    from geolookup.comparison import open_dataset

    limits = _limits(within)
    compared = DatasetPair(open_dataset(old), open_dataset(new), names_of(fields), where, not_)
    return reader(compared, limits)


def _limits(within: object) -> list[tuple[int, Range]]:
    try:
        return [(family, (first, last)) for family, first, last in limits_of(within)]
    except ValueError as error:
        raise ValueError(f"diff_table: {error}") from None


def reader(
    compared: DatasetPair, limits: Iterable[tuple[int, Range]] | None = None
) -> pa.RecordBatchReader:
    """Return the rows of two datasets; ``limits`` are families and their first and last address."""
    columns = ChangeColumns(compared)
    wanted = _limits(None) if limits is None else limits
    return pa.RecordBatchReader.from_batches(columns.schema, _batches(columns, wanted))


def _batches(
    columns: ChangeColumns, limits: Iterable[tuple[int, Range]]
) -> Iterator[pa.RecordBatch]:
    for family, ends in limits:
        for ranges in changed_ranges(columns.compared, family, ends):
            for begin in range(0, len(ranges), BATCH):
                yield columns.batch(ranges.take(slice(begin, begin + BATCH)))


class ChangeColumns:
    """The columns of changed ranges."""

    def __init__(self, compared: DatasetPair) -> None:
        self.compared = compared
        #: by name, the values by row of the field's table
        self._values = dict(_values(compared))
        self.schema = self._schema()

    def _schema(self) -> pa.Schema:
        far = [pa.field("kilometres", pa.float64())] if self.compared.has_coordinates else []
        return pa.schema(
            [
                pa.field("family", pa.uint8()),
                *(
                    pa.field(name, TYPED.types[family])
                    for family, names in ENDS.items()
                    for name in names
                ),
                pa.field("addresses", _COUNT),
                pa.field("kind", _TEXT),
                *far,
                *((name, values.type) for name, (_, _, values) in self._values.items()),
                *((source_column(*of), _TEXT) for of in self._layers()),
            ],
            {METADATA: json.dumps(about(self.compared), ensure_ascii=False)},
        )

    def _layers(self) -> Iterator[tuple[str, str]]:
        for layer in self.compared.layers:
            for side in SIDES:
                yield layer, side

    def batch(self, ranges: ChangedRanges) -> pa.RecordBatch:
        """Return the rows of n ranges."""
        arrays: list[Any] = [pa.array(np.full(len(ranges), ranges.first.family, np.uint8))]
        arrays += _ends(ranges)
        arrays += [addresses(ranges.first, ranges.last), _words(ranges.kinds, ROW_KINDS)]
        if self.compared.has_coordinates:
            arrays.append(pa.array(ranges.kilometres, from_pandas=True))
        for table, at, values in self._values.values():
            pair = ranges.tables[table]
            arrays.append(values.take(pa.array((pair.old, pair.new)[at])))
        for layer in self.compared.layers:
            pair = ranges.sources[layer]
            names = [None, *self.compared.source_names]
            arrays += [_words(numbers, names) for numbers in (pair.old, pair.new)]
        return pa.record_batch(arrays, schema=self.schema)


def source_column(layer: str, side: str) -> str:
    """Return the name of the column with the source of a layer, before or after."""
    # Not LAYER_source: an own column can have that name.
    return f"source_{layer.replace('.', '_')}_{side}"


def _values(compared: DatasetPair) -> Iterator[tuple[str, tuple[str, int, pa.Array]]]:
    """Yield by column name its table, 0 for OLD or 1 for NEW, and the values by row."""
    for field in compared.fields:
        for at, dataset in enumerate((compared.old, compared.new)):
            values = _of_side(dataset, field, field.sides[at])
            yield f"{field.of.name}_{SIDES[at]}", (field.table, at, values)


def _of_side(dataset: Dataset, field: ComparedField, side: Field | None) -> pa.Array:
    """Return the values of a field by row; of an own column that a dataset lacks, nulls."""
    if side is not None:
        return row_tables(dataset).by_row(side)
    kind = type_of(field.of)
    count = dataset.row_counts().get(field.table, 1)
    return pa.nulls(count, _TEXT if kind == pa.string() else kind)


def about(compared: DatasetPair) -> dict[str, Any]:
    """Return the metadata of a table: the datasets, and the fields and layers of its columns."""
    datasets = (compared.old, compared.new)
    return {
        **{
            role: {"name": dataset.manifest.metadata().name, "generation": dataset.generation}
            for role, dataset in zip(("old", "new"), datasets, strict=True)
        },
        "fields": [field.path for field in compared.fields],
        "layers": list(compared.layers),
        "own": [[*map(column_members, dataset.schema.own)] for dataset in datasets],
    }


def _ends(ranges: ChangedRanges) -> Iterator[pa.Array]:
    """Yield first and last address as IPv4, then as IPv6; null in the other family."""
    for family in ENDS:
        for end in (ranges.first, ranges.last):
            if family == end.family:
                low, high = end.halves()
                yield values_of(family, Halves(high, low))
            else:
                yield pa.nulls(len(ranges), TYPED.types[family])


def addresses(first: Addresses, last: Addresses) -> pa.Array:
    """Return how many addresses each range has, exactly: fewer than 10^38."""
    low, high = last.minus(first).halves()
    low = low + np.uint64(1)
    high = high + (low == 0)
    # Little-endian integers of 128 bits, as Arrow stores decimals.
    data = np.stack([low, high], axis=1).astype("<u8")
    return pa.Array.from_buffers(_COUNT, len(low), [None, pa.py_buffer(data)])


def _words(numbers: Any, words: Iterable[str | None]) -> pa.Array:
    values = list(words)
    if values and values[0] is None:  # number 0 is null
        indices = pa.array(numbers.astype(np.int32) - 1, mask=numbers == 0)
        return pa.DictionaryArray.from_arrays(indices, pa.array(values[1:], pa.string()))
    return pa.DictionaryArray.from_arrays(
        pa.array(numbers.astype(np.int32)), pa.array(values, pa.string())
    )
