"""Writes the rows of ``geolookup.dataset.rows`` by columns: JSON texts and checksums.

Strategy: each distinct string is quoted once; the standard library quotes the few that need
escapes. Arrow writes numbers: its cast gives the shortest decimal that reads back as the same
float, without ``.0``; ``dataset.rows`` writes those with an exponent. Then the columns are joined
row by row.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup import kernel
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.rows import SEPARATOR, UNKNOWN, number_text
from geolookup.errors import BuildError

_ZERO, _TINY, _HUGE = (pa.scalar(number, pa.float64()) for number in (0.0, 1e-4, 1e10))
_NEEDS_ESCAPE = r'["\\\x00-\x1f]'
# Typed: to infer the type of a Python value, Arrow looks for ``dateutil`` each time.
_QUOTE, _EMPTY, _SEPARATOR, _OPEN, _CLOSE, _COMMA, _NO_TEXT = (
    pa.scalar(text, pa.string()) for text in ('"', "", SEPARATOR, *"[],", None)
)


def json_texts(column: pa.Array, absent: str = UNKNOWN) -> pa.Array:
    """Return the JSON text of each value, also of a list; ``absent`` stands for null.

    Strings may be a dictionary column.
    """
    if column.null_count == len(column):  # as most fields of most datasets
        return pa.repeat(pa.scalar(absent, pa.string()), len(column))
    if pa.types.is_string(column.type):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type):
        texts = _quote(column.dictionary).take(column.indices)
    else:
        texts = list_texts(column) if pa.types.is_list(column.type) else _numbers(column)
    return without_nulls(texts, absent)


def list_texts(column: pa.ListArray) -> pa.Array:
    """Return lists of texts as JSON; null stays null."""
    lists = pc.take(column, pa.array(np.arange(len(column))))  # without offset
    quoted = pa.ListArray.from_arrays(lists.offsets, _quote(lists.values))
    texts = pc.binary_join_element_wise(_OPEN, pc.binary_join(quoted, _COMMA), _CLOSE, _EMPTY)
    return pc.if_else(column.is_valid(), texts, _NO_TEXT)


def _quote(values: pa.Array) -> pa.Array:
    texts = pc.binary_join_element_wise(_QUOTE, values, _QUOTE, _EMPTY)
    special = pc.match_substring_regex(values, _NEEDS_ESCAPE)
    if special.true_count:
        escaped_texts = [
            json.dumps(text, ensure_ascii=False) for text in values.filter(special).to_pylist()
        ]
        texts = pc.replace_with_mask(texts, special, pa.array(escaped_texts, pa.string()))
    return texts


def _numbers(column: pa.Array) -> pa.Array:
    texts = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        # Arrow writes 0.00001, 1e-7 and 1e+10 where Python writes 1e-05, 1e-07 and 10000000000.
        size = pc.abs(column)
        others = pc.or_(pc.less(size, _TINY), pc.greater_equal(size, _HUGE))
        others = without_nulls(pc.and_(others, pc.not_equal(column, _ZERO)), False)
        if others.true_count:
            decimals = map(number_text, column.filter(others).to_pylist())
            texts = pc.replace_with_mask(texts, others, pa.array(decimals, pa.string()))
    return texts


def json_columns(texts: list[pa.Array]) -> dict[str, pa.Array]:
    """Return the columns that a single lookup reads: each row's JSON texts and their CRC-32C."""
    fragments = rows(texts)
    return {"json": fragments, fmt.CHECKSUMS: pa.array(checksums(fragments))}


def rows(columns: list[pa.Array]) -> pa.Array:
    """Join the JSON texts of each row's members."""
    # ptp: greatest less least bound: the size of the texts, also of a slice.
    size = sum(int(np.ptp(_bounds(column))) for column in columns)
    # One separator between two members of each row. Offsets of Arrow's strings have 32 bits.
    if size + (len(columns) - 1) * len(columns[0]) >= 1 << 31:
        raise BuildError("dataset", "more than 2 GiB of distinct values in one table")
    return pc.binary_join_element_wise(*columns, _SEPARATOR)


def checksums(texts: pa.Array) -> NDArray[np.uint32]:
    """Return the CRC-32C of each text."""
    sums = np.empty(len(texts), np.uint32)
    data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    kernel.checksums(data, _bounds(texts), sums)
    return sums


def _bounds(texts: pa.Array) -> NDArray[np.int32]:
    """Return where each text begins in the array's bytes, and where the last one ends."""
    return np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
