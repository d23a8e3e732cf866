"""The picture of the bundled dataset, ``address-map.png``: each address of IPv4 by its country."""

from __future__ import annotations

import io

from geolookup.comparison.values import read_tables
from geolookup.dataset.files import Dataset
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.map_picture import map_pictures
from geolookup.pictures.picture_files import SCALE
from geolookup.reports.dataset.views import dataset_views
from geolookup.store.paths import BUNDLED

#: The picture has few colours: with a palette its file is a tenth.
_COLOURS = 64


def countries() -> AddressMap:
    """Return the map of the countries of IPv4."""
    dataset = Dataset(BUNDLED)
    views = dataset_views(dataset, read_tables(dataset), 4)
    return address_map([view for view in views if view.name == "country"])


def png() -> bytes:
    """Return the picture as PNG, as large as ``--png`` writes it."""
    import vl_convert
    from PIL import Image

    (picture,) = map_pictures(countries())
    drawn = Image.open(io.BytesIO(vl_convert.svg_to_png(picture.svg, scale=SCALE))).convert("RGB")
    written = io.BytesIO()
    reduced = drawn.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    reduced.save(written, "PNG", optimize=True)
    return written.getvalue()
