"""Converts merged layers to dataset rows: distinct locations and networks, coalesced intervals.

Only tuples in use are interned. Tuples that are equal before or after enrichment become one
row. Rows are numbered by the number of intervals that use them, the most used first: frequent rows
share cache lines. Rows of equal use are in order of first appearance in IPv4, then IPv6.

Locations are completed first, from the reference tables and with the finders of the recipe. A row
of the *country* table is a pair of country and continent: a source may state another continent
than the reference (Cyprus, Turkey). A location without a time zone gets the zone of its country if
the country has only one; finders run after that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import COUNTRY, LOCATION, PLACE_MEMBERS, ZONE
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import Bools
from geolookup.dataset.runs import Codes, DistinctRows, factorize
from geolookup.parallel import alongside
from geolookup_builder.build_report import BuildReport, FillCount
from geolookup_builder.columns import Columns, Numbers, Partition
from geolookup_builder.enrichment import Finder
from geolookup_builder.layer_values import UNKNOWN, Column, LayerValues, Tuples
from geolookup_builder.values import Reference

#: Country and continent, as codes.
Pair = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class InternedContent:
    """The content of a dataset before it becomes tables; row 0 of each table is unknown."""

    families: dict[int, Partition]
    rows: dict[str, pa.Table]  # of locations, networks and own columns, by source column
    countries: list[Pair]
    zones: list[str | None]
    provenance: dict[int, Partition]


def intern(
    partitions: Mapping[int, Partition],
    layers: Mapping[str, LayerValues],
    reference: Reference,
    finders: Sequence[Finder],
    report: BuildReport,
    columns: Columns,
    fields: frozenset[str] | None = None,
) -> InternedContent:
    """Return the rows that ``partitions`` (by family) uses, and its intervals by row number.

    With ``fields`` the rows have only these fields.
    """
    sources = {layer: values.source_numbers() for layer, values in layers.items()}
    report.as_names = layers["asn"].fill_from_below("asn", "asn_organization")
    for layer, values in layers.items():
        # Locations are completed first. A number without a value has no source.
        if fields is not None and layer != LOCATION and not fields.issuperset(values.types):
            sources[layer][~values.keep(fields)] = 0
    used = {layer: _mark_used(partitions, values, columns) for layer, values in layers.items()}
    tuples, of_number = layers[LOCATION].of_used(used[LOCATION])
    tuples, countries, zones = _complete(tuples, reference, finders, report, fields)
    places, first = factorize(tuples.codes(COUNTRY, ZONE, *PLACE_MEMBERS))
    of_number = places[of_number]
    if fields is not None:
        layers[LOCATION].keep(fields)
        sources[LOCATION][: len(of_number)][of_number == UNKNOWN] = 0
    of_tables = {LOCATION: {LOCATION: (tuples.take(first), of_number)}}
    for layer, values in layers.items():
        if layer != LOCATION:
            of_tables.setdefault(values.table, {})[layer] = values.of_used(used[layer])
    rows = {table: _Rows(of_layers) for table, of_layers in of_tables.items()}

    def joined(change: Callable[[Numbers], Numbers]) -> dict[int, Partition]:
        return {family: columns.joined(part, change) for family, part in partitions.items()}

    def sources_of(numbers: Numbers) -> Numbers:
        return {layer: of[numbers[layer]] for layer, of in sources.items()}

    with alongside(partial(joined, sources_of)) as provenance:
        families = joined(lambda numbers: {table: of.of(numbers) for table, of in rows.items()})
    tables = {table: of.by_use(families, table, columns) for table, of in rows.items()}
    return InternedContent(families, tables, countries, zones, provenance())


def _complete(
    tuples: Tuples,
    reference: Reference,
    finders: Sequence[Finder],
    report: BuildReport,
    fields: frozenset[str] | None = None,
) -> tuple[Tuples, list[Pair], list[str | None]]:
    """Resolve country and zone of every location tuple; row 0 stays unknown.

    Returns the tuples with their rows in the country and the zone table as fields, and the rows of
    these tables. With ``fields`` the tuples have only these fields; the continent stays with the
    country.
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
    # uint16: far fewer than 65,536 countries and zones exist.
    links = {
        table: Column(rows, pa.array(np.arange(rows.max() + 1, dtype=np.uint16)))
        for table, rows in ((COUNTRY, country_rows), (ZONE, zone_rows))
    }
    return Tuples({**tuples.fields, **links}), pairs, zones


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


def _pairs(country: pa.Array, continent: pa.Array) -> tuple[list[Pair], Codes]:
    """Number the sorted distinct pairs; (None, None) sorts first, so it is row 0."""
    countries, country_numbers = _number(country)
    continents, continent_numbers = _number(continent)
    keys = country_numbers * np.int32(len(continents)) + continent_numbers
    distinct = np.flatnonzero(np.bincount(np.append(0, keys)))
    pairs = [
        (countries[key // len(continents)], continents[key % len(continents)]) for key in distinct
    ]
    return pairs, np.searchsorted(distinct, keys).astype(np.int32)


def _mark_used(partitions: Mapping[int, Partition], values: LayerValues, columns: Columns) -> Bools:
    """Mark the numbers of a layer that intervals have, and UNKNOWN."""
    is_used = np.zeros(values.size, bool)
    is_used[UNKNOWN] = True
    if values.size > 1:  # most layers of most recipes have no value
        for partition in partitions.values():
            numbers = partition.numbers[values.layer]
            for part in columns.chunks(len(numbers)):
                is_used[numbers[part]] = True
    return is_used


class _Rows:
    """The rows of one table, numbered in order of first appearance."""

    def __init__(self, layers: Mapping[str, tuple[Tuples, Codes]]) -> None:
        self._layers = layers  # tuples, and the tuple of each number
        #: Layers without a value are left out.
        self._of_numbers = {layer: of for layer, (_, of) in layers.items() if of.any()}
        self._distinct = DistinctRows(len(self._of_numbers))

    def of(self, numbers: Mapping[str, Codes]) -> Codes:
        """Return the row of each interval of a chunk from its numbers by layer."""
        if not self._of_numbers:
            return np.zeros(len(next(iter(numbers.values()))), np.int32)
        return self._distinct.number([of[numbers[layer]] for layer, of in self._of_numbers.items()])

    def by_use(self, families: Mapping[int, Partition], table: str, columns: Columns) -> pa.Table:
        """Number the rows by how often intervals use them; return them by source column.

        The unknown row stays row 0; equal counts stay in their order.
        """
        known = dict(zip(self._of_numbers, self._distinct.columns, strict=True))
        size = len(self._distinct) if known else 1
        uses = np.zeros(size, np.int64)
        for family in families.values():
            for part in columns.chunks(len(family.starts)):
                uses += np.bincount(family.numbers[table][part], minlength=size)
        uses[UNKNOWN] = size + uses.sum()  # more than any other row
        order = np.argsort(-uses, kind="stable")
        # Uses 9 2 7 2: order 0 2 1 3, so rows 0, 1, 2 and 3 get the numbers 0, 2, 1 and 3.
        numbers = np.empty(size, np.int32)
        numbers[order] = np.arange(size, dtype=np.int32)
        for family in families.values():
            family.numbers[table] = columns.looked_up(numbers, family.numbers[table])
        values = {}
        for layer, (tuples, _) in self._layers.items():
            rows = tuples.take(known.get(layer, np.zeros(size, np.int32))[order])
            values.update({name: rows.values(name) for name in rows.fields})
        return pa.table(values)
