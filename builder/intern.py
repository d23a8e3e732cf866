"""Merged layers to dataset rows: each distinct location and network once, intervals coalesced.

Strategy: the numbers that the merge left in use are taken out of the pools;
tuples that are equal, before or after enrichment, become one row. Rows are
numbered as they are first met going up through IPv4 and then IPv6, so that
neighbours in the address space are neighbours in the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from builder.enrich import Located, enrich
from builder.factorize import factorize
from builder.flatten import changes
from builder.layers import Layered
from builder.points import Points
from builder.pool import NOTHING, Codes, LayerPool
from builder.schema import NETWORK_LAYERS
from builder.values import Known

I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FamilyIntervals:
    """The final partition of a family: rows of the location and network tables."""

    starts: Points
    location: Codes
    network: Codes


@dataclass(frozen=True, slots=True)
class Interned:
    """Everything a dataset says, before it is laid out; row 0 of each table is unknown."""

    families: dict[int, FamilyIntervals]
    located: Located
    networks: pa.Table


def intern(merged: Mapping[int, Layered], pools: Mapping[str, LayerPool], known: Known) -> Interned:
    """Return the rows that ``merged`` (by family) uses, and its intervals in terms of them."""
    location, located = _locations(merged, pools["location"], known)
    network, networks = _networks(merged, pools)
    families, begin = {}, 0
    for family, layered in merged.items():
        part = slice(begin, begin + len(layered.starts))
        keep = changes(location[part], network[part])
        families[family] = FamilyIntervals(
            layered.starts[keep], location[part][keep], network[part][keep]
        )
        begin = part.stop
    return Interned(families, located, networks)


def _locations(
    merged: Mapping[int, Layered], pool: LayerPool, known: Known
) -> tuple[Codes, Located]:
    used, numbers = _used(merged, "location")
    located = enrich(_take(pool.table(), used), known)
    columns = [located.country, located.zone, *_codes(located.table, _OWN_COLUMNS)]
    rows, first = _rows_by_appearance(columns, numbers)
    return rows[numbers], Located(
        located.country[first],
        located.zone[first],
        _take(located.table, first),
        located.countries,
        located.zones,
    )


#: What a location has of its own, beside country and zone.
_OWN_COLUMNS = (
    "region_code",
    "region_name",
    "city_name",
    "postal_code",
    "latitude",
    "longitude",
    "weather_code",
)


def _networks(
    merged: Mapping[int, Layered], pools: Mapping[str, LayerPool]
) -> tuple[Codes, pa.Table]:
    tables, codes = {}, []
    for layer in NETWORK_LAYERS:
        used, numbers = _used(merged, layer)
        table = _take(pools[layer].table(), used)
        same, first = factorize(_codes(table, table.column_names))
        tables[layer] = _take(table, first)
        codes.append(same[numbers])
    combined, first = factorize([np.append(NOTHING, each) for each in codes])
    columns = {}
    for layer, each in zip(NETWORK_LAYERS, codes, strict=True):
        taken = _take(tables[layer], np.append(NOTHING, each)[first])
        columns.update({name: taken[name] for name in taken.column_names})
    return combined[1:], pa.table(columns)


def _used(merged: Mapping[int, Layered], layer: str) -> tuple[I64, Codes]:
    """Return the numbers in use (0 always), and each interval's place among them."""
    numbers = np.concatenate([layered.numbers[layer] for layered in merged.values()])
    flags = np.zeros(int(numbers.max()) + 1, bool)
    flags[numbers] = True
    flags[NOTHING] = True
    place = np.cumsum(flags, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(flags), place[numbers]


def _rows_by_appearance(columns: list[NDArray[np.generic]], numbers: Codes) -> tuple[Codes, I64]:
    """Number distinct tuples as ``numbers`` (indices of them) first meet each; 0 stays 0."""
    same, first = factorize(columns)
    met, _ = factorize([same[np.append(NOTHING, numbers)]])
    by_tuple = np.zeros(len(first), np.int32)
    by_tuple[same[np.append(NOTHING, numbers)]] = met
    order = np.empty(len(first), np.int64)
    order[by_tuple] = first
    return by_tuple[same], order


def _codes(table: pa.Table, names: list[str] | tuple[str, ...]) -> list[NDArray[np.generic]]:
    return [_code(table[name].combine_chunks()) for name in names]


def _code(column: pa.Array) -> NDArray[np.generic]:
    """Return integers that are equal where the values are; null has one of its own."""
    encoded = column.dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False))


def _take(table: pa.Table, rows: NDArray[np.integer]) -> pa.Table:
    return table.take(pa.array(rows)).combine_chunks()
