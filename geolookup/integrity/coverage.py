"""The parts of the manifest that follow from the columns: counts, fields, coverage, generation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from geolookup.contract import fields
from geolookup.dataset import arrow_files
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import count_addresses
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables, damaged

Coverage = dict[str, dict[str, int]]


def summaries(tables: Tables) -> Iterator[DatasetError]:
    """Yield the members of the manifest that the columns contradict."""
    stated, path = tables.manifest.metadata(), tables.folder / fmt.MANIFEST
    if stated.counts != arrow_files.counts(tables.batches):
        yield damaged(path, "'counts' differs from the columns")
    if list(stated.fields) != arrow_files.known_fields(tables.batches):
        yield damaged(path, "'fields' differs from the columns")
    decided = _decided(tables, len(stated.sources))
    for number, source in enumerate(stated.sources, 1):
        if source.coverage != decided[number]:
            yield damaged(path, f"'coverage' of source {number} differs from the provenance")
    if stated.coverage != _total(decided):
        yield damaged(path, "'coverage' differs from the provenance")


def generation(tables: Tables) -> Iterator[DatasetError]:
    """Yield an error if the generation id is not the digest of the columns and the manifest."""
    found = arrow_files.generation(tables.manifest, tables.batches, tables.release)
    stated = tables.manifest.generation
    if found != stated:
        problem = f"'generation' is {stated}, but that of the content is {found}"
        yield damaged(tables.folder / fmt.MANIFEST, problem)


def _decided(tables: Tables, sources: int) -> list[Coverage]:
    """Return the addresses that each source decides, by layer and family; index 0 is empty."""
    found: list[Coverage] = [{} for _ in range(sources + 1)]
    for family, name in fmt.PROVENANCE.items():
        names = tables.batches[name].schema.names
        starts = tables.starts(name)
        for layer in (each for each in fields.LAYERS if each in names):
            numbers = tables.numbers(name, layer)
            for number in np.unique(numbers[numbers > 0]).tolist():
                of_layer = found[number].setdefault(layer, {"ipv4": 0, "ipv6": 0})
                of_layer[f"ipv{family}"] = count_addresses(starts, numbers == number)
    return found


def _total(decided: list[Coverage]) -> dict[str, Any]:
    return {
        layer: {
            family: sum(each[layer][family] for each in decided if layer in each)
            for family in ("ipv4", "ipv6")
        }
        for layer in fields.LAYERS
    }
