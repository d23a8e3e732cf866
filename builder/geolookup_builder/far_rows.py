"""Rows whose coordinates lie far outside their country: counted and listed, not changed.

A few are mistakes of a vendor. If most rows of a file are, latitude and longitude are swapped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from geolookup.dataset.intervals import F64, I64
from geolookup_builder.build_report import FAR_KM
from geolookup_builder.layer_values import Column, Distinct
from geolookup_builder.reference.country_boxes import far_places

_FIELDS = ("country_code", "latitude", "longitude")


@dataclass(frozen=True, slots=True)
class Far:
    """Rows of a batch far outside their country, and how many swapped coordinates bring inside."""

    rows: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    swapped: int = 0


def far_rows(location: Distinct) -> Far:
    """Return the far rows of a batch, by the distinct tuples of their locations."""
    if not all(name in location.tuples.fields for name in _FIELDS):
        return Far()
    country, *degrees = (location.tuples.fields[name] for name in _FIELDS)
    codes, (latitudes, longitudes) = country.values.to_pylist(), map(_numbers, degrees)
    far = far_places(codes, country.codes, latitudes, longitudes, FAR_KM)
    if not len(far):
        return Far()
    rows_of_tuple = np.bincount(location.codes[location.codes >= 0], minlength=len(location.tuples))
    swapped = longitudes[far], latitudes[far]
    still_far = far_places(codes, country.codes[far], *swapped, FAR_KM)
    # One more entry: the code -1 of a row without a location is not far.
    far_tuples = np.zeros(len(location.tuples) + 1, bool)
    far_tuples[far] = True
    inside = rows_of_tuple[far].sum() - rows_of_tuple[far[still_far]].sum()
    return Far(np.flatnonzero(far_tuples[location.codes]), int(inside))


def _numbers(column: Column) -> F64:
    """Return a number for each tuple; not-a-number for null."""
    values = column.values.to_numpy(zero_copy_only=False).astype(np.float64)
    return np.append(values, np.nan)[column.codes]
