"""Coordinates as vendors write them: 0,0 is how most of them say that the place is unknown."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

_ZERO = r"^ *[+-]?0+(\.0*)? *$"
_NAMES = ("latitude", "longitude")


def without_origin(fields: Mapping[str, pa.DictionaryArray]) -> Mapping[str, pa.DictionaryArray]:
    """Return the fields without coordinates of 0,0: open sea, where no network is."""
    if not all(name in fields for name in _NAMES):
        return fields
    origin = pc.and_(*(_is_zero(fields[name]) for name in _NAMES))
    return {**fields, **{name: _cleared(fields[name], origin) for name in _NAMES}}


def _is_zero(cells: pa.DictionaryArray) -> pa.BooleanArray:
    zero = pc.match_substring_regex(cells.dictionary, _ZERO)
    return pc.fill_null(zero.take(cells.indices), False)


def _cleared(cells: pa.DictionaryArray, rows: pa.BooleanArray) -> pa.DictionaryArray:
    indices = pc.if_else(rows, pa.scalar(None, pa.int32()), cells.indices)
    return pa.DictionaryArray.from_arrays(indices, cells.dictionary)
