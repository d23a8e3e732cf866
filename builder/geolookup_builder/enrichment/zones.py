"""Time zones from coordinates, by the boundaries in tzfpy.

At sea tzfpy returns nautical zones (``Etc/GMT+5``), which are not in use on land.
Coordinates just off the coast therefore get no zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from tzfpy import get_tz

from geolookup_builder.enrichment.coordinates import COORDINATES, by_row, distinct_coordinates
from geolookup_builder.reference.credits import Credit

_NAUTICAL = "Etc/"


class Zones:
    """Finds ``time_zone``."""

    field = "time_zone"
    needs = COORDINATES
    credit = Credit(
        "Timezone Boundary Builder",
        "ODbL-1.0",
        "Time zones of coordinates from Timezone Boundary Builder, by way of tzfpy;"
        " contains information from OpenStreetMap, © OpenStreetMap contributors",
        "https://github.com/evansiroky/timezone-boundary-builder",
    )

    def __init__(self, known: Sequence[str]) -> None:
        self._known = frozenset(name for name in known if not name.startswith(_NAUTICAL))

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the zone at the coordinates of each row."""
        index, latitudes, longitudes = distinct_coordinates(columns)
        names = map(get_tz, longitudes.tolist(), latitudes.tolist())
        zones = [name if name in self._known else None for name in names]
        return by_row(pa.array(zones, pa.string()), index)
