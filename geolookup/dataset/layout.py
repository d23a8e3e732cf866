"""The dataset format: names, member order and the manifest's canonical text.

Shared by the compiler, the runtime and ``verify``, so that none of them can
mean another format. ``docs/format.md`` says the same for other readers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

FORMAT = "geolookup-dataset"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"

IPV4 = "ipv4.arrow"
IPV4_JUMP = "ipv4_jump.arrow"
IPV6 = "ipv6.arrow"
IPV6_FENCE = "ipv6_fence.arrow"
LOCATION = "location.arrow"
NETWORK = "network.arrow"
COUNTRY = "country.arrow"
ZONE = "zone.arrow"
#: Which source decided what, by family; no lookup reads these.
PROVENANCE = {4: "ipv4_provenance.arrow", 6: "ipv6_provenance.arrow"}
ANSWERING = (IPV4, IPV4_JUMP, IPV6, IPV6_FENCE, LOCATION, NETWORK, COUNTRY, ZONE)
FILES = (*ANSWERING, *PROVENANCE.values())
#: The rows behind that, where the recipe asks for them; ``explain`` alone reads these.
EXPLAINED = {4: "ipv4_explained.arrow", 6: "ipv6_explained.arrow"}
EXPLAINED_ROWS = "explained_rows.arrow"
EXPLAINED_FILES = "explained_files.arrow"
EXPLAINED_VALUES = "explained_values.arrow"
EXPLAINING = (*EXPLAINED.values(), EXPLAINED_ROWS, EXPLAINED_FILES, EXPLAINED_VALUES)

#: What is decided apart, each layer by one source; ``docs/recipe.md`` says what lies in each.
LAYERS = ("location", "asn", "isp", "organization", "connection_type", "user_type")
#: Every so many intervals of IPv6 one entry of the fence.
FENCE_STRIDE = 64
#: The bounds of the jump table's leading bits.
JUMP_BITS = (8, 20)

COUNTRY_MEMBERS = (
    "continent_code",
    "continent_name",
    "country_code",
    "country_code_iso3",
    "country_name",
    "country_capital",
    "country_tld",
    "country_calling_code",
    "country_flag_emoji",
    "country_languages",
    "country_area_km2",
    "country_population",
    "country_neighbors",
    "country_is_eu",
)
PLACE_MEMBERS = (
    "region_code",
    "region_name",
    "city_name",
    "postal_code",
    "latitude",
    "longitude",
    "weather_code",
)
LOCATION_MEMBERS = COUNTRY_MEMBERS + PLACE_MEMBERS
TIME_MEMBERS = (
    "zone",
    "abbr",
    "utc_offset",
    "utc_offset_seconds",
    "current_time",
    "current_timestamp",
    "is_dst",
)
CURRENCY_MEMBERS = ("code", "name", "symbol")
NETWORK_MEMBERS = (
    "asn",
    "asn_organization",
    "isp",
    "organization",
    "connection_type",
    "user_type",
)
#: Between the JSON texts of a row's members; no JSON text holds a raw line feed.
SEPARATOR = "\n"


def explains_rows(manifest: Mapping[str, Mapping[str, object]]) -> bool:
    """Return whether a dataset has the files of ``EXPLAINING``."""
    return EXPLAINED_ROWS in manifest["files"]


def canonical(manifest: Mapping[str, object]) -> bytes:
    """Return the one serialisation of a manifest: sorted keys, UTF-8, one item a line."""
    return (json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
