"""The rows of a dataset as values of layers: each layer numbers the distinct tuples of its rows.

A row of the location table is one tuple of the layer location, with the codes of its country and
its zone. A row of the network or the own table has a tuple in each of its layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import COUNTRY, LOCATION, ZONE, Field, in_table
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.runs import Codes
from geolookup_builder.datasets.source import DatasetSource
from geolookup_builder.fragments import list_texts
from geolookup_builder.layer_values import Column, LayerValues, distinct
from geolookup_builder.layers import LayerPartition

Batches = Mapping[str, pa.RecordBatch]


def partitions(
    source: DatasetSource, layers: Mapping[str, LayerValues], kept: frozenset[str]
) -> dict[int, LayerPartition]:
    """Add the tuples of a dataset to the layers; return its partitions, by family.

    ``kept`` are the fields that its recipe reads.
    """
    numbers, tables = {}, {}
    for layer, names in source.schema.stated.items():
        fields = [source.schema.by_source_column[name] for name in names if name in kept]
        if fields and layer in layers:
            numbers[layer] = _number_rows(source.batches, layers[layer], fields)
            tables[layer] = LOCATION if layer == LOCATION else fields[0].table
    return {
        family: LayerPartition(
            partition.starts,
            {layer: of_rows[partition.rows[tables[layer]]] for layer, of_rows in numbers.items()},
        )
        for family, partition in source.partitions.items()
    }


def country_records(batches: Batches) -> Iterator[dict[str, object]]:
    """Yield the rows of the country table, without the unknown row."""
    batch = batches[fmt.COUNTRY]
    names = [field.column for field in in_table(COUNTRY)]
    for row in batch.select(names).slice(1).to_pylist():
        yield {name: _as_stated(value) for name, value in row.items()}


def _as_stated(value: object) -> object:
    """Return a value as the reference table states it: whole numbers are integers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _number_rows(batches: Batches, values: LayerValues, fields: Iterable[Field]) -> Codes:
    """Return the number of each row's tuple in a layer."""
    columns = {field.source_column: _column(batches, field) for field in fields}
    rows = len(next(iter(columns.values())).codes)
    return values.add(distinct(columns, np.zeros(rows, bool)))


def _column(batches: Batches, field: Field) -> Column:
    """Return the values of a field by row of the table that intervals refer to."""
    column = _encoded(batches[fmt.TABLES[field.table]].column(field.column))
    if field.table in (COUNTRY, ZONE):
        links = batches[fmt.LOCATION].column(field.table).to_numpy()
        return Column(column.codes[links], column.values)
    return column


def _encoded(values: pa.Array) -> Column:
    if pa.types.is_list(values.type):
        values = list_texts(values)
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    codes = without_nulls(values.indices, -1).to_numpy().astype(np.int32, copy=False)
    return Column(codes, values.dictionary)
