"""Dictionary-encoded columns: changes made on their distinct values, and columns made from others.

Formats use these to translate a vendor's words. A null is "unknown".
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

# 0, -0, +0.000 and " 0. ".
_ZERO = r"^ *[+-]?0+(\.0*)? *$"
_COORDINATES = ("latitude", "longitude")


def without(column: pa.DictionaryArray, *words: str) -> pa.DictionaryArray:
    """Return the column with each of ``words`` (exactly) replaced by null."""
    return translate(column, dict.fromkeys(words)) if words else column


def translate(column: pa.DictionaryArray, names: Mapping[str, str | None]) -> pa.DictionaryArray:
    """Return the column with each key of ``names`` (exactly) replaced by its value; None: null."""
    values = column.dictionary.cast(pa.string())
    at = pc.index_in(values, pa.array(list(names), pa.string()))
    translations = pa.array(list(names.values()), pa.string()).take(at)
    return with_values(column, pc.if_else(pc.is_valid(at), translations, values))


def with_values(column: pa.DictionaryArray, values: pa.Array) -> pa.DictionaryArray:
    """Return the column with other distinct values, one for one; values may be null."""
    return pa.DictionaryArray.from_arrays(column.indices, values)


def trim(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the column without blanks around its values; a value of only blanks is null."""
    values = column.dictionary.cast(pa.string())
    bare = pc.utf8_trim_whitespace(values)
    return column if bare.equals(values) else without(with_values(column, bare), "")


def constant(value: str, size: int) -> pa.DictionaryArray:
    """Return a column of ``size`` rows with one value."""
    indices = pa.repeat(pa.scalar(0, pa.int32()), size)
    return pa.DictionaryArray.from_arrays(indices, pa.array([value], pa.string()))


def look_up(keys: pa.Array, key_column: pa.Array, values: pa.Array) -> pa.DictionaryArray:
    """Return, for each of ``keys``, the value beside it in ``key_column``; null if none."""
    return pa.DictionaryArray.from_arrays(pc.index_in(keys, key_column), values)


def take(values: pa.Array, rows: pa.Array) -> pa.DictionaryArray:
    """Return ``values`` (many texts) at ``rows``; these may be null, and dictionary-encoded.

    The dictionary holds only what these rows use: each of its values is
    cleaned in every batch.
    """
    # Rows 5 5 9: the values 5 and 9 are taken once each.
    codes = rows.dictionary_encode()
    distinct = values.take(codes.dictionary).dictionary_encode()
    return pa.DictionaryArray.from_arrays(distinct.indices.take(codes.indices), distinct.dictionary)


def first_known(*columns: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return, row by row, the first value that is neither null nor empty."""
    texts = [column.dictionary.cast(pa.string()).take(column.indices) for column in columns]
    values = [
        pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column) for column in texts
    ]
    return pc.coalesce(*values).dictionary_encode()


def mark(column: pa.DictionaryArray, rows: pa.Array, word: str) -> pa.DictionaryArray:
    """Return the column with ``word`` in the rows that are true."""
    values = pa.concat_arrays([column.dictionary.cast(pa.string()), pa.array([word])])
    # The word is the last value.
    index = pa.scalar(len(values) - 1, column.indices.type)
    return pa.DictionaryArray.from_arrays(pc.if_else(rows, index, column.indices), values)


def without_null_island(
    fields: Mapping[str, pa.DictionaryArray],
) -> Mapping[str, pa.DictionaryArray]:
    """Return the fields without coordinates of 0,0: most vendors write them for "unknown"."""
    if not all(name in fields for name in _COORDINATES):
        return fields
    origin = pc.and_(*(_is_zero(fields[name]) for name in _COORDINATES))
    return {**fields, **{name: without_rows(fields[name], origin) for name in _COORDINATES}}


def _is_zero(column: pa.DictionaryArray) -> pa.BooleanArray:
    zero = pc.match_substring_regex(column.dictionary, _ZERO)
    return pc.fill_null(zero.take(column.indices), False)


def without_rows(column: pa.DictionaryArray, rows: pa.BooleanArray) -> pa.DictionaryArray:
    """Return the column with null in the rows that are true."""
    indices = pc.if_else(rows, pa.scalar(None, pa.int32()), column.indices)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)
