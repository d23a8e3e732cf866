"""Pictures of an address map, one of each view: its square, first addresses, and a legend.

The square has 2^order by 2^order cells, numbered along the Hilbert curve: cell 0 is the top left
one, the last cell the top right one. Cells whose numbers are near lie near each other, and each
aligned run of 4^k cells is a square: so a prefix is a square or two.

Source: D. Hilbert, Ueber die stetige Abbildung einer Linie auf ein Flächenstück, Mathematische
Annalen 38 (1891).
"""

from __future__ import annotations

import base64
import io
import ipaddress
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import U8
from geolookup.pictures.address_map import AddressMap
from geolookup.pictures.address_space import Space, View
from geolookup.pictures.picture_files import INK, SCALE, Picture, drawing

#: The pixels after the last block.
NOTHING = 255


def pixels(address_map: AddressMap, number: int) -> U8:
    """Return a view of a map, by its number, as a square of a pixel for each cell.

    A pixel is the position of its label's colour, or ``NOTHING``; by row and column.
    """
    # Labels beyond the colours have the last one.
    space = address_map.space
    last = len(address_map.views[number].colours) - 1
    colours = np.minimum(address_map.values[number], last).astype(np.uint8)
    runs = np.diff(address_map.starts, append=np.uint64(space.cell_count)).astype(np.int64)
    along = np.full(4**space.order, NOTHING, np.uint8)
    along[: space.cell_count] = np.repeat(colours, runs)
    pixels: U8 = along_curve(along)
    return pixels


def png(square: U8, colours: Sequence[str]) -> bytes:
    """Return pixels as a PNG with a palette of #rrggbb; ``NOTHING`` is transparent."""
    from PIL import Image

    palette = bytes.fromhex("".join(colour.removeprefix("#") for colour in colours))
    image = Image.fromarray(square, "P")
    image.putpalette(palette.ljust(3 * (NOTHING + 1), b"\0"))
    written = io.BytesIO()
    image.save(written, "PNG", transparency=NOTHING)
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


#: A file has a pixel for each cell of a map of this order; one of fewer cells has larger squares.
_ORDER = 12
#: In px of the picture: the side of the square, the margin, the sizes of texts.
_SIDE = (1 << _ORDER) // SCALE
_MARGIN, _TITLE, _TEXT, _SMALL = 48, 48, 28, 15
_COLUMNS, _LINE, _LABEL = 3, 44, 44
#: The squares that show their first address: 2^4 a side. Of IPv4 each is a /8.
_GRID = 4


def map_pictures(address_map: AddressMap) -> Iterator[Picture]:
    """Yield a picture of each view, drawn when it is asked for."""
    coarse = address_map.coarser(max(address_map.space.order - _ORDER, 0))
    for number, view in enumerate(coarse.views):
        square = png(pixels(coarse, number), view.colours)
        name = f"ipv{coarse.space.family}-{view.name}"
        yield Picture(name, _svg(coarse.space, view, square))


def _svg(space: Space, view: View, square: bytes) -> str:
    legend = list(_legend(view))
    top = _MARGIN + _TITLE + _TEXT
    width = _SIDE + 2 * _MARGIN
    height = top + _SIDE + _MARGIN + -(-len(legend) // _COLUMNS) * _LINE + _MARGIN
    title = f"{view.title}: the addresses of IPv{space.family} on a Hilbert curve"
    content = (
        f'<text x="{_MARGIN}" y="{_MARGIN + _TITLE // 2}" font-size="{_TITLE}">{escape(title)}'
        f'</text><g transform="translate({_MARGIN} {top})">{_image(square)}{_grid(space)}</g>'
        f'<g transform="translate({_MARGIN} {top + _SIDE + _MARGIN})">{"".join(legend)}</g>'
    )
    return drawing(width, height, content)


def _image(square: bytes) -> str:
    data = base64.b64encode(square).decode("ascii")
    return (
        f'<image width="{_SIDE}" height="{_SIDE}" image-rendering="optimizeSpeed" '
        f'href="data:image/png;base64,{data}"/>'
    )


def _grid(space: Space) -> str:
    """Return thin lines, and in each square of the grid its first address."""
    step = _SIDE >> _GRID
    lines = "".join(f"M0 {at}H{_SIDE}M{at} 0V{_SIDE}" for at in range(0, _SIDE + 1, step))
    # By cell of the curve its row and column: the inverse of ``along_curve``.
    y, x = np.divmod(np.argsort(along_curve(np.arange(4**_GRID)).ravel()), 1 << _GRID)
    cells = 4 ** max(space.order - _GRID, 0)
    texts = (
        f'<text x="{column * step + 5}" y="{row * step + _SMALL + 2}">{text}</text>'
        for column, row, cell in zip(x.tolist(), y.tolist(), range(0, 4**space.order, cells),
                                     strict=False)
        if cell < space.cell_count and (text := _address(space, cell))
    )  # fmt: skip
    return (
        f'<path d="{lines}" fill="none" stroke="{INK}" stroke-opacity="0.4" stroke-width="0.5"/>'
        f'<g font-size="{_SMALL}" stroke="white" stroke-width="3" paint-order="stroke">'
        f"{''.join(texts)}</g>"
    )


def _address(space: Space, cell: int) -> str:
    """Return the first address of a cell: of IPv4 its first octet."""
    address = space.first_address(cell)
    return str(address >> 24) if space.family == 4 else str(ipaddress.IPv6Address(address))


def _legend(view: View) -> Iterator[str]:
    """Yield a mark and a label for each colour; the last colour may be of several labels."""
    last = len(view.colours) - 1
    for number, label in enumerate(view.labels[: last + 1]):
        text = label if number < last or len(view.labels) == last + 1 else "all others"
        column, line = number % _COLUMNS, number // _COLUMNS
        x, y = column * _SIDE // _COLUMNS, line * _LINE
        yield (
            f'<rect x="{x}" y="{y}" width="{_TEXT}" height="{_TEXT}" rx="4" stroke="{INK}" '
            f'fill="{view.colours[number]}"/>'
            f'<text x="{x + 2 * _TEXT - 14}" y="{y + _TEXT - 5}" font-size="{_TEXT}">'
            f"{escape(_short(text))}</text>"
        )


def _short(text: str) -> str:
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"
