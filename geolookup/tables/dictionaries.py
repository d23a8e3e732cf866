"""Columns of texts as dictionaries: whole columns, and the values that occur."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from geolookup.dataset.arrow_files import array_of


def in_one(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; combine_chunks fails for dictionaries without chunks."""
    return pa.concat_arrays(column.chunks or [pa.nulls(0, column.type)])


def used_values(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return a column with only the values that occur, in the order of the dictionary."""
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    occurs = np.zeros(len(column.dictionary) + 1, bool)
    occurs[codes] = True
    occurs[-1] = False  # index -1 is null
    # Values that occur: yes no yes; renumbered 0, -1, 1, and -1 for null.
    numbers = np.where(occurs, np.cumsum(occurs) - 1, -1).astype(codes.dtype)[codes]
    values = column.dictionary.filter(array_of(occurs[:-1]))
    return pa.DictionaryArray.from_arrays(array_of(numbers, numbers >= 0), values)
