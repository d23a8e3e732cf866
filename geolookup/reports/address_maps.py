"""The section on the addresses of one family: views of them on a Hilbert curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from geolookup.contract.address import BITS
from geolookup.dataset.intervals import U64
from geolookup.errors import count_text
from geolookup.pictures import wording
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.address_space import View
from geolookup.pictures.layers import layers_within
from geolookup.pictures.range_table import pack_numbers, table_within
from geolookup.progress import stage
from geolookup.reports.section import Section

#: In the order in which they need each other: data, drawing, then the actions of a reader.
_SCRIPTS = ("ranges", "texts", "drawing", "input", "viewer")
#: The most characters of a map's data, by family: a page must stay small.
_LIMITS = {4: 2_200_000, 6: 600_000}


@stage("drawing address maps")
def address_map_section(views: Sequence[View]) -> Section | None:
    """Return the map of views of one family; None if they know no address."""
    whole = address_map(views)
    space = whole.space
    if not space.blocks:
        return None
    limit = _LIMITS[space.family]
    layers = layers_within(whole, limit // 2)
    table = table_within(whole, limit - sum(map(len, layers.uris)))
    name = f"ipv{space.family}"
    values = {
        "name": name,
        "family": f"IPv{space.family}",
        "views": [
            {"title": view.title, "note": view.note, "layer": uri, "legend": _legend(whole, number)}
            for number, (view, uri) in enumerate(zip(views, layers.uris, strict=True))
        ],
        "note": " ".join(_notes(whole, layers.pixel_bits, table["range_bits"])),
    }
    return Section(
        name,
        f"IPv{space.family} address map",
        "address_map.html",
        values,
        data={f"{name}-map": _data(whole, table)},
        scripts=[f"address_map/{script}.js" for script in _SCRIPTS],
        styles=("address_map.css",),
    )


def _legend(whole: AddressMap, number: int) -> list[dict[str, Any]]:
    """Return the colours of a view, each with its text and share; the last may be of several."""
    view, shares = whole.views[number], whole.shares(number)
    last = len(view.colours) - 1
    # The shares of the labels before the last colour, and the sum of all others.
    of_colours = [*shares[:last], shares[last:].sum()]
    return [
        {
            "colour": colour,
            "text": text,
            "share": wording.percent(float(share)),
            "is_label": label < last or len(view.labels) == len(view.colours),
        }
        for label, (colour, text, share) in enumerate(
            zip(view.colours, view.legend(), of_colours, strict=False)
        )
    ]


def _data(whole: AddressMap, table: dict[str, Any]) -> dict[str, Any]:
    """Return what the scripts read; the pictures are on the page."""
    space = whole.space
    blocks: U64 = np.array([0, *space.blocks], np.uint64)
    return {
        "family": space.family,
        "order": space.order,
        "cell_bits": space.cell_bits,
        "block_bits": space.block_bits,
        "block_count": len(space.blocks),
        # The distance from the block before: as many as 2^20 blocks stay short.
        "blocks": pack_numbers(np.diff(blocks)),
        "colours": [view.colours for view in whole.views],
        **table,
    }


def _notes(whole: AddressMap, pixel_bits: int, range_bits: int) -> Iterator[str]:
    space = whole.space
    width = BITS[space.family]
    if space.family == 6:
        prefixes = (f"{noun} of /{width - space.block_bits}" for noun in ("prefix", "prefixes"))
        shown = count_text(len(space.blocks), *prefixes)
        yield f"Most of IPv6 is empty. The map shows {shown} with known addresses."
    yield f"A pixel is a /{width - pixel_bits} and has the colour of its first address."
    if range_bits:
        yield f"The cursor shows the answer of the first address of a /{width - range_bits}."
