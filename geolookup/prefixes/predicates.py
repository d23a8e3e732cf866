"""Which rows meet conditions: one of several values, a comparison, a beginning, a place.

Texts are compared once for each distinct text of a column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import Field
from geolookup.dataset.distances import distances
from geolookup.dataset.intervals import Bools

_COMPARE = {">=": pc.greater_equal, "<=": pc.less_equal, ">": pc.greater, "<": pc.less}


class RowColumns(Protocol):
    """The row tables that conditions are evaluated on, such as ``RowTables``."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of rows by table."""

    def column(self, field: Field) -> pa.Array:
        """Return the values of a stored field, one for each row of the table that stores it."""

    def values(self, table: str, column: str) -> pa.Array:
        """Return a column of a table; the links of locations are columns too."""


def meets(operator: str, values: Sequence[Any], *columns: pa.Array) -> Bools:
    """Mark the rows that meet a condition with this operator and these values.

    ``columns`` have a value for each row. ``=``: the value is one of several, None is unknown; of a
    list, one item is. ``^=``: a text begins with one of several. ``~``: latitude and longitude, the
    columns in degrees, are in a place: a circle of three numbers or a box of four. Other operators
    compare with one number; an unknown value meets no comparison.
    """
    if operator == "~":
        # Of unknown ones NaN.
        return _at(values, *(column.to_numpy(zero_copy_only=False) for column in columns))
    (column,) = columns
    if operator == "=":
        known = [value for value in values if value is not None]
        marks = _of_distinct(column, lambda items: pc.is_in(items, pa.array(known, items.type)))
        return marks | _bools(column.is_null()) if None in values else marks
    if operator == "^=":
        return _of_distinct(column, partial(_starts, values))
    # As float64, integers beyond 2^53 would be rounded.
    is_whole = pa.types.is_integer(column.type) and isinstance(values[0], int)
    kind = pa.int64() if is_whole else pa.float64()
    return _bools(_COMPARE[operator](column.cast(kind, safe=False), pa.scalar(values[0], kind)))


def _starts(texts: Sequence[Any], items: pa.Array) -> pa.Array:
    marks = (pc.starts_with(items, text) for text in texts)
    return reduce(pc.or_kleene, marks, pa.array(np.zeros(len(items), bool)))


def _at(place: Sequence[float], latitude: Any, longitude: Any) -> Bools:
    """Mark the coordinates in a place; NaN, an unknown one, is in none."""
    if len(place) == 3:
        point, kilometres = np.array(place[:2])[:, np.newaxis], place[2]
        circle: Bools = distances(np.stack([latitude, longitude]), point) <= kilometres
        return circle
    south, west, north, east = place
    # Beyond the 180th meridian: west 170, east -170 is from 170 on, or up to -170.
    after, before = longitude >= west, longitude <= east
    within = after & before if west <= east else after | before
    box: Bools = (latitude >= south) & (latitude <= north) & within
    return box


def _of_distinct(column: pa.Array, marked: Callable[[pa.Array], pa.Array]) -> Bools:
    """Mark the values of a column, each distinct text once; unknown ones are not marked."""
    if pa.types.is_list(column.type):
        marks = np.zeros(len(column), bool)
        items = _bools(marked(column.flatten()))
        # By item of all lists, its list.
        marks[pc.list_parent_indices(column).to_numpy()[items]] = True
        return marks
    if not pa.types.is_dictionary(column.type):
        return _bools(marked(column))
    # One more entry, false: the index of a null.
    of_text: Bools = np.append(_bools(marked(column.dictionary)), False)
    of_row: Bools = of_text[column.indices.fill_null(len(of_text) - 1).to_numpy()]
    return of_row


def _bools(marks: pa.Array) -> Bools:
    plain: Bools = marks.fill_null(False).to_numpy(zero_copy_only=False)
    return plain
