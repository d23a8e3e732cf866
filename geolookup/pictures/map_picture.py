"""Pictures of an address map, one of each view: its layer, first addresses, and a legend."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from html import escape

import numpy as np

from geolookup.pictures.address_map import AddressMap
from geolookup.pictures.address_space import Space, View
from geolookup.pictures.layers import ORDER, along_curve, layer, shown_at
from geolookup.pictures.picture_files import INK, SCALE, Picture, drawing

#: In px of the picture: the side of the square, one pixel of a file for each of its layer; the
#: margin, the sizes of texts.
_SIDE = (1 << ORDER) // SCALE
_MARGIN, _TITLE, _TEXT, _SMALL = 32, 28, 18, 11
_COLUMNS, _LINE, _LABEL = 3, 28, 36
#: The squares that show their first address: 2^4 a side. Of IPv4 each is a /8.
_GRID = 4


def map_pictures(address_map: AddressMap) -> Iterator[Picture]:
    """Yield a picture of each view, drawn when it is asked for."""
    shown = shown_at(address_map, ORDER)
    for number, view in enumerate(shown.views):
        uri = layer(shown, number).uri
        yield Picture(f"ipv{shown.space.family}-{view.name}", _svg(shown.space, view, uri))


def _svg(space: Space, view: View, uri: str) -> str:
    legend = list(_legend(view))
    top = _MARGIN + 2 * _TITLE
    height = top + _SIDE + _MARGIN + -(-len(legend) // _COLUMNS) * _LINE + _MARGIN
    title = f"{view.title}: the addresses of IPv{space.family} on a Hilbert curve"
    content = (
        f'<text x="{_MARGIN}" y="{_MARGIN + _TITLE}" font-size="{_TITLE}">{escape(title)}</text>'
        f'<g transform="translate({_MARGIN} {top})"><image width="{_SIDE}" height="{_SIDE}" '
        f'image-rendering="optimizeSpeed" href="{uri}"/>{_grid(space)}</g>'
        f'<g transform="translate({_MARGIN} {top + _SIDE + _MARGIN})">{"".join(legend)}</g>'
    )
    return drawing(_SIDE + 2 * _MARGIN, height, content)


def _grid(space: Space) -> str:
    """Return thin lines, and in each square of the grid its first address."""
    step = _SIDE >> _GRID
    lines = "".join(f"M0 {at}H{_SIDE}M{at} 0V{_SIDE}" for at in range(0, _SIDE + 1, step))
    # By cell of the curve its row and column: the inverse of ``along_curve``.
    y, x = np.divmod(np.argsort(along_curve(np.arange(4**_GRID)).ravel()), 1 << _GRID)
    firsts = range(0, space.cell_count, 4 ** max(space.order - _GRID, 0))
    texts = (
        f'<text x="{column * step + 3}" y="{row * step + _SMALL + 1}">'
        f"{_address(space, cell)}</text>"
        for column, row, cell in zip(x.tolist(), y.tolist(), firsts, strict=False)
    )
    return (
        f'<path d="{lines}" fill="none" stroke="{INK}" stroke-opacity="0.4" stroke-width="0.5"/>'
        f'<g font-size="{_SMALL}" stroke="white" stroke-width="2" paint-order="stroke">'
        f"{''.join(texts)}</g>"
    )


def _address(space: Space, cell: int) -> str:
    """Return the first address of a cell: of IPv4 its first octet."""
    address = space.first_address(cell)
    return str(address >> 24) if space.family == 4 else str(ipaddress.IPv6Address(address))


def _legend(view: View) -> Iterator[str]:
    """Yield a mark and a label for each colour; the last colour may be of several labels."""
    for number, text in enumerate(view.legend()):
        column, line = number % _COLUMNS, number // _COLUMNS
        x, y = column * _SIDE // _COLUMNS, line * _LINE
        short = text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"
        yield (
            f'<rect x="{x}" y="{y}" width="{_TEXT}" height="{_TEXT}" rx="3" stroke="{INK}" '
            f'fill="{view.colours[number]}"/>'
            f'<text x="{x + 1.5 * _TEXT:.0f}" y="{y + _TEXT - 3}" font-size="{_TEXT}">'
            f"{escape(short)}</text>"
        )
