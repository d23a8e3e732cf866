"""Converts merged layers to dataset rows: distinct locations and networks, coalesced intervals.

Only tuples in use are interned. Tuples that are equal before or after enrichment become one
row. Rows are numbered by the number of intervals that use them, the most used first: frequent rows
share cache lines. Rows of equal use are in order of first appearance in IPv4, then IPv6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import LOCATION, NETWORK, OWN, PLACE_MEMBERS
from geolookup.dataset.intervals import I64, U8, Addresses, Bools
from geolookup.dataset.runs import Codes, DistinctRows, factorize
from geolookup.parallel import alongside
from geolookup_builder.build_report import BuildReport
from geolookup_builder.columns import Columns, JoinedIntervals
from geolookup_builder.complete import Locations, complete
from geolookup_builder.enrichment import Finder
from geolookup_builder.layer_values import UNKNOWN, LayerValues, Tuples
from geolookup_builder.layers import LayerPartition, Provenance
from geolookup_builder.values import Reference


@dataclass(frozen=True, slots=True)
class FamilyIntervals:
    """The final partition of a family: by table, the row of each interval.

    The tables are "location" and "network", and "own" with own columns.
    """

    starts: Addresses
    rows: Mapping[str, Codes]


@dataclass(frozen=True, slots=True)
class InternedContent:
    """The content of a dataset before it becomes tables; row 0 of each table is unknown."""

    families: dict[int, FamilyIntervals]
    locations: Locations
    networks: pa.Table
    own_rows: pa.Table | None  # by source column; None without own columns
    provenance: dict[int, Provenance]

    @property
    def intervals(self) -> int:
        """How many intervals the families have together."""
        return sum(len(family.starts) for family in self.families.values())

    @property
    def is_known(self) -> bool:
        """Whether anything is known about an address."""
        families = self.families.values()
        return any(rows.any() for family in families for rows in family.rows.values())


def intern(
    partitions: Mapping[int, LayerPartition],
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
    if fields is not None:
        _keep(layers, fields, sources)
    used = {layer: _mark_used(partitions, values, columns) for layer, values in layers.items()}
    tuples, of_number = layers[LOCATION].of_used(used[LOCATION])
    locations = complete(tuples, reference, finders, report)
    if fields is not None:
        locations = locations.keep(fields)
    places, first = factorize(
        [locations.country, locations.zone, *locations.tuples.codes(*PLACE_MEMBERS)]
    )
    of_number = places[of_number]
    if fields is not None:
        layers[LOCATION].keep(fields)
        sources[LOCATION][: len(of_number)][of_number == UNKNOWN] = 0
    rows = {LOCATION: _Rows({LOCATION: of_number})}
    of_layers = {}
    for table, of_table in _layers_of_tables(layers).items():
        of_layers[table] = {values.layer: values.of_used(used[values.layer]) for values in of_table}
        rows[table] = _Rows({layer: numbers for layer, (_, numbers) in of_layers[table].items()})
    size = sum(len(partition.starts) for partition in partitions.values())
    with alongside(partial(_provenance, partitions, sources, columns), size) as get_sources:
        families = {
            family: _numbered(family, partition, rows, columns)
            for family, partition in partitions.items()
        }
    families, order = _by_use(families, rows, columns)
    tables = {
        table: _table(of_layers[table], rows[table].distinct, order[table]) for table in of_layers
    }
    places_in_order = first[rows[LOCATION].distinct[LOCATION][order[LOCATION]]]
    return InternedContent(
        families, locations.take(places_in_order), tables[NETWORK], tables.get(OWN), get_sources()
    )


def _keep(
    layers: Mapping[str, LayerValues], fields: frozenset[str], sources: Mapping[str, U8]
) -> None:
    """Drop the other fields, but of locations; a number without a value has no source."""
    for layer, values in layers.items():
        if layer != LOCATION and not fields.issuperset(values.names):
            sources[layer][~values.keep(fields)] = 0


def _mark_used(
    partitions: Mapping[int, LayerPartition], values: LayerValues, columns: Columns
) -> Bools:
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
    """The rows of one table, numbered in order of first appearance, and their uses."""

    def __init__(self, of_numbers: Mapping[str, Codes]) -> None:
        #: By layer, the tuple of each number; layers without a value are left out.
        self._of_numbers = {layer: of for layer, of in of_numbers.items() if of.any()}
        self._layers = [*of_numbers]
        self._distinct = DistinctRows(len(self._of_numbers))
        self._uses = np.zeros(1, np.int64)

    @property
    def distinct(self) -> dict[str, Codes]:
        """By layer, the tuple of each row."""
        known = dict(zip(self._of_numbers, self._distinct.columns, strict=True))
        none = np.zeros(len(self._uses), np.int32)
        return {layer: known.get(layer, none) for layer in self._layers}

    def of(self, numbers: Mapping[str, Codes]) -> Codes:
        """Return the row of each interval of a chunk from its numbers by layer."""
        if not self._of_numbers:
            return np.zeros(len(numbers[self._layers[0]]), np.int32)
        return self._distinct.number([of[numbers[layer]] for layer, of in self._of_numbers.items()])

    def count(self, rows: Codes) -> None:
        """Count the uses of rows."""
        uses = np.bincount(rows, minlength=len(self._uses))
        uses[: len(self._uses)] += self._uses
        self._uses = uses

    def by_use(self) -> tuple[Codes, I64]:
        """Return a new number for each row, by how often it is used, and the rows in that order.

        The unknown row stays row 0; equal counts stay in their order.
        """
        uses = self._uses.copy()
        uses[UNKNOWN] = len(uses) + uses.sum()  # more than any other row
        order = np.argsort(-uses, kind="stable")
        # Uses 9 2 7 2: order 0 2 1 3, so rows 0, 1, 2 and 3 get the numbers 0, 2, 1 and 3.
        numbers = np.empty(len(order), np.int32)
        numbers[order] = np.arange(len(order), dtype=np.int32)
        return numbers, order


def _numbered(
    family: int, partition: LayerPartition, rows: Mapping[str, _Rows], columns: Columns
) -> FamilyIntervals:
    """Return the intervals of a family by row; those with equal rows are joined."""
    size = len(partition.starts)
    joined = JoinedIntervals(columns, family, dict.fromkeys(rows, np.int32))
    for part in columns.chunks(size):
        numbers = {layer: codes[part] for layer, codes in partition.numbers.items()}
        chunk = {table: of_table.of(numbers) for table, of_table in rows.items()}
        for table, kept in joined.append(partition.starts[part], chunk).items():
            rows[table].count(kept)
    return FamilyIntervals(*joined.finish())


def _provenance(
    partitions: Mapping[int, LayerPartition], sources: Mapping[str, U8], columns: Columns
) -> dict[int, Provenance]:
    """Return the sources of the layers by family, from the source of each number."""
    stated = {layer: of_number for layer, of_number in sources.items() if of_number.any()}
    stated = stated or dict(islice(sources.items(), 1))
    families = {}
    for family, partition in partitions.items():
        size = len(partition.starts)
        joined = JoinedIntervals(columns, family, dict.fromkeys(stated, np.uint8))
        for part in columns.chunks(size):
            numbers = partition.numbers
            of_layers = {layer: of[numbers[layer][part]] for layer, of in stated.items()}
            joined.append(partition.starts[part], of_layers)
        starts, of_stated = joined.finish()
        unknown = np.broadcast_to(np.uint8(0), len(starts))
        families[family] = Provenance(starts, dict.fromkeys(sources, unknown) | of_stated)
    return families


def _table(
    of_layers: Mapping[str, tuple[Tuples, Codes]], distinct: Mapping[str, Codes], order: I64
) -> pa.Table:
    """Return the rows of a table in an order, by source column."""
    values = {}
    for layer, (tuples, _) in of_layers.items():
        rows = tuples.take(distinct[layer][order])
        values.update({name: rows.values(name) for name in rows.fields})
    return pa.table(values)


def _by_use(
    families: Mapping[int, FamilyIntervals], rows: Mapping[str, _Rows], columns: Columns
) -> tuple[dict[int, FamilyIntervals], dict[str, I64]]:
    """Return the intervals with rows numbered by use, and by table its rows in that order."""
    new = {table: of_table.by_use() for table, of_table in rows.items()}
    numbered = {}
    for family, part in families.items():
        by_use = {table: columns.looked_up(new[table][0], of) for table, of in part.rows.items()}
        numbered[family] = FamilyIntervals(part.starts, by_use)
    return numbered, {table: order for table, (_, order) in new.items()}
