"""An address map as pixels: each shows the range that holds the first cell of its square."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from geolookup.dataset.intervals import U8
from geolookup.pictures import hilbert
from geolookup.pictures.address_map import AddressMap

#: The pixels after the last block.
NOTHING = 255


def pixels(shown: AddressMap, number: int) -> U8:
    """Return a view of a map, by its number, as a square of a pixel for each cell.

    A pixel is the position of its label's colour, or ``NOTHING``; by row and column.
    """
    last = len(shown.views[number].colours) - 1
    colours = np.minimum(shown.values[number], last).astype(np.uint8)
    runs = np.diff(shown.starts, append=np.uint64(shown.space.filled)).astype(np.int64)
    along = np.full(4**shown.space.order, NOTHING, np.uint8)
    along[: shown.space.filled] = np.repeat(colours, runs)
    return hilbert.square(along)


def png(square: U8, colours: Sequence[str]) -> bytes:
    """Return pixels as a PNG with a palette of #rrggbb; ``NOTHING`` is transparent."""
    from PIL import Image

    palette = bytes.fromhex("".join(each.removeprefix("#") for each in colours))
    image = Image.fromarray(square, "P")
    image.putpalette(palette.ljust(3 * (NOTHING + 1), b"\0"))
    written = io.BytesIO()
    image.save(written, "PNG", transparency=NOTHING)
    return written.getvalue()
