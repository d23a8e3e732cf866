"""A short cut for an overlay: the dataset below keeps its tables, and takes a few more rows.

The space of the sources above is compiled, with the dataset's answers there. The rows of that
space come first, as layers of sources do::

    dataset    |0  5        |20  7         |50  8
    above             |10 9 |20  0  |30 9  |50  0
    result     |0  5  |10 9 |20  7  |30 9  |50  8

Rows that the dataset has keep their numbers; new rows follow them. Rows that no interval uses any
more stay.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import LOCATION
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import Addresses
from geolookup.dataset.public_ranges import any_known
from geolookup.dataset.runs import Codes, factorize
from geolookup_builder.columns import ROW, Columns, Partition
from geolookup_builder.datasets.source import DatasetSource
from geolookup_builder.layers import underlay
from geolookup_builder.tables import dictionary, interval_tables

#: The columns that tell rows apart, of those that a table has.
_KEYS = ("country", "zone", "json")


def known_space(partitions: Mapping[int, Partition]) -> dict[int, Partition]:
    """Return by family where anything is known."""
    return {
        family: Partition(part.starts, {ROW: any_known(part.numbers)})
        for family, part in partitions.items()
    }


def put_over(
    families: Mapping[int, Partition],
    tables: Mapping[str, pa.Table],
    dataset: DatasetSource,
    columns: Columns,
) -> dict[str, pa.Table]:
    """Return the tables of a dataset with the rows of ``families`` over its own."""
    content, numbers = dict(tables), dict[str, Codes]()
    for table in (*fmt.LINKS, *families[4].numbers):
        numbers[table] = _extend(content, dataset, table)
        if table in fmt.LINKS:
            locations = content[fmt.TABLES[LOCATION]]
            links = numbers[table][locations[table].to_numpy()].astype(np.uint16)
            at = locations.schema.get_field_index(table)
            content[fmt.TABLES[LOCATION]] = locations.set_column(at, table, pa.array(links))
    joint = dict[int, Partition]()
    for family, part in families.items():
        rows = {table: numbers[table][of_table] for table, of_table in part.numbers.items()}
        joint[family] = underlay(Partition(part.starts, rows), dataset.families[family])
    return content | interval_tables(joint, columns)


def _extend(content: dict[str, pa.Table], dataset: DatasetSource, table: str) -> Codes:
    """Let the new rows of a table follow the dataset's; return the number of each."""
    file = fmt.TABLES[table]
    new = content[file]
    # A dataset without own columns has the unknown row only.
    batches = dataset.tables.batches
    old = pa.Table.from_batches([batches[file]]) if file in batches else new[:1]
    stored = [name for name in _KEYS if name in old.column_names]
    keys = pa.concat_tables([old.select(stored), new.select(stored)])
    codes = [column.combine_chunks().dictionary_encode() for column in keys.columns]
    # Old rows are distinct and come first: they keep their numbers.
    numbers, first = factorize([without_nulls(of.indices, -1).to_numpy() for of in codes])
    fresh = new.take(pa.array(first[old.num_rows :] - old.num_rows))
    content[file] = pa.table({name: _joined(old[name], fresh[name]) for name in old.column_names})
    return numbers[old.num_rows :]


def _joined(old: pa.ChunkedArray, fresh: pa.ChunkedArray) -> pa.Array:
    kind = old.type.value_type if pa.types.is_dictionary(old.type) else old.type
    values = pa.chunked_array([*old.cast(kind).chunks, *fresh.cast(kind).chunks], kind)
    return dictionary(values.combine_chunks()) if kind != old.type else values.combine_chunks()


def with_source(
    provenance: Mapping[int, Partition], dataset: DatasetSource, number: int
) -> dict[int, Partition]:
    """Return the provenance of both: where nothing above decides a layer, the dataset has it."""
    result, one = dict[int, Partition](), np.full(1, number, np.uint8)
    for family, behind in dataset.provenance().items():
        every = Partition(Addresses.of(family, [0]), dict.fromkeys(behind.numbers, one))
        result[family] = underlay(provenance[family], every)
    return result
