"""The ranges whose answers meet conditions, as columns.

Strategy: a field belongs to one of the tables that intervals refer to, or to a table that locations
refer to. So a condition marks rows of one table, and an interval meets all conditions if all of its
rows do. The tables have far fewer rows than the dataset has intervals. The marks are gathered
over the intervals; only marked intervals are decoded.

A question that names an own column also asks about special-purpose space, where a row of own
columns is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np

from geolookup.contract.fields import LOCATION
from geolookup.contract.paths import names_of, resolve_fields
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Bools
from geolookup.dataset.networks import limits_of
from geolookup.dataset.public_ranges import RowNumbers, any_known, public_ranges
from geolookup.prefixes.conditions import Condition
from geolookup.prefixes.predicates import RowColumns, meets
from geolookup.prefixes.spans import FieldColumns, Spans, join
from geolookup.tables.row_tables import row_tables, table_of

FAMILIES = (4, 6)
#: The rows that meet conditions: by table a mark for each row.
RowMasks: TypeAlias = Mapping[str, Bools]


def meeting(tables: RowColumns, conditions: Sequence[Condition]) -> RowMasks:
    """Return the rows of tables that meet all conditions.

    Row 0 (unknown) is marked if unknown values meet the conditions.
    """
    fields = [field for condition in conditions for field in condition.fields]
    masks = {table: np.ones(tables.counts[table], bool) for table in fmt.row_tables(fields)}
    for condition in conditions:
        masks[table_of(condition.fields[0])] &= _marks(tables, condition)
    return masks


def marked(masks: RowMasks, rows: RowNumbers) -> Bools:
    """Mark the intervals whose rows are marked in all tables."""
    # Rows of locations marked [F T T], intervals with the rows [2 0 1]: T F T.
    marks: Bools = np.logical_and.reduce([of_row[rows[table]] for table, of_row in masks.items()])
    return marks


def _marks(tables: RowColumns, condition: Condition) -> Bools:
    """Mark the rows that meet one condition, of the table that intervals refer to."""
    columns = map(tables.column, condition.fields)
    # ^ True inverts the marks, also of unknown values.
    marks: Bools = meets(condition.operator, condition.values, *columns) ^ condition.negated
    table = condition.fields[0].table
    if table in fmt.LINKS:  # a table to which locations refer
        # A mark by row of the country table becomes one by row of the location table.
        marks = marks[tables.values(LOCATION, table).to_numpy()]
    return marks


class Selection:
    """The ranges of a dataset whose answers meet conditions, and the values that keep them apart.

    The arguments are those of ``Engine.prefixes``, with conditions that were read with the schema
    of the dataset. The conditions are evaluated at once; the ranges are read when they are
    iterated.

    Raises ValueError for a name in ``by`` that no stored field or group has, ``within`` that is not
    a network, and a family other than 4 and 6; DatasetError for damaged tables.
    """

    def __init__(
        self,
        dataset: Dataset,
        conditions: tuple[Condition, ...],
        call: str = "prefixes",
        *,
        by: str | Iterable[str] | None = None,
        within: object = None,
        family: int | None = None,
        aggregate: bool = True,
    ) -> None:
        if family not in (None, *FAMILIES):
            raise ValueError(f"{call}: family must be 4 or 6")
        try:
            limits_of(within)  # raises here, not at the first step of an iteration
        except ValueError as error:
            raise ValueError(f"{call}: {error}") from None
        self.dataset, self.conditions = dataset, conditions
        self.by = by if isinstance(by, str) else () if by is None else names_of((by,))
        self.families = (family,) if family else FAMILIES
        self._within, self._aggregate = within, aggregate
        self.fields = resolve_fields(self.by, dataset.schema.stored, call)
        self.columns = FieldColumns(dataset, self.fields)
        self._masks = meeting(row_tables(dataset), conditions)
        asked = chain(self.fields, *(condition.fields for condition in conditions))
        #: the tables whose rows are known, where the question asks
        self._tables = fmt.row_tables(list(asked))

    def spans(self, family: int) -> Iterator[Spans]:
        """Yield the known ranges in address order, in batches; ``columns`` has their codes.

        With ``aggregate`` adjacent ranges are joined, unless their values differ; without, each
        range is a part of one interval. A step raises DatasetError if the dataset is damaged.
        """

        def mark(rows: RowNumbers) -> Bools:
            return marked(self._masks, rows) & any_known(rows)

        ranges = public_ranges(self.dataset, family, self._within, mark, self._tables)
        spans = map(self.columns.spans, ranges)
        return join(spans) if self._aggregate else spans

    def all_spans(self) -> Iterator[Spans]:
        """Yield the ranges of the families that are asked for."""
        return chain.from_iterable(map(self.spans, self.families))
