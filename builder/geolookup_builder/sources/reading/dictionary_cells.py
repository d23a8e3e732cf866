"""Changes to dictionary-encoded cells, made on their distinct values: what vendors' words mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Cells: TypeAlias = pa.DictionaryArray


def without(cells: Cells, *words: str) -> Cells:
    """Return the cells with each of ``words`` (exactly) as "nothing known"."""
    return renamed(cells, dict.fromkeys(words))


def renamed(cells: Cells, names: Mapping[str, str | None]) -> Cells:
    """Return the cells with each key of ``names`` (exactly) replaced; None is "nothing known"."""
    values = cells.dictionary.cast(pa.string())
    found = pc.index_in(values, pa.array(list(names), pa.string()))
    replaced = pa.array(list(names.values()), pa.string()).take(found)
    return with_values(cells, pc.if_else(pc.is_valid(found), replaced, values))


def with_values(cells: Cells, values: pa.Array) -> Cells:
    """Return the cells with other distinct values, one for one; null values are allowed."""
    return pa.DictionaryArray.from_arrays(cells.indices, values)


def constant(value: str, size: int) -> Cells:
    """Return ``size`` cells of one value."""
    indices = pa.repeat(pa.scalar(0, pa.int32()), size)
    return pa.DictionaryArray.from_arrays(indices, pa.array([value], pa.string()))


def joined(keys: pa.Array, key_column: pa.Array, values: pa.Array) -> Cells:
    """Return, for each of ``keys``, the value at its place in ``key_column``; null where none."""
    return pa.DictionaryArray.from_arrays(pc.index_in(keys, key_column), values)
