"""The fields a source may state, and the layers in which they are decided.

A layer is the unit of resolution: its fields come from one row of one source
or from none.
"""

from __future__ import annotations

from geolookup.contract import fields

LAYERS = fields.STATED
#: The layers whose values make up one row of the network table.
NETWORK_LAYERS = tuple(layer for layer in LAYERS if layer != "location")
FIELDS: tuple[str, ...] = tuple(field for layer in LAYERS.values() for field in layer)
#: The field by its path in answers, such as location.city_name, and by the name of its column in
#: enriched tables, such as location_city_name.
PATHS = {
    name: field.source_column
    for field in fields.FIELDS
    if field.source_column
    for name in (field.path, field.name)
}
#: The paths and names whose values no source states: they follow from fields.
DERIVED = frozenset(name for field in fields.FIELDS for name in (field.path, field.name)) - set(
    PATHS
)
