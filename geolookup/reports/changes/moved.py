"""The section with a map of the world of what moved: from where, and to where."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.measures import Pairs
from geolookup.dataset.intervals import F64
from geolookup.pictures import texts
from geolookup.pictures.world import Density
from geolookup.reports.changes.difference import Difference
from geolookup.reports.section import Section
from geolookup.reports.world_map import world_section


def moved_section(difference: Difference) -> Section | None:
    """Return the map of what moved in country, region or city; None where nothing did."""
    densities = list(moved_densities(difference))
    if not densities:
        return None
    return world_section("moved", "Where locations moved", densities)


def moved_densities(difference: Difference) -> Iterator[Density]:
    """Yield by family how much moved to each place, and how much from each."""
    values = difference.overlaid.values
    for name, part in difference.judged.parts.items():
        moved = _moved(difference, name)
        for way, rows, places in (
            ("here", moved.new, values.new_coordinates),
            ("from here", moved.old, values.old_coordinates),
        ):
            if len(rows):
                title = f"{texts.family(name)} {part.unit} that moved {way}"
                of_density = f"{name}-moved-{way.replace(' ', '-')}"
                yield _density(of_density, title, part.unit, places, rows, moved.weight)


def _moved(difference: Difference, name: str) -> Pairs:
    found = difference.overlaid.changes[name]
    return found.locations.chosen(found.moves.by_level["location"].moved)


def _density(
    name: str, title: str, unit: str, places: F64, rows: NDArray[np.integer], weight: F64
) -> Density:
    """Return the weights summed by row of the location table."""
    sums = np.bincount(rows, weight).astype(np.float64)
    some = np.flatnonzero(sums)
    latitudes, longitudes = places[:, some]
    return Density(name, title, unit, latitudes, longitudes, sums[some])
