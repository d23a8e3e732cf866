"""Converts merged layers to dataset rows: distinct locations and networks, coalesced intervals.

Only tuples in use are interned. Tuples that are equal before or after enrichment become one
row. Rows are numbered by the number of intervals that use them, the most used first: frequent rows
share cache lines. Rows of equal use are in order of first appearance in IPv4, then IPv6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import LOCATION, NETWORK, OWN, PLACE_MEMBERS
from geolookup.dataset.intervals import I64, Addresses
from geolookup.parallel import alongside
from geolookup_builder.build_report import BuildReport
from geolookup_builder.complete import Locations, complete
from geolookup_builder.enrichment import Finder
from geolookup_builder.factorize import Codes, factorize
from geolookup_builder.flatten import changes
from geolookup_builder.layer_values import UNKNOWN, LayerValues
from geolookup_builder.layers import LayerPartition, Provenance, forget, provenance
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
    fields: frozenset[str] | None = None,
) -> InternedContent:
    """Return the rows that ``partitions`` (by family) uses, and its intervals by row number.

    With ``fields`` the rows have only these fields.
    """
    if fields is not None:
        partitions = _without_others(partitions, layers, fields)
    size = sum(len(partition.starts) for partition in partitions.values())
    tables = _layers_of_tables(layers)
    with (
        alongside(partial(_rows_of_layers, partitions, tables), size) as get_rows,
        alongside(partial(_provenance, partitions, layers), size) as get_sources,
    ):
        location, locations = _locations(
            partitions, layers[LOCATION], reference, finders, report, fields
        )
        distinct = get_rows()
    sources = get_sources()
    if fields is not None:
        layers[LOCATION].keep(fields)
        sources = _provenance(_without_locations(partitions, location), layers)
    rows = {LOCATION: location, **{table: numbers for table, (numbers, _) in distinct.items()}}
    families, order = _by_use(_coalesce(partitions, rows))
    taken = {table: values.take(order[table]) for table, (_, values) in distinct.items()}
    return InternedContent(
        families, locations.take(order[LOCATION]), taken[NETWORK], taken.get(OWN), sources
    )


def _layers_of_tables(layers: Mapping[str, LayerValues]) -> dict[str, list[LayerValues]]:
    """Return the layers whose values make up one row of the network and the own table."""
    by_table: dict[str, list[LayerValues]] = {}
    for values in layers.values():
        table = values.schema.by_source_column[values.names[0]].table
        if values.layer != LOCATION:
            by_table.setdefault(table, []).append(values)
    return by_table


def _coalesce(
    partitions: Mapping[int, LayerPartition], rows: Mapping[str, Codes]
) -> dict[int, FamilyIntervals]:
    """Return the intervals of each family, those with equal rows joined."""
    families, begin = {}, 0
    # The arrays hold the IPv4 intervals, then the IPv6 intervals.
    for family, partition in partitions.items():
        part = slice(begin, begin + len(partition.starts))
        of_family = {table: numbers[part] for table, numbers in rows.items()}
        keep = changes(*of_family.values())
        kept = {table: numbers[keep] for table, numbers in of_family.items()}
        families[family] = FamilyIntervals(partition.starts[keep], kept)
        begin = part.stop
    return families


def _provenance(
    partitions: Mapping[int, LayerPartition], layers: Mapping[str, LayerValues]
) -> dict[int, Provenance]:
    return {family: provenance(partition, layers) for family, partition in partitions.items()}


def _without_others(
    partitions: Mapping[int, LayerPartition],
    layers: Mapping[str, LayerValues],
    fields: frozenset[str],
) -> Mapping[int, LayerPartition]:
    """Drop the other fields, but of locations; a layer without a value becomes unknown."""
    for layer, values in layers.items():
        if layer == LOCATION or fields.issuperset(values.names):
            continue
        is_known = values.keep(fields)
        partitions = {
            family: forget(partition, layer, is_known[partition.numbers[layer]])
            for family, partition in partitions.items()
        }
    return partitions


def _without_locations(
    partitions: Mapping[int, LayerPartition], rows: Codes
) -> Mapping[int, LayerPartition]:
    """Make the location unknown in the intervals with row 0, IPv4 before IPv6."""
    parts = np.split(rows != UNKNOWN, [len(partitions[4].starts)])
    return {
        family: forget(partition, LOCATION, is_known)
        for (family, partition), is_known in zip(partitions.items(), parts, strict=True)
    }


def _locations(
    partitions: Mapping[int, LayerPartition],
    values: LayerValues,
    reference: Reference,
    finders: Sequence[Finder],
    report: BuildReport,
    fields: frozenset[str] | None,
) -> tuple[Codes, Locations]:
    tuples, numbers = values.in_use(numbers_of(partitions, LOCATION))
    locations = complete(tuples, reference, finders, report)
    if fields is not None:
        locations = locations.keep(fields)
    columns = [locations.country, locations.zone, *locations.tuples.codes(*PLACE_MEMBERS)]
    rows, first = _rows_by_appearance(columns, numbers)
    # Without UNKNOWN: ``numbers_of`` puts it first.
    return rows[numbers[1:]], locations.take(first)


def _rows_of_layers(
    partitions: Mapping[int, LayerPartition], tables: Mapping[str, list[LayerValues]]
) -> dict[str, tuple[Codes, pa.Table]]:
    """Return, by table, the row of each interval, and the rows by source column."""
    return {table: _distinct_rows(partitions, layers) for table, layers in tables.items()}


def _distinct_rows(
    partitions: Mapping[int, LayerPartition], layers: Sequence[LayerValues]
) -> tuple[Codes, pa.Table]:
    tuples, codes = [], []
    for layer in layers:
        of_layer, numbers = layer.in_use(numbers_of(partitions, layer.layer))
        tuples.append(of_layer)
        codes.append(numbers)
    rows, first = factorize(codes)
    columns = {}
    for values, numbers in zip(tuples, codes, strict=True):
        distinct = values.take(numbers[first])
        columns.update({name: distinct.values(name) for name in distinct.fields})
    return rows[1:], pa.table(columns)


def numbers_of(partitions: Mapping[int, LayerPartition], layer: str) -> Codes:
    """Return UNKNOWN, the first row, then the number of each interval, IPv4 before IPv6."""
    parts = [partition.numbers[layer] for partition in partitions.values()]
    if not any(part.any() for part in parts):  # most layers of most recipes: takes no memory
        return np.broadcast_to(np.int32(UNKNOWN), 1 + sum(map(len, parts)))
    return np.concatenate([np.array([UNKNOWN], np.int32), *parts])


def _rows_by_appearance(columns: list[Codes], numbers: Codes) -> tuple[Codes, I64]:
    """Number distinct tuples in order of first appearance in ``numbers``; these begin with 0.

    Return the number of each tuple, and the tuple of each number.
    """
    # Example: tuples 1 and 3 became equal by enrichment, and the intervals have 0, 2, 3, 1.
    same, first = factorize(columns)  # 0, 1, 2, 1 and 0, 1, 2
    tuples = same[numbers]  # 0, 2, 1, 1
    appearance, _ = factorize([tuples])  # 0, 1, 2, 2: so the tuples get 0, 2, 1, 2
    by_tuple = np.zeros(len(first), np.int32)
    by_tuple[tuples] = appearance
    order = np.empty(len(first), np.int64)
    order[by_tuple] = first
    return by_tuple[same], order


def _by_use(
    families: Mapping[int, FamilyIntervals],
) -> tuple[dict[int, FamilyIntervals], dict[str, I64]]:
    """Return the intervals with rows numbered by use, and by table its rows in that order."""
    tables = families[4].rows
    new = {
        table: _numbers_by_use([part.rows[table] for part in families.values()]) for table in tables
    }
    numbered = {
        family: FamilyIntervals(
            part.starts, {table: new[table][0][rows] for table, rows in part.rows.items()}
        )
        for family, part in families.items()
    }
    return numbered, {table: order for table, (_, order) in new.items()}


def _numbers_by_use(rows: list[Codes]) -> tuple[Codes, I64]:
    """Return a new number for each row, by how often the row occurs, and the rows in that order.

    The unknown row stays row 0; equal counts stay in their order.
    """
    uses = np.bincount(np.concatenate(rows))
    uses[UNKNOWN] = len(uses) + uses.sum()  # more than any other row
    order = np.argsort(-uses, kind="stable")
    # Uses 9 2 7 2: order 0 2 1 3, so rows 0, 1, 2 and 3 get the numbers 0, 2, 1 and 3.
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return numbers, order
