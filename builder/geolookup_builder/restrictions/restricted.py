"""A source without the parts that the keys of ``restriction`` leave out.

The tables of the source are overlaid on each other first: ``only`` is evaluated on their joint
answers. Then the parts outside become unknown in all layers, and lower sources show through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import COUNTRY, LOCATION, ZONE, Field
from geolookup.dataset.intervals import Bools, count_addresses
from geolookup.dataset.runs import Codes
from geolookup.prefixes.conditions import Condition
from geolookup_builder.build_report import BuildReport, SourceReport
from geolookup_builder.complete import Locations, complete
from geolookup_builder.enrichment import Finder
from geolookup_builder.flatten import Intervals, coalesce
from geolookup_builder.intern import numbers_of
from geolookup_builder.layer_values import LayerValues, Tuples
from geolookup_builder.layers import LayerPartition, hide, nothing, restrict, without
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.restrictions.restriction import check_conditions
from geolookup_builder.tables import as_stored, country_column
from geolookup_builder.values import Reference


@dataclass(frozen=True, slots=True)
class _Table:
    report: SourceReport
    intervals: dict[int, Intervals]


class RestrictedSource:
    """The tables of one source, overlaid on each other and restricted."""

    def __init__(
        self,
        spec: SourceSpec,
        layers: Mapping[str, LayerValues],
        reference: Reference,
        finders: Sequence[Finder],
    ) -> None:
        self._spec, self._layers, self._reference = spec, layers, reference
        names = {field.source_column for field in chain(*self._condition_fields())}
        self._finders = [finder for finder in finders if finder.field in names]
        self.partitions = {family: nothing(family, tuple(layers)) for family in (4, 6)}
        self._tables: list[_Table] = []

    def add(self, report: SourceReport, intervals: dict[int, Intervals]) -> None:
        """Add a table whose rows are overlaid."""
        self._tables.append(_Table(report, intervals))

    def finish(self, warnings: list[str]) -> dict[int, LayerPartition]:
        """Return the kept layers by family, and count in each table the parts that are left out.

        Raises BuildError for a value of ``only`` that no answer can have. A value that no answer
        of the source has is a warning.
        """
        kept = self._kept(warnings)
        for table in self._tables:
            _keep(table.report, table.intervals, kept)
        return {family: restrict(part, kept[family]) for family, part in self.partitions.items()}

    def _kept(self, warnings: list[str]) -> dict[int, Intervals]:
        """Return by family a partition: the space that is left out has the owner -1."""
        spec, restriction = self._spec, self._spec.restriction
        answers = _Answers(self.partitions, self._layers, self._reference, self._finders)
        check_conditions(restriction, spec.recipe, spec.name, answers, warnings)
        marks, kept, begin = answers.marks(restriction.conditions), dict[int, Intervals](), 0
        for family, partition in self.partitions.items():
            end = begin + len(partition.starts)
            owner = np.where(marks[begin:end], 0, -1)
            intervals = hide(Intervals(partition.starts, owner), restriction.outside(family))
            kept[family], begin = coalesce(intervals), end
        return kept

    def _condition_fields(self) -> Iterator[tuple[Field, ...]]:
        return (condition.fields for condition in self._spec.restriction.conditions)


class _Answers:
    """The answers of a source: for each field the values of its layer's distinct tuples."""

    def __init__(
        self,
        partitions: Mapping[int, LayerPartition],
        layers: Mapping[str, LayerValues],
        reference: Reference,
        finders: Sequence[Finder],
    ) -> None:
        self._partitions, self._layers = partitions, layers
        self._reference, self._finders = reference, finders
        self._in_use: dict[str, tuple[Tuples, Codes]] = {}
        self._complete: Locations | None = None

    def marks(self, conditions: Iterable[Condition]) -> Bools:
        """Mark the intervals that meet all conditions, IPv4 before IPv6."""
        marks = np.ones(sum(len(part.starts) for part in self._partitions.values()), bool)
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
            values = country_column(field, locations, self._reference)
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
            numbers = numbers_of(self._partitions, layer)
            self._in_use[layer] = self._layers[layer].in_use(numbers)
        return self._in_use[layer]


def _keep(
    report: SourceReport, table: Mapping[int, Intervals], kept: Mapping[int, Intervals]
) -> None:
    """Count the parts of a table that are left out."""
    result = {family: without(intervals, kept[family]) for family, intervals in table.items()}
    used = _used(table, report.read)
    report.rows_left_out = int(np.count_nonzero(used & ~_used(result, report.read)))
    report.used -= report.rows_left_out
    report.addresses_left_out = _addresses(table) - _addresses(result)


def _used(table: Mapping[int, Intervals], rows: int) -> Bools:
    used = np.zeros(rows, bool)
    for intervals in table.values():
        used[intervals.owner[intervals.owner >= 0]] = True
    return used


def _addresses(table: Mapping[int, Intervals]) -> int:
    return sum(count_addresses(part.starts, part.owner >= 0) for part in table.values())
