"""Tables that rows refer to by a key: locations and providers.

Each is read whole, once. A row of it with the wrong number of cells is an error: it would silently
remove a value from many ranges. Arrow's ``index_in`` hashes all keys of the table for every batch.
Most keys of vendors are decimal numbers: these are sorted once, and each batch searches among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64
from geolookup_builder.sources.reading.delimited import whole_table
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.text import Layout


@dataclass(frozen=True)
class KeyedTable:
    """Columns of texts by key; of equal keys the first row is used."""

    keys: pa.Array
    columns: Mapping[str, pa.Array]

    def rows(self, keys: pa.DictionaryArray) -> pa.Array:
        """Return the row of each key; null if there is none."""
        texts = keys.dictionary.cast(pa.string())
        ordered, numbers = self._ordered, _numbers(texts)
        if ordered is None or numbers is None:
            return pc.index_in(texts, self.keys).take(keys.indices)
        order, sorted_keys = ordered
        # Of equal keys the first in the order, so the first row. Beyond the last key: the last.
        at = np.minimum(np.searchsorted(sorted_keys, numbers), len(sorted_keys) - 1)
        rows = pa.array(order[at].astype(np.int32), mask=sorted_keys[at] != numbers)
        return rows.take(keys.indices)

    @cached_property
    def _ordered(self) -> tuple[I64, I64] | None:
        """The rows in the order of their keys, and the keys, if all are numbers."""
        if (numbers := _numbers(self.keys)) is None:
            return None
        order = np.argsort(numbers, kind="stable")
        return order, numbers[order]


def concatenate(tables: list[KeyedTable]) -> KeyedTable:
    """Return one table from tables with the same columns; earlier tables take precedence."""
    names = tables[0].columns
    return KeyedTable(
        pa.concat_arrays([table.keys for table in tables]),
        {name: pa.concat_arrays([table.columns[name] for table in tables]) for name in names},
    )


def load_keyed(
    member: Member, names: tuple[str, ...], key: str, columns: tuple[str, ...]
) -> KeyedTable:
    """Read ``columns`` of a CSV with the header ``names``; columns that it lacks are null."""
    layout = Layout(names, frozenset({key, *columns} & set(names)), frozenset())
    table = whole_table(member, layout)
    absent = pa.nulls(len(table), pa.string())
    return KeyedTable(
        table[key].combine_chunks(),
        {name: table[name].combine_chunks() if name in names else absent for name in columns},
    )


def _numbers(texts: pa.Array) -> I64 | None:
    """Return texts as numbers; None if one is not the usual text of its number ("007")."""
    if texts.null_count or not len(texts):
        return None
    try:
        numbers = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers.to_numpy() if numbers.cast(texts.type).equals(texts) else None
