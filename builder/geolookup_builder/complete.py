"""Completes location tuples from the reference tables and with the finders of the recipe.

A row of the *country* table is a pair of country and continent: a source may state
another continent than the reference (Cyprus, Turkey). A location without a time zone
gets the zone of its country if the country has only one; finders run after that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.runs import Codes
from geolookup_builder.build_report import BuildReport, FillCount
from geolookup_builder.enrichment import Finder
from geolookup_builder.layer_values import UNKNOWN, Tuples
from geolookup_builder.values import Reference


@dataclass(frozen=True, slots=True)
class Locations:
    """Location tuples with their rows in the country and zone tables; row 0 is unknown."""

    country: Codes
    zone: Codes
    tuples: Tuples
    countries: list[tuple[str | None, str | None]]  # (country_code, continent_code) by row
    zones: list[str | None]

    def take(self, rows: NDArray[np.int64]) -> Locations:
        """Return the tuples at ``rows``, with the same tables."""
        columns = self.country[rows], self.zone[rows], self.tuples.take(rows)
        return Locations(*columns, self.countries, self.zones)


def complete(
    tuples: Tuples,
    reference: Reference,
    finders: Sequence[Finder],
    report: BuildReport,
    fields: frozenset[str] | None = None,
) -> Locations:
    """Resolve country and zone of every location tuple; row 0 stays unknown.

    With ``fields`` the tuples have only these fields; the continent stays with the country.
    """
    derived = {name: tuples.values(name) for name in ("continent_code", "time_zone")}
    report.unstated = [name for name, of in derived.items() if of.null_count == len(of)]
    codes = list(reference.countries)
    names = tuples.values("country_code")
    country = pc.index_in(names, pa.array(codes, pa.string()))
    usual = pa.array([reference.countries[code].continent_code for code in codes], pa.string())
    # By tuple: the continent stated, else the usual one of its country; null without a country.
    continent = pc.coalesce(tuples.values("continent_code"), usual.take(country))
    single = pa.array([reference.countries[code].time_zone for code in codes], pa.string())
    zone = pc.coalesce(tuples.values("time_zone"), single.take(country))
    tuples = tuples.replace("time_zone", zone)
    for finder in finders:
        tuples = _fill(tuples, finder, report)
    if fields is not None:
        tuples = tuples.keep(fields)
        if fields.isdisjoint(("country_code", "continent_code")):
            continent = tuples.values("continent_code")  # null
    pairs, country_rows = _pairs(tuples.values("country_code"), continent)
    zones, zone_rows = _number(tuples.values("time_zone"))
    return Locations(country_rows, zone_rows, tuples, pairs, zones)


def _fill(tuples: Tuples, finder: Finder, report: BuildReport) -> Tuples:
    """Fill a field if it is unknown, and count the tuples with and without a match."""
    values = tuples.values(finder.field)
    is_missing = np.array(values.is_null().to_numpy(zero_copy_only=False))
    is_missing[UNKNOWN] = False
    rows = pa.array(np.flatnonzero(is_missing))
    results = finder.find({name: tuples.values(name).take(rows) for name in finder.needs})
    report.enriched[finder.field] = FillCount(len(results) - results.null_count, results.null_count)
    return tuples.replace(finder.field, pc.replace_with_mask(values, pa.array(is_missing), results))


def _number(values: pa.Array) -> tuple[list[str | None], Codes]:
    """Number the sorted distinct values from 1; null is 0."""
    distinct = pc.unique(values.drop_null()).sort()
    rows = without_nulls(pc.index_in(values, distinct), -1).to_numpy()
    return [None, *distinct.to_pylist()], rows + np.int32(1)


def _pairs(
    country: pa.Array, continent: pa.Array
) -> tuple[list[tuple[str | None, str | None]], Codes]:
    """Number the sorted distinct pairs; (None, None) sorts first, so it is row 0."""
    countries, country_numbers = _number(country)
    continents, continent_numbers = _number(continent)
    keys = country_numbers * np.int32(len(continents)) + continent_numbers
    distinct = np.flatnonzero(np.bincount(np.append(0, keys)))
    pairs = [
        (countries[key // len(continents)], continents[key % len(continents)]) for key in distinct
    ]
    return pairs, np.searchsorted(distinct, keys).astype(np.int32)
