"""Numbers rows and values as the base does, an earlier dataset.

What the base has keeps its number. So columns of these numbers keep their bytes where the answers
are the same, and a delta of two generations is small. Without a base, or where it has none of the
rows, the numbers are in the order that the caller gives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64
from geolookup_builder.factorize import Codes, factorize


def matches(base: Sequence[pa.Array], rows: Sequence[pa.Array]) -> Codes:
    """Return the number in the base of each row; -1: the base does not have the row.

    Both are given by columns, of the same types. The rows are distinct. Of rows of the base that
    are equal, the first counts.
    """
    size = len(base[0])
    if not size:
        return np.full(len(rows[0]), -1, np.int32)
    joined = [_codes(*each) for each in zip(base, rows, strict=True)]
    codes, first = factorize(joined)
    numbers = first[codes[size:]].astype(np.int32)
    return np.where(numbers < size, numbers, np.int32(-1))


def _codes(base: pa.Array, rows: pa.Array) -> Codes:
    """Return a code for each value of both columns, the base before the rows; -1 for null."""
    encoded = pa.chunked_array([base, rows]).dictionary_encode()  # one dictionary for both
    parts = (each.indices.fill_null(-1) for each in encoded.chunks)
    return np.concatenate([each.to_numpy(zero_copy_only=False) for each in parts])


def kept(base: Codes) -> Codes:
    """Return a number for each of n rows, from 0 to n - 1.

    ``base`` are their numbers in the base, or -1; the rows are in order of preference. Rows keep
    their number where it is below n. The others take the numbers that are left, in their order.
    So a row of the base that is gone leaves no gap: a new row takes its number, or else a row of
    the end of the table.
    """
    numbers = np.where(base < len(base), base, np.int32(-1))
    keep = numbers >= 0
    free = np.ones(len(numbers), bool)
    free[numbers[keep]] = False
    numbers[~keep] = np.flatnonzero(free)
    return numbers


def inverse(numbers: Codes) -> I64:
    """Return the row that has each number."""
    rows = np.empty(len(numbers), np.int64)
    rows[numbers] = np.arange(len(numbers))
    return rows


def reencoded(column: pa.DictionaryArray, base: pa.Array) -> pa.DictionaryArray:
    """Return a column with its dictionary reordered: values of ``base`` keep their index there."""
    stated = pc.index_in(column.dictionary, base).fill_null(-1)
    numbers = kept(np.asarray(stated.to_numpy(zero_copy_only=False), np.int32))
    indices = pa.array(numbers).take(column.indices).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary.take(inverse(numbers)))
