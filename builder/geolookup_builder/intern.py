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

from geolookup.contract.fields import PLACE_MEMBERS, STATED
from geolookup.dataset.intervals import I64, Addresses
from geolookup.parallel import alongside
from geolookup_builder.build_report import BuildReport
from geolookup_builder.complete import Locations, complete
from geolookup_builder.enrichment import Finder
from geolookup_builder.factorize import Codes, factorize
from geolookup_builder.flatten import changes
from geolookup_builder.layer_values import UNKNOWN, LayerValues
from geolookup_builder.layers import LayerPartition, Provenance, provenance
from geolookup_builder.values import Reference

#: The layers whose values make up one row of the network table.
_NETWORK_LAYERS = tuple(layer for layer in STATED if layer != "location")


@dataclass(frozen=True, slots=True)
class FamilyIntervals:
    """The final partition of a family: rows of the location and network tables."""

    starts: Addresses
    location: Codes
    network: Codes


@dataclass(frozen=True, slots=True)
class InternedContent:
    """The content of a dataset before it becomes tables; row 0 of each table is unknown."""

    families: dict[int, FamilyIntervals]
    locations: Locations
    networks: pa.Table
    provenance: dict[int, Provenance]

    @property
    def intervals(self) -> int:
        """How many intervals the families have together."""
        return sum(len(family.starts) for family in self.families.values())


def intern(
    partitions: Mapping[int, LayerPartition],
    layers: Mapping[str, LayerValues],
    reference: Reference,
    finders: Sequence[Finder],
    report: BuildReport,
) -> InternedContent:
    """Return the rows that ``partitions`` (by family) uses, and its intervals by row number."""
    size = sum(len(partition.starts) for partition in partitions.values())
    with (
        alongside(partial(_networks, partitions, layers), size) as get_networks,
        alongside(partial(_provenance, partitions, layers), size) as get_sources,
    ):
        location, locations = _locations(partitions, layers["location"], reference, finders, report)
        network, networks = get_networks()
    families, begin = {}, 0
    # Both arrays hold the IPv4 intervals, then the IPv6 intervals.
    for family, partition in partitions.items():
        part = slice(begin, begin + len(partition.starts))
        keep = changes(location[part], network[part])
        families[family] = FamilyIntervals(
            partition.starts[keep], location[part][keep], network[part][keep]
        )
        begin = part.stop
    location_row, by_location = _by_use([part.location for part in families.values()])
    network_row, by_network = _by_use([part.network for part in families.values()])
    families = {
        family: FamilyIntervals(part.starts, location_row[part.location], network_row[part.network])
        for family, part in families.items()
    }
    return InternedContent(
        families, locations.take(by_location), networks.take(by_network), get_sources()
    )


def _provenance(
    partitions: Mapping[int, LayerPartition], layers: Mapping[str, LayerValues]
) -> dict[int, Provenance]:
    return {family: provenance(partition, layers) for family, partition in partitions.items()}


def _locations(
    partitions: Mapping[int, LayerPartition],
    values: LayerValues,
    reference: Reference,
    finders: Sequence[Finder],
    report: BuildReport,
) -> tuple[Codes, Locations]:
    tuples, numbers = values.in_use(numbers_of(partitions, "location"))
    locations = complete(tuples, reference, finders, report)
    columns = [locations.country, locations.zone, *locations.tuples.codes(*PLACE_MEMBERS)]
    rows, first = _rows_by_appearance(columns, numbers)
    # Without UNKNOWN: ``numbers_of`` puts it first.
    return rows[numbers[1:]], locations.take(first)


def _networks(
    partitions: Mapping[int, LayerPartition], layers: Mapping[str, LayerValues]
) -> tuple[Codes, pa.Table]:
    tuples, codes = {}, []
    for layer in _NETWORK_LAYERS:
        tuples[layer], numbers = layers[layer].in_use(numbers_of(partitions, layer))
        codes.append(numbers)
    rows, first = factorize(codes)
    columns = {}
    for (layer, values), numbers in zip(tuples.items(), codes, strict=True):
        distinct = values.take(numbers[first])
        columns.update({name: distinct.values(name) for name in STATED[layer]})
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


def _by_use(rows: list[Codes]) -> tuple[Codes, I64]:
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
