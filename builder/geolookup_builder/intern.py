"""Converts merged layers to dataset rows: distinct locations and networks, coalesced intervals.

Only tuples in use are interned. Tuples that are equal before or after enrichment become one
row. Rows are numbered by the number of intervals that use them, the most used first: frequent rows
share cache lines. Rows of equal use are in order of first appearance in IPv4, then IPv6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import LOCATION, NETWORK, OWN, PLACE_MEMBERS
from geolookup.dataset.intervals import Bools
from geolookup.dataset.runs import Codes, DistinctRows, factorize
from geolookup.parallel import alongside
from geolookup_builder.build_report import BuildReport
from geolookup_builder.columns import Columns, Numbers, Partition
from geolookup_builder.complete import Locations, complete
from geolookup_builder.enrichment import Finder
from geolookup_builder.layer_values import UNKNOWN, LayerValues, Tuples
from geolookup_builder.values import Reference


@dataclass(frozen=True, slots=True)
class InternedContent:
    """The content of a dataset before it becomes tables; row 0 of each table is unknown."""

    families: dict[int, Partition]
    locations: Locations
    networks: pa.Table
    own_rows: pa.Table | None  # by source column; None without own columns
    provenance: dict[int, Partition]

    @property
    def intervals(self) -> int:
        """How many intervals the families have together."""
        return sum(len(family.starts) for family in self.families.values())

    @property
    def is_known(self) -> bool:
        """Whether anything is known about an address."""
        families = self.families.values()
        return any(rows.any() for family in families for rows in family.numbers.values())


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
        if fields is not None and layer != LOCATION and not fields.issuperset(values.names):
            sources[layer][~values.keep(fields)] = 0
    used = {layer: _mark_used(partitions, values, columns) for layer, values in layers.items()}
    tuples, of_number = layers[LOCATION].of_used(used[LOCATION])
    locations = complete(tuples, reference, finders, report, fields)
    places, first = factorize(
        [locations.country, locations.zone, *locations.tuples.codes(*PLACE_MEMBERS)]
    )
    of_number = places[of_number]
    if fields is not None:
        layers[LOCATION].keep(fields)
        sources[LOCATION][: len(of_number)][of_number == UNKNOWN] = 0
    rows, of_layers = {LOCATION: _Rows({LOCATION: of_number})}, dict[str, dict[str, Tuples]]()
    for table, of_table in _layers_of_tables(layers).items():
        of_used = {values.layer: values.of_used(used[values.layer]) for values in of_table}
        of_layers[table] = {layer: tuples for layer, (tuples, _) in of_used.items()}
        rows[table] = _Rows({layer: numbers for layer, (_, numbers) in of_used.items()})
    size = sum(len(partition.starts) for partition in partitions.values())

    def joined(change: Callable[[Numbers], Numbers]) -> dict[int, Partition]:
        return {family: columns.joined(part, change) for family, part in partitions.items()}

    def sources_of(numbers: Numbers) -> Numbers:
        return {layer: of[numbers[layer]] for layer, of in sources.items()}

    with alongside(partial(joined, sources_of), size) as provenance:
        families = joined(lambda numbers: {table: of.of(numbers) for table, of in rows.items()})
    # By table, the tuple of each row in each layer.
    distinct = {table: of.by_use(families, table, columns) for table, of in rows.items()}
    tables = {table: _table(of, distinct[table]) for table, of in of_layers.items()}
    in_order = locations.take(first[distinct[LOCATION][LOCATION]])
    return InternedContent(families, in_order, tables[NETWORK], tables.get(OWN), provenance())


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


def _layers_of_tables(layers: Mapping[str, LayerValues]) -> dict[str, list[LayerValues]]:
    """Return the layers whose values make up one row of the network and the own table."""
    by_table: dict[str, list[LayerValues]] = {}
    for values in layers.values():
        table = values.schema.by_source_column[values.names[0]].table
        if values.layer != LOCATION:
            by_table.setdefault(table, []).append(values)
    return by_table


class _Rows:
    """The rows of one table, numbered in order of first appearance."""

    def __init__(self, of_numbers: Mapping[str, Codes]) -> None:
        #: By layer, the tuple of each number; layers without a value are left out.
        self._of_numbers = {layer: of for layer, of in of_numbers.items() if of.any()}
        self._layers = [*of_numbers]
        self._distinct = DistinctRows(len(self._of_numbers))

    def of(self, numbers: Mapping[str, Codes]) -> Codes:
        """Return the row of each interval of a chunk from its numbers by layer."""
        if not self._of_numbers:
            return np.zeros(len(numbers[self._layers[0]]), np.int32)
        return self._distinct.number([of[numbers[layer]] for layer, of in self._of_numbers.items()])

    def by_use(
        self, families: Mapping[int, Partition], table: str, columns: Columns
    ) -> dict[str, Codes]:
        """Number the rows by how often intervals use them; by layer, return the tuple of each.

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
        none = np.zeros(size, np.int32)
        return {layer: known.get(layer, none)[order] for layer in self._layers}


def _table(of_layers: Mapping[str, Tuples], distinct: Mapping[str, Codes]) -> pa.Table:
    """Return the rows of a table by source column."""
    values = {}
    for layer, tuples in of_layers.items():
        rows = tuples.take(distinct[layer])
        values.update({name: rows.values(name) for name in rows.fields})
    return pa.table(values)
