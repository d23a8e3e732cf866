"""The ranges whose answers meet conditions, as columns.

Strategy: a field belongs to the location or the network table, or to a table that locations refer
to. So a condition marks rows of one table, and an interval meets all conditions if both of its
rows do. The tables have far fewer rows than the dataset has intervals. The marks are gathered
over the intervals in public space; only marked intervals are decoded. ``field_columns`` has the
values that keep ranges apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Bools
from geolookup.dataset.networks import limits_of
from geolookup.dataset.public_ranges import U32, any_known, public_ranges
from geolookup.prefixes.conditions import Condition, Where, conditions_of
from geolookup.prefixes.field_columns import FieldColumns
from geolookup.prefixes.spans import Spans, join
from geolookup.prefixes.value_shape import ValueShape
from geolookup.tables.row_tables import RowTables, row_tables, table_of

FAMILIES = (4, 6)


class RowMasks(NamedTuple):
    """The rows that meet conditions: a mark for each row of the location and network tables."""

    location: Bools
    network: Bools

    def mark(self, location_rows: U32, network_rows: U32) -> Bools:
        """Mark the intervals that meet the conditions, by their rows in both tables."""
        # Rows of locations marked [F T T], intervals with the rows [2 0 1]: T F T.
        marks: Bools = self.location[location_rows] & self.network[network_rows]
        return marks


def row_masks(dataset: Dataset, conditions: Sequence[Condition]) -> RowMasks:
    """Return the rows that meet all conditions.

    Row 0 (unknown) is marked if unknown values meet the conditions. Raises DatasetError if the
    dataset is damaged.
    """
    tables = row_tables(dataset)
    marks = {
        LOCATION: np.ones(len(dataset.locations), bool),
        NETWORK: np.ones(len(dataset.networks), bool),
    }
    for condition in conditions:
        marks[table_of(condition.fields[0])] &= _marks(tables, condition)
    return RowMasks(marks[LOCATION], marks[NETWORK])


def _marks(tables: RowTables, condition: Condition) -> Bools:
    """Mark the rows of the location or network table that meet one condition."""
    columns = map(tables.column, condition.fields)
    # ^ True inverts the marks, also of unknown values.
    marks: Bools = condition.predicate.marks(*columns) ^ condition.negated
    table = condition.fields[0].table
    if table in fmt.LINKS:  # a table to which locations refer
        # A mark by row of the country table becomes one by row of the location table.
        marks = marks[tables.values(LOCATION, table).to_numpy()]
    return marks


@dataclass(frozen=True, slots=True)
class Question:
    """Conditions, limits and values of a list of prefixes; ``question`` makes one of arguments."""

    conditions: tuple[Condition, ...]
    within: object
    families: tuple[int, ...]
    aggregate: bool
    shape: ValueShape


class Selection:
    """The ranges of a dataset whose answers meet conditions, and the values that keep them apart.

    The conditions are evaluated at once; the ranges are read when they are iterated.
    """

    def __init__(self, dataset: Dataset, query: Question) -> None:
        """Raise DatasetError for damaged tables."""
        self.families, self.shape = query.families, query.shape
        self.columns = FieldColumns(dataset, query.shape.fields)
        self._dataset, self._query = dataset, query
        self._masks = row_masks(dataset, query.conditions)

    def spans(self, family: int) -> Iterator[Spans]:
        """Yield the known ranges in address order, in batches; ``columns`` has their codes.

        With ``aggregate`` adjacent ranges are joined, unless their values differ; without, each
        range is a part of one interval. A step raises DatasetError if the dataset is damaged.
        """
        ranges = public_ranges(self._dataset, family, self._query.within, self._mark)
        spans = map(self.columns.spans, ranges)
        return join(spans) if self._query.aggregate else spans

    def is_empty(self) -> bool:
        """Return whether no range meets the conditions; reads up to the first that does."""
        return not any(map(len, chain.from_iterable(map(self.spans, self.families))))

    def _mark(self, locations: U32, networks: U32) -> Bools:
        return self._masks.mark(locations, networks) & any_known(locations, networks)


def question(
    call: str,
    where: Where = None,
    *,
    by: str | Iterable[str] | None = None,
    within: object = None,
    family: int | None = None,
    aggregate: bool = True,
) -> Question:
    """Return the question that the arguments of a call state; ``Engine.prefixes`` describes them.

    Raises ValueError for a malformed condition, a name that no stored field has, ``within``
    that is not a network, and a family other than 4 and 6; TypeError for another type.
    """
    conditions = conditions_of(where, call)
    if family not in (None, *FAMILIES):
        raise ValueError(f"{call}: family must be 4 or 6")
    try:
        limits_of(within)  # raises here, not at the first step of an iteration
    except ValueError as error:
        raise ValueError(f"{call}: {error}") from None
    families = (family,) if family else FAMILIES
    return Question(conditions, within, families, aggregate, ValueShape(by, call))
