"""Rows whose coordinates lie far outside their country: counted and listed, not changed.

A few are mistakes of a vendor. If most rows of a file are, latitude and longitude are swapped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from geolookup.dataset.intervals import F64, I64, Bools
from geolookup_builder.build_report import FAR_KM
from geolookup_builder.layer_values import Column, Distinct
from geolookup_builder.reference.country_boxes import country_boxes, is_far

_FIELDS = ("country_code", "latitude", "longitude")


@dataclass(frozen=True, slots=True)
class Far:
    """Rows of a batch far outside their country, and how many swapped coordinates bring inside."""

    rows: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    swapped: int = 0


def far_rows(location: Distinct) -> Far:
    """Return the far rows of a batch, by the distinct tuples of their locations."""
    if not all(name in location.columns for name in _FIELDS):
        return Far()
    country, *degrees = (location.columns[name] for name in _FIELDS)
    latitudes, longitudes = map(_numbers, degrees)
    rows_of_tuple = np.bincount(location.codes[location.codes >= 0], minlength=location.size)
    # One more entry: the code -1 of a row without a location is not far.
    far_tuples, swapped = np.zeros(location.size + 1, bool), 0
    order = np.argsort(country.codes, kind="stable")
    codes = country.values.to_pylist()
    # Codes -1 0 0 2: the tuples without a country come before the first bound.
    bounds = np.searchsorted(country.codes[order], np.arange(len(codes) + 1))
    for number, code in enumerate(codes):
        tuples = order[bounds[number] : bounds[number + 1]]
        far = tuples[_is_far(code, latitudes[tuples], longitudes[tuples])]
        inside = far[~_is_far(code, longitudes[far], latitudes[far])]
        far_tuples[far] = True
        swapped += int(rows_of_tuple[inside].sum())
    return Far(np.flatnonzero(far_tuples[location.codes]), swapped)


def _numbers(column: Column) -> F64:
    """Return a number for each tuple; not-a-number for null."""
    values = column.values.to_numpy(zero_copy_only=False).astype(np.float64)
    return np.append(values, np.nan)[column.codes]


def _is_far(code: str | None, latitudes: F64, longitudes: F64) -> Bools:
    """Return which coordinates are far from a country; unknown ones and countries are not."""
    boxes = country_boxes().get(code or "")
    if boxes is None:
        return np.zeros(len(latitudes), bool)
    return is_far(boxes, latitudes, longitudes, FAR_KM)
