"""The section on the addresses of one family: views of them on a Hilbert curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from geolookup.contract.address import BITS
from geolookup.pictures import wording
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.address_space import View
from geolookup.pictures.layers import Layer, layers
from geolookup.pictures.range_table import table_within
from geolookup.reports.section import Section

#: In the order in which they need each other: data, drawing, then the actions of a reader.
_VIEWER = ("ranges", "texts", "drawing", "input", "viewer")
_SCRIPTS = ("page_data.js", *(f"address_map/{name}.js" for name in _VIEWER))


class _Limits(NamedTuple):
    """The most characters of a map's layers and of its table: a page must stay small."""

    layers: int
    table: int


_LIMITS = {4: _Limits(1_050_000, 1_350_000), 6: _Limits(250_000, 500_000)}


def address_map_section(views: Sequence[View]) -> Section | None:
    """Return the map of views of one family; None if they know no address."""
    whole = address_map(views)
    space = whole.space
    if not space.blocks:
        return None
    limits = _LIMITS[space.family]
    shown = layers(whole, limits.layers)
    table = table_within(whole, limits.table)
    name = f"ipv{space.family}"
    values = {
        "name": name,
        "family": f"IPv{space.family}",
        "views": [_view(whole, number, layer) for number, layer in enumerate(shown)],
        "notes": list(_notes(whole, table["bits"])),
    }
    return Section(
        name,
        f"IPv{space.family} address map",
        "address_map.html",
        values,
        data={f"{name}-map": _data(whole, shown, table)},
        scripts=_SCRIPTS,
        styles=("address_map.css",),
    )


def _view(whole: AddressMap, number: int, layer: Layer) -> dict[str, Any]:
    view = whole.views[number]
    length = BITS[whole.space.family] - layer.pixel_bits
    return {
        "name": view.name,
        "title": view.title,
        "note": f"{view.note} A pixel is a /{length} and has the colour of its first address.",
        "layer": layer.uri,
        "legend": list(_legend(whole, number)),
    }


def _legend(whole: AddressMap, number: int) -> Iterator[dict[str, Any]]:
    """Yield the colours of a view: the label, or None for several, the text and the share."""
    view, shares = whole.views[number], whole.shares(number)
    last, several = len(view.colours) - 1, len(view.labels) > len(view.colours)
    for label, text in enumerate(view.legend()):
        is_others = several and label == last
        share = float(shares[label:].sum() if is_others else shares[label])
        yield {
            "label": None if is_others else label,
            "colour": view.colours[label],
            "text": text,
            "share": wording.percent(share),
        }


def _data(whole: AddressMap, shown: Sequence[Layer], table: dict[str, Any]) -> dict[str, Any]:
    """Return what the scripts read; the first layer is on the page before."""
    space = whole.space
    views = [
        {
            "name": view.name,
            "title": view.title,
            "colours": view.colours,
            "layer": layer.uri if number else None,
            **packed,
        }
        for number, (view, layer, packed) in enumerate(
            zip(whole.views, shown, table["views"], strict=True)
        )
    ]
    return {
        "family": space.family,
        "order": space.order,
        "cellBits": space.cell_bits,
        "blockBits": space.block_bits,
        "blocks": [f"{block:x}" for block in space.blocks],
        **table,
        "views": views,
    }


def _notes(whole: AddressMap, bits: int) -> Iterator[str]:
    space = whole.space
    width = BITS[space.family]
    if space.family == 6:
        yield (
            f"Most of IPv6 is empty. The map shows the {len(space.blocks):,} prefixes of "
            f"/{width - space.block_bits} that hold known addresses, one after the other."
        )
    if space.cell_bits + bits:
        yield (
            f"The answer at the cursor is that of the first address of a "
            f"/{width - space.cell_bits - bits}."
        )
