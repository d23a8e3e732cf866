"""Provenance: a separate interval table of the sources that decided each layer.

Neighbours with the same sources are one interval, so this table is much smaller than the
interval tables of the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import Addresses, count_addresses
from geolookup_builder.flatten import changes
from geolookup_builder.layer_values import LayerValues
from geolookup_builder.layers import Layered

NO_SOURCE = 0
#: The number of addresses decided: by layer, then by "ipv4" and "ipv6".
Coverage = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Provenance:
    """A gap-free partition of a family; for each layer the source by its number in the recipe."""

    starts: Addresses
    sources: dict[str, NDArray[np.uint8]]  # from 1; NO_SOURCE where the layer is unknown


def provenance(layered: Layered, layers: Mapping[str, LayerValues]) -> Provenance:
    """Return the provenance of the merged layers."""
    sources = {layer: layers[layer].sources(each) for layer, each in layered.numbers.items()}
    keep = changes(*sources.values())
    return Provenance(layered.starts[keep], {layer: each[keep] for layer, each in sources.items()})


def coverage(families: Mapping[int, Provenance], sources: int) -> list[Coverage]:
    """Return, for each source, the number of addresses that it decides, by layer and family.

    Layers in which it decides no address are left out.
    """
    found: list[Coverage] = [{} for _ in range(sources)]
    for family, each in families.items():
        for layer, numbers in each.sources.items():
            for number in _stated(numbers):
                of_layer = found[number - 1].setdefault(layer, {"ipv4": 0, "ipv6": 0})
                of_layer[f"ipv{family}"] = count_addresses(each.starts, numbers == number)
    return found


def _stated(numbers: NDArray[np.uint8]) -> list[int]:
    """Return the distinct sources among the numbers, ascending, without a sort of the numbers."""
    stated = np.zeros(256, bool)
    stated[numbers] = True
    stated[NO_SOURCE] = False
    return np.flatnonzero(stated).tolist()
