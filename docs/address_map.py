"""The picture of the bundled dataset, ``address-map.png``: each address of IPv4 by its country."""

from __future__ import annotations

from geolookup.comparison.values import read_tables
from geolookup.dataset.files import Dataset
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.layers import ORDER, pixels, png, shown_at
from geolookup.reports.dataset.views import dataset_views
from geolookup.store.paths import BUNDLED


def countries() -> AddressMap:
    """Return the map of the countries of IPv4."""
    dataset = Dataset(BUNDLED)
    views = dataset_views(dataset, read_tables(dataset), 4)
    return address_map([view for view in views if view.name == "country"])


def picture() -> bytes:
    """Return the layer of the map as PNG, a pixel for each /22."""
    shown = shown_at(countries(), ORDER)
    return png(pixels(shown, 0), shown.views[0].colours)
