"""What the manifest says that the columns say too: counts, fields, coverage, generation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from geolookup.contract import fields
from geolookup.contract.address import MAX
from geolookup.dataset import arrow_files
from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError
from geolookup.integrity.damage import damaged
from geolookup.integrity.tables import Bools, Numbers, Tables

_HALF = 0xFFFF_FFFF
Coverage = dict[str, dict[str, int]]


def summaries(tables: Tables) -> Iterator[DatasetError]:
    """Yield the members of the manifest that the columns contradict."""
    stated, path = tables.manifest.metadata(), tables.folder / fmt.MANIFEST
    if stated.counts != arrow_files.counts(tables.batches):
        yield damaged(path, "'counts' says otherwise than the columns")
    if list(stated.fields) != arrow_files.known_fields(tables.batches):
        yield damaged(path, "'fields' says otherwise than the columns")
    decided = _decided(tables, len(stated.sources))
    for number, source in enumerate(stated.sources, 1):
        if source.coverage != decided[number]:
            yield damaged(path, f"'coverage' of source {number} is not that of the provenance")
    if stated.coverage != _total(decided):
        yield damaged(path, "'coverage' is not that of the provenance")


def generation(tables: Tables) -> Iterator[DatasetError]:
    """Yield an error where the generation id is not that of the columns and the manifest."""
    if arrow_files.generation(tables.manifest, tables.batches) != tables.manifest.generation:
        problem = "'generation' is not that of the columns and the rest of the manifest"
        yield damaged(tables.folder / fmt.MANIFEST, problem)


def _decided(tables: Tables, sources: int) -> list[Coverage]:
    """Return, for each source from 1 on, the addresses that it decides, by layer and family."""
    found: list[Coverage] = [{} for _ in range(sources + 1)]
    for family, name in fmt.PROVENANCE.items():
        names = tables.batches[name].schema.names
        highs, lows = tables.starts(name)
        for layer in (each for each in fields.LAYERS if each in names):
            numbers = tables.numbers(name, layer)
            for number in np.unique(numbers[numbers > 0]).tolist():
                of_layer = found[number].setdefault(layer, {"ipv4": 0, "ipv6": 0})
                of_layer[f"ipv{family}"] = _addresses(highs, lows, numbers == number, family)
    return found


def _addresses(highs: Numbers, lows: Numbers, chosen: Bools, family: int) -> int:
    """Return how many addresses the chosen intervals have: the sum of ends less that of starts."""
    ends = np.flatnonzero(chosen[:-1]) + 1
    total = _sum(highs[ends], lows[ends]) - _sum(highs[chosen], lows[chosen])
    return total + (MAX[family] + 1 if chosen[-1] else 0)


def _sum(highs: Numbers, lows: Numbers) -> int:
    """Return the exact sum of 128-bit numbers, by their quarters."""
    quarters = [(half >> shift) & _HALF for half in (highs, lows) for shift in (32, 0)]
    if lows.dtype == np.uint32:
        quarters = [lows]
    total = 0
    for quarter in quarters:
        total = (total << 32) + int(quarter.sum(dtype=np.uint64))
    return total


def _total(decided: list[Coverage]) -> dict[str, Any]:
    return {
        layer: {
            family: sum(each[layer][family] for each in decided if layer in each)
            for family in ("ipv4", "ipv6")
        }
        for layer in fields.LAYERS
    }
