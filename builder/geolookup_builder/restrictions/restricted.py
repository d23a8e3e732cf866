"""The part of a source that the keys ``only``, ``families`` and ``within`` keep.

Conditions are evaluated on the answers of the source by itself: on the distinct tuples of their
layers. The space outside becomes unknown in all layers, and lower sources show through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import COUNTRY, LOCATION, ZONE, Field
from geolookup.dataset.intervals import Bools, count_addresses
from geolookup.dataset.runs import Codes
from geolookup.prefixes.conditions import Condition
from geolookup.prefixes.possible_values import absent_values, check_values
from geolookup_builder.build_report import BuildReport, SourceReport
from geolookup_builder.complete import Locations, complete
from geolookup_builder.enrichment import Finder
from geolookup_builder.flatten import Intervals, coalesce
from geolookup_builder.intern import numbers_of
from geolookup_builder.layer_values import LayerValues, Tuples
from geolookup_builder.layers import LayerPartition, hide, without
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.table import recipe_errors
from geolookup_builder.tables import CountryRecord, as_stored, country_column
from geolookup_builder.values import Reference


class Answers:
    """The answers of a source: for each field the values of its layer's distinct tuples."""

    def __init__(
        self,
        partitions: Mapping[int, LayerPartition],
        layers: Mapping[str, LayerValues],
        reference: Reference,
        finders: Sequence[Finder],
        countries: Sequence[CountryRecord],
    ) -> None:
        self.partitions, self._layers = partitions, layers
        self._reference, self._finders, self._countries = reference, finders, countries
        self._in_use: dict[str, tuple[Tuples, Codes]] = {}
        self._complete: Locations | None = None

    def marks(self, conditions: Iterable[Condition]) -> Bools:
        """Mark the intervals that meet all conditions, IPv4 before IPv6."""
        marks = np.ones(sum(len(part.starts) for part in self.partitions.values()), bool)
        for condition in conditions:
            columns = map(self.column, condition.fields)
            of_tuple: Bools = condition.predicate.marks(*columns) ^ condition.negated
            numbers = self._of_layer(condition.fields[0].layer)[1]
            marks &= of_tuple[numbers[1:]]  # without UNKNOWN, the first one
        return marks

    def column(self, field: Field) -> pa.Array:
        """Return the values of a stored field, one for each distinct tuple of its layer."""
        if field.layer != LOCATION:
            values = self._of_layer(field.layer)[0].values(field.source_column)
            return as_stored(values, field)
        locations = self._locations()
        if field.table == ZONE:
            return pa.array(locations.zones, pa.string()).take(pa.array(locations.zone))
        if field.table == COUNTRY:
            values = country_column(field, locations, self._reference, self._countries)
            return values.take(pa.array(locations.country))
        return locations.tuples.values(field.column)

    def _locations(self) -> Locations:
        if self._complete is None:
            tuples = self._of_layer(LOCATION)[0]
            # The counts of the report are of the whole build, not of one source.
            self._complete = complete(tuples, self._reference, self._finders, BuildReport())
        return self._complete

    def _of_layer(self, layer: str) -> tuple[Tuples, Codes]:
        if layer not in self._in_use:
            numbers = numbers_of(self.partitions, layer)
            self._in_use[layer] = self._layers[layer].in_use(numbers)
        return self._in_use[layer]


def kept_space(
    spec: SourceSpec, name: str, answers: Answers, warnings: list[str]
) -> dict[int, Intervals]:
    """Return by family a partition: the space that is left out has the owner -1.

    Raises BuildError for a value of ``only`` that no answer can have. A value that no answer of
    the source has is a warning.
    """
    restriction = spec.restriction
    with recipe_errors(spec.recipe):
        check_values(answers, restriction.conditions)
    absent = absent_values(answers, restriction.conditions)
    warnings.extend(f"{name}: {line}" for line in absent)
    marks, kept, begin = answers.marks(restriction.conditions), dict[int, Intervals](), 0
    for family, partition in answers.partitions.items():
        end = begin + len(partition.starts)
        owner = np.where(marks[begin:end], 0, -1)
        intervals = hide(Intervals(partition.starts, owner), restriction.outside(family))
        kept[family], begin = coalesce(intervals), end
    return kept


def leave_out(
    report: SourceReport, table: Mapping[int, Intervals], kept: Mapping[int, Intervals]
) -> dict[int, Intervals]:
    """Return the intervals of a table in the kept space, and count the others in its report."""
    result = {family: without(intervals, kept[family]) for family, intervals in table.items()}
    rows = _owners(table) - _owners(result)
    report.used -= rows
    report.rows_left_out += rows
    report.addresses_left_out += _addresses(table) - _addresses(result)
    return result


def _addresses(table: Mapping[int, Intervals]) -> int:
    return sum(count_addresses(part.starts, part.owner >= 0) for part in table.values())


def _owners(table: Mapping[int, Intervals]) -> int:
    """Return how many rows own an interval, of either family."""
    owners = np.concatenate([part.owner for part in table.values()])
    is_owner = np.zeros(int(owners.max()) + 2, bool)  # the last is for -1
    is_owner[owners] = True
    return int(np.count_nonzero(is_owner[:-1]))
