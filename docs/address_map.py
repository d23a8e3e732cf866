"""The picture of the bundled dataset, ``address-map.png``: each address of IPv4 by its country."""

from __future__ import annotations

from geolookup.comparison.values import read_tables
from geolookup.dataset.files import Dataset
from geolookup.pictures.address_map import address_map
from geolookup.pictures.layers import pixels, png
from geolookup.reports.dataset.views import dataset_views
from geolookup.store.paths import BUNDLED

#: A pixel is a /22, as on the page of a report: 2^10 addresses.
_PIXEL_BITS = 10


def picture() -> bytes:
    """Return the map of the countries of IPv4 as PNG."""
    dataset = Dataset(BUNDLED)
    views = dataset_views(dataset, read_tables(dataset), 4)
    whole = address_map([view for view in views if view.name == "country"])
    return png(pixels(whole.coarser(_PIXEL_BITS), 0), whole.views[0].colours)
