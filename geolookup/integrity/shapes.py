"""Each column alone: type, nulls, dictionary, and lengths of buffers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables, damaged


def shapes(tables: Tables) -> Iterator[DatasetError]:
    """Yield what is wrong with names, types, nulls, dictionaries and buffer lengths of columns."""
    for name, batch in tables.batches.items():
        path, wanted = tables.folder / name, fmt.COLUMNS[name]
        stored = batch.schema.names
        if stored != [each for each in wanted if each in stored or not wanted[each].optional]:
            yield damaged(path, f"its columns are {', '.join(stored)}")
        elif not batch.num_rows:
            yield damaged(path, "no rows")
        else:
            for column in stored:
                problem = _shape_problem(batch.column(column), wanted[column])
                if problem:
                    yield damaged(path, problem, column)


def _shape_problem(values: pa.Array, wanted: fmt.Column) -> str:
    if not wanted.has(str(values.type)):
        return f"of type {values.type}, not {wanted.type}"
    if values.null_count and not wanted.nullable:
        return f"{values.null_count:,} values are null"
    if not _exact(values):
        return "a buffer is longer or shorter than its rows"
    return _dictionary_problem(values) if pa.types.is_dictionary(values.type) else ""


def _exact(values: pa.Array) -> bool:
    """Return whether the buffers that lookups read have exactly the length of their rows."""
    buffers, rows = values.buffers(), len(values)
    if values.offset or pa.types.is_list(values.type):  # only Arrow reads lists
        return not values.offset
    if pa.types.is_string(values.type):
        offsets = np.frombuffer(buffers[1], np.int32) if buffers[1] else np.zeros(1, np.int32)
        size = buffers[2].size if buffers[2] else 0
        return len(offsets) == rows + 1 and offsets[0] == 0 and offsets[-1] == size
    kind = values.type.index_type if pa.types.is_dictionary(values.type) else values.type
    return bool(buffers[1].size == (rows * kind.bit_width + 7) // 8)


def _dictionary_problem(values: pa.DictionaryArray) -> str:
    distinct, width = values.dictionary, values.type.index_type.bit_width
    if distinct.null_count:
        return "its dictionary has a null"
    if len(distinct) and not _exact(distinct):
        return "a buffer of its dictionary is longer or shorter than its values"
    narrower = width >> 1
    if narrower >= 8 and len(distinct) <= 1 << narrower - 1:
        return f"{len(distinct):,} values need no indices of {width} bits"
    return ""


def distinct(tables: Tables) -> Iterator[DatasetError]:
    """Yield the dictionaries with a repeated value."""
    for name, batch in tables.batches.items():
        for column, values in zip(batch.schema.names, batch.columns, strict=True):
            if pa.types.is_dictionary(values.type):
                found = len(values.dictionary) - pc.count_distinct(values.dictionary).as_py()
                if found:
                    yield damaged(tables.folder / name, "its dictionary has a value twice", column)
