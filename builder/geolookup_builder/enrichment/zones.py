"""Time zones from coordinates, by the boundaries that tzfpy carries.

At sea tzfpy answers with nautical zones (``Etc/GMT+5``), which no clock on
land shows; coordinates that miss the coast by a little get no zone instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from tzfpy import get_tz

from geolookup_builder.enrichment.places import COORDINATES, at_each_place, spread
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
        place, latitudes, longitudes = at_each_place(columns)
        names = map(get_tz, longitudes.tolist(), latitudes.tolist())
        zones = [name if name in self._known else None for name in names]
        return spread(pa.array(zones, pa.string()), place)
