"""The fields a source may state, and the layers in which they are decided.

A layer is the unit of resolution: its fields come from one row of one source
or from none.
"""

from __future__ import annotations

from geolookup.dataset.layout import PLACE_MEMBERS

LAYERS: dict[str, tuple[str, ...]] = {
    "location": ("continent_code", "country_code", *PLACE_MEMBERS, "time_zone"),
    "asn": ("asn", "asn_organization"),
    "isp": ("isp",),
    "organization": ("organization",),
    "connection_type": ("connection_type",),
    "user_type": ("user_type",),
}
#: The layers whose values make up one row of the network table.
NETWORK_LAYERS = tuple(layer for layer in LAYERS if layer != "location")
FIELDS: tuple[str, ...] = tuple(field for fields in LAYERS.values() for field in fields)

CONNECTION_TYPES = ("Corporate", "Residential", "Mobile", "Satellite", "Dialup")
USER_TYPES = (
    "business",
    "cafe",
    "cellular",
    "college",
    "consumer_privacy_network",
    "content_delivery_network",
    "government",
    "hosting",
    "library",
    "military",
    "residential",
    "router",
    "school",
    "search_engine_spider",
    "traveler",
)
