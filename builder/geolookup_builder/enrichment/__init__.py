"""Finders: each derives one missing field of a location from the fields it has.

Finders are created before any source is read: a missing library or table stops the build at
once. ``find`` receives the fields that a finder ``needs`` of the distinct locations without its
``field``. It returns null for a location if it finds nothing.

Zones come from the boundaries in tzfpy. At sea it returns nautical zones (``Etc/GMT+5``) that are
not in use on land; coordinates just off the coast get no zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.enrichment.regions import Regions
from geolookup_builder.recipe.document import Recipe
from geolookup_builder.values import Reference

_NAUTICAL = "Etc/"
_LIBRARIES = {"time_zone": "tzfpy", "region_code": "pycountry"}


class Zones:
    """Finds ``time_zone``."""

    field = "time_zone"
    needs = ("latitude", "longitude")

    def __init__(self, names: Sequence[str]) -> None:
        from tzfpy import get_tz

        self._zone_at = get_tz
        self._names = frozenset(name for name in names if not name.startswith(_NAUTICAL))

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the zone at the coordinates of each row."""
        cells = (columns[name].to_numpy(zero_copy_only=False) for name in self.needs)
        latitudes, longitudes = (degrees.astype(np.float64) for degrees in cells)
        rows = ~np.isnan(latitudes + longitudes)
        places, numbers = np.unique(longitudes[rows] + 1j * latitudes[rows], return_inverse=True)
        names = map(self._zone_at, places.real.tolist(), places.imag.tolist())
        zones = [name if name in self._names else None for name in names]
        # The index of the zone of each row, -1 for rows without both coordinates.
        index = np.full(len(rows), -1, np.int64)
        index[rows] = numbers
        return pa.array(zones, pa.string()).take(pa.array(index, mask=index < 0))


Finder: TypeAlias = Zones | Regions


def finders(plan: Recipe, reference: Reference) -> tuple[Finder, ...]:
    """Return the finders that a recipe asks for; BuildError if one is not available."""
    result = list[Finder]()
    for field in plan.enrich:
        try:
            result.append(Zones(reference.zones) if field == Zones.field else Regions())
        except ImportError as error:
            problem = f"enrich.{field} needs {_LIBRARIES[field]} ({error})"
            remedy = 'pip install "geolookup[enrich]"'
            raise BuildError(plan.path, problem, remedy=remedy) from error
    return tuple(result)
