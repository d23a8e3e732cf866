"""Tables that rows refer to by a key: locations and providers.

Each is read whole, once; keys are looked up per distinct value of a batch. A row of it with the
wrong number of cells is an error: it would silently remove a value from many ranges. Arrow's
``index_in`` hashes all keys of the table for every batch. Most keys of vendors are decimal numbers:
these are sorted one time, and each batch searches among them.
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
        # By distinct key its row, then by row of the batch.
        return self.index.rows(keys.dictionary.cast(pa.string())).take(keys.indices)

    @cached_property
    def index(self) -> KeyIndex:
        """The rows by key, prepared when the first batch needs them."""
        return KeyIndex(self.keys)


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


class KeyIndex:
    """The first row of each key, a text."""

    def __init__(self, keys: pa.Array) -> None:
        self._keys, numbers = keys, _numbers(keys)
        self._order = None if numbers is None else np.argsort(numbers, kind="stable")
        self._sorted = None if numbers is None else numbers[self._order]

    def rows(self, texts: pa.Array) -> pa.Array:
        """Return the row of each text; null if no key is equal to it."""
        numbers = None if self._sorted is None else _numbers(texts)
        if self._sorted is None or self._order is None or numbers is None:
            return pc.index_in(texts, self._keys)
        # Of equal keys the first in the order, so the first row. Beyond the last key: the last.
        at = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
        rows = self._order[at].astype(np.int32)
        return pa.array(rows, mask=self._sorted[at] != numbers)


def _numbers(texts: pa.Array) -> I64 | None:
    """Return texts as numbers; None if one is not the usual text of its number ("007")."""
    if texts.null_count or not len(texts):
        return None
    try:
        numbers = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers.to_numpy() if numbers.cast(texts.type).equals(texts) else None
