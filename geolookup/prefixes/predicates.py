"""The predicates of conditions: one of several values, a comparison, a beginning, a place.

Each predicate marks the rows of a table that meet it. Texts are compared once for each distinct
text of a column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.distances import distances
from geolookup.dataset.intervals import Bools

Compare = Callable[[pa.Array, pa.Scalar], pa.Array]


class Predicate(Protocol):
    """Marks the rows whose values meet it; ``columns`` have a value for each of the n rows."""

    def marks(self, *columns: pa.Array) -> Bools:
        """Return n marks."""


@dataclass(frozen=True, slots=True)
class Among:
    """The value is one of several, or unknown if ``unknown`` is set; of a list, one item is."""

    values: tuple[Any, ...]
    unknown: bool = False

    def marks(self, *columns: pa.Array) -> Bools:
        """See ``Predicate``."""
        (column,) = columns
        marks = _of_distinct(column, lambda values: pc.is_in(values, self._set(values.type)))
        return marks | _bools(column.is_null()) if self.unknown else marks

    def absent(self, column: pa.Array) -> list[Any]:
        """Return the values that no row has."""
        values = distinct(column)
        wanted = self._set(values.type)
        # Arrow hashes the second argument: the few values of the condition, not all of the column.
        present = values.filter(pc.is_in(values, wanted))
        missing: list[Any] = wanted.filter(pc.invert(pc.is_in(wanted, present))).to_pylist()
        return missing

    def _set(self, kind: pa.DataType) -> pa.Array:
        return pa.array(self.values, kind)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The number is greater or less than a bound; an unknown one is neither."""

    compare: Compare
    bound: float

    def marks(self, *columns: pa.Array) -> Bools:
        """See ``Predicate``."""
        (column,) = columns
        # As float64, integers beyond 2^53 would be rounded.
        is_whole = pa.types.is_integer(column.type) and isinstance(self.bound, int)
        kind = pa.int64() if is_whole else pa.float64()
        return _bools(self.compare(column.cast(kind, safe=False), pa.scalar(self.bound, kind)))


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The text begins with one of several; of a list, one item does."""

    texts: tuple[str, ...]

    def marks(self, *columns: pa.Array) -> Bools:
        """See ``Predicate``."""
        (column,) = columns
        return _of_distinct(column, self._starts)

    def _starts(self, values: pa.Array) -> pa.Array:
        starts = pa.array(np.zeros(len(values), bool))
        for text in self.texts:
            starts = pc.or_kleene(starts, pc.starts_with(values, text))
        return starts


@dataclass(frozen=True, slots=True)
class Around:
    """The coordinates are at most so many km from a point, along a great circle."""

    latitude: float
    longitude: float
    kilometres: float

    def marks(self, *columns: pa.Array) -> Bools:
        """See ``Predicate``; the columns are latitude and longitude in degrees."""
        places = np.stack([_floats(column) for column in columns])
        point = np.array([[self.latitude], [self.longitude]])
        marks: Bools = distances(places, point) <= self.kilometres
        # NaN <= x is False: unknown coordinates are in no circle.
        return marks


@dataclass(frozen=True, slots=True)
class InBox:
    """The coordinates are in a bounding box, its edges included.

    A box whose west is greater than its east crosses the 180th meridian.
    """

    south: float
    west: float
    north: float
    east: float

    def marks(self, *columns: pa.Array) -> Bools:
        """See ``Predicate``; the columns are latitude and longitude in degrees."""
        latitude, longitude = map(_floats, columns)
        # West 170, east -170: from 170 on, or up to -170.
        after, before = longitude >= self.west, longitude <= self.east
        within = after & before if self.west <= self.east else after | before
        marks: Bools = (latitude >= self.south) & (latitude <= self.north) & within
        return marks


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


def distinct(column: pa.Array) -> pa.Array:
    """Return the values of a column: of texts each once."""
    if pa.types.is_list(column.type):
        return column.flatten()
    return column.dictionary if pa.types.is_dictionary(column.type) else column


def _bools(marks: pa.Array) -> Bools:
    plain: Bools = marks.fill_null(False).to_numpy(zero_copy_only=False)
    return plain


def _floats(column: pa.Array) -> Any:
    """Return numbers, NaN if unknown."""
    return column.to_numpy(zero_copy_only=False)
