"""The row of each key of a table, for the batches of a whole file.

Arrow's ``index_in`` hashes all keys of the table for every batch. Most keys of vendors are decimal
numbers: these are sorted one time, and each batch searches among them.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64


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
