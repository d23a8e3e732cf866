"""Merged layers to dataset rows: each distinct location and network once, intervals coalesced.

Strategy: the numbers that the merge left in use are taken out of the pools;
tuples that are equal, before or after enrichment, become one row. Rows are
numbered as they are first met going up through IPv4 and then IPv6, so that
neighbours in the address space are neighbours in the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import PLACE_MEMBERS
from geolookup.dataset.intervals import Addresses
from geolookup_builder.enrich import Located, enrich
from geolookup_builder.enrichment import Finder
from geolookup_builder.factorize import factorize
from geolookup_builder.flatten import changes
from geolookup_builder.layer_values import NOTHING, Codes, LayerPool
from geolookup_builder.layers import Layered
from geolookup_builder.provenance import Provenance, provenance
from geolookup_builder.report import BuildReport
from geolookup_builder.schema import LAYERS, NETWORK_LAYERS
from geolookup_builder.values import Known

I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FamilyIntervals:
    """The final partition of a family: rows of the location and network tables."""

    starts: Addresses
    location: Codes
    network: Codes


@dataclass(frozen=True, slots=True)
class Interned:
    """Everything a dataset says, before it is laid out; row 0 of each table is unknown."""

    families: dict[int, FamilyIntervals]
    located: Located
    networks: pa.Table
    provenance: dict[int, Provenance]


def intern(
    merged: Mapping[int, Layered],
    pools: Mapping[str, LayerPool],
    known: Known,
    finders: Sequence[Finder],
    report: BuildReport,
) -> Interned:
    """Return the rows that ``merged`` (by family) uses, and its intervals in terms of them."""
    location, located = _locations(merged, pools["location"], known, finders, report)
    network, networks = _networks(merged, pools)
    families, begin = {}, 0
    for family, layered in merged.items():
        part = slice(begin, begin + len(layered.starts))
        keep = changes(location[part], network[part])
        families[family] = FamilyIntervals(
            layered.starts[keep], location[part][keep], network[part][keep]
        )
        begin = part.stop
    decided = {family: provenance(layered, pools) for family, layered in merged.items()}
    return Interned(families, located, networks, decided)


def _locations(
    merged: Mapping[int, Layered],
    pool: LayerPool,
    known: Known,
    finders: Sequence[Finder],
    report: BuildReport,
) -> tuple[Codes, Located]:
    tuples, numbers = pool.in_use(_numbers(merged, "location"))
    located = enrich(tuples, known, finders, report)
    columns = [located.country, located.zone, *located.tuples.codes(*PLACE_MEMBERS)]
    rows, first = _rows_by_appearance(columns, numbers)
    return rows[numbers], located.take(first)


def _networks(
    merged: Mapping[int, Layered], pools: Mapping[str, LayerPool]
) -> tuple[Codes, pa.Table]:
    tuples, codes = {}, []
    for layer in NETWORK_LAYERS:
        tuples[layer], numbers = pools[layer].in_use(_numbers(merged, layer))
        codes.append(numbers)
    # A row before all others, which is that of nothing known.
    combined, first = factorize([np.append(np.int32(NOTHING), each) for each in codes])
    columns = {}
    for (layer, each), numbers in zip(tuples.items(), codes, strict=True):
        taken = each.take(np.append(np.int32(NOTHING), numbers)[first])
        columns.update({name: taken.values(name) for name in LAYERS[layer]})
    return combined[1:], pa.table(columns)


def _numbers(merged: Mapping[int, Layered], layer: str) -> Codes:
    """Return the number of each interval, family by family."""
    return np.concatenate([layered.numbers[layer] for layered in merged.values()])


def _rows_by_appearance(columns: list[Codes], numbers: Codes) -> tuple[Codes, I64]:
    """Number distinct tuples as ``numbers`` (indices of them) first meet each; 0 stays 0."""
    same, first = factorize(columns)
    met, _ = factorize([same[np.append(NOTHING, numbers)]])
    by_tuple = np.zeros(len(first), np.int32)
    by_tuple[same[np.append(NOTHING, numbers)]] = met
    order = np.empty(len(first), np.int64)
    order[by_tuple] = first
    return by_tuple[same], order
