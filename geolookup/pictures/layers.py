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

#: Layers have at most 2^11 pixels a side: of IPv4 each is a /22.
ORDER = 11
#: The pixels after the last block. A palette of 16 colours takes 4 bits for each pixel.
NOTHING, _BITS = 15, 4
#: Level 9 saves 4 % and takes seven times as long.
_LEVEL = 6


class Layer(NamedTuple):
    """A view's picture as a data: URI, and the length of the prefix that is a pixel."""

    uri: str
    pixel_bits: int  # 2^pixel_bits addresses


def layers(address_map: AddressMap, limit: int) -> list[Layer]:
    """Return the layers of a map's views, together of at most ``limit`` characters.

    If they are longer, sides are halved, of the last views first: the first view, which a page
    shows first, keeps its pixels longest. A block has at least one pixel.
    """
    space = address_map.space
    order, least = min(ORDER, space.order), space.order - space.block_order
    numbers = range(len(address_map.views))
    drawn = [layer(shown_at(address_map, order), number) for number in numbers]
    for coarser in range(order - 1, least - 1, -1):
        shown = shown_at(address_map, coarser)
        for number in reversed(numbers):
            if sum(len(picture.uri) for picture in drawn) <= limit:
                return drawn
            drawn[number] = layer(shown, number)
    return drawn


def shown_at(address_map: AddressMap, order: int) -> AddressMap:
    """Return a map with cells for a square of 2^order a side at most."""
    space = address_map.space
    return address_map.coarser(min(max(space.order - order, 0), space.block_order))


def layer(shown: AddressMap, number: int) -> Layer:
    """Return a view of a map, by its number, with a pixel for each cell."""
    data = png(pixels(shown, number), shown.views[number].colours)
    uri = f"data:image/png;base64,{b64encode(data).decode('ascii')}"
    return Layer(uri, shown.space.cell_bits)


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
    """Return pixels as a PNG with a palette of #rrggbb; ``NOTHING`` is transparent."""
    from PIL import Image

    palette = bytes.fromhex("".join(colour.removeprefix("#") for colour in colours))
    image = Image.fromarray(square, "P")
    image.putpalette(palette.ljust(3 * (NOTHING + 1), b"\0"))
    written = io.BytesIO()
    image.save(written, "PNG", bits=_BITS, compress_level=_LEVEL, transparency=NOTHING)
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
