"""The layers of an address map: its square as an indexed PNG for each view.

The square has 2^order by 2^order pixels, numbered along the Hilbert curve: pixel 0 is the top left
one, the last one the top right one. Pixels whose numbers are near lie near each other, and each
aligned run of 4^k pixels is a square: so a prefix is a square or two.

Source: D. Hilbert, Ueber die stetige Abbildung einer Linie auf ein Flächenstück, Mathematische
Annalen 38 (1891).
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import U8
from geolookup.pictures.address_map import AddressMap

#: Layers have 2^11 pixels a side: of IPv4 each is a /22. They have less if they are too long.
ORDERS = range(11, 7, -1)
#: The pixels after the last block. A palette of 16 colours takes 4 bits for each pixel.
NOTHING, _BITS = 15, 4
#: Level 9 saves 4 % and takes seven times as long.
_LEVEL = 6


class Layers(NamedTuple):
    """The addresses of a pixel, 2^pixel_bits, and the picture of each view as a data: URI."""

    pixel_bits: int
    uris: Sequence[str]


def layers_within(whole: AddressMap, limit: int) -> Layers:
    """Return the finest layers of a map that take at most ``limit`` characters.

    A block has at least one pixel.
    """
    most = whole.space.block_bits - whole.space.cell_bits
    options = [min(max(2 * (whole.space.order - order), 0), most) for order in ORDERS]
    return whole.finest(options, _layers, limit)


def _layers(shown: AddressMap) -> Layers:
    drawn = [png(pixels(shown, number), view.colours) for number, view in enumerate(shown.views)]
    uris = [f"data:image/png;base64,{b64encode(data).decode('ascii')}" for data in drawn]
    return Layers(shown.space.cell_bits, uris)


def pixels(shown: AddressMap, number: int) -> U8:
    """Return a view of a map, by its number, as a square of a pixel for each cell.

    A pixel is the position of its label's colour, or ``NOTHING``; by row and column.
    """
    space = shown.space
    # Labels beyond the colours have the last one.
    last = len(shown.views[number].colours) - 1
    colours = np.minimum(shown.values[number], last).astype(np.uint8)
    lengths = np.diff(shown.starts, append=np.uint64(space.cell_count)).astype(np.int64)
    along = np.full(4**space.order, NOTHING, np.uint8)
    along[: space.cell_count] = np.repeat(colours, lengths)
    square: U8 = along_curve(along)
    return square


def png(square: U8, colours: Sequence[str]) -> bytes:
    """Return pixels as a PNG with a palette of #rrggbb or #rrggbbaa; ``NOTHING`` is transparent."""
    from PIL import Image

    opaque = [bytes.fromhex(colour.removeprefix("#").ljust(8, "f")) for colour in colours]
    palette = [*opaque, *[bytes(4)] * (NOTHING + 1 - len(opaque))]
    image = Image.fromarray(square, "P")
    image.putpalette(b"".join(colour[:3] for colour in palette))
    alpha = bytes(colour[3] for colour in palette)
    written = io.BytesIO()
    image.save(written, "PNG", bits=_BITS, compress_level=_LEVEL, transparency=alpha)
    return written.getvalue()


def along_curve(along: NDArray[Any]) -> NDArray[Any]:
    """Return values in the order of the curve, shape (4^order,), by row and column.

    By the definition of the curve: four squares make one of twice the side. The first is mirrored
    at one diagonal, the last at the other. Raises ValueError for another count.
    """
    order = (len(along).bit_length() - 1) // 2
    if len(along) != 4**order:
        raise ValueError(f"{len(along)} values are not a square of 2^order a side")
    # Order 1:  0 3      order 2:   0  1 14 15
    #           1 2                 3  2 13 12
    #                               4  7  8 11
    #                               5  6  9 10
    squares = along.reshape(-1, 1, 1)
    for level in range(order):
        half = 1 << level
        first, second, third, last = (squares[quarter::4] for quarter in range(4))
        squares = np.empty((len(first), 2 * half, 2 * half), along.dtype)
        squares[:, :half, :half] = first.transpose(0, 2, 1)
        squares[:, half:, :half] = second
        squares[:, half:, half:] = third
        squares[:, :half, half:] = last[:, ::-1, ::-1].transpose(0, 2, 1)
    whole: NDArray[Any] = squares[0]
    return whole
