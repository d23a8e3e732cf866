"""The ranges of an address map as one table for a page; ``address_map/ranges.js`` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from geolookup.pictures.address_map import AddressMap
from geolookup.pictures.page_data import deflate, finest_within, pack_numbers


def table_within(address_map: AddressMap, limit: int) -> dict[str, Any]:
    """Return the table of a map with the finest cells that take at most ``limit`` characters.

    If not even blocks as cells fit, these are returned.
    """
    most = address_map.space.block_bits - address_map.space.cell_bits
    return finest_within(range(most + 1), lambda bits: pack_table(address_map, bits), limit)


def pack_table(address_map: AddressMap, bits: int) -> dict[str, Any]:
    """Return the ranges of a map, with cells of 2^bits times as many addresses.

    ``lengths`` are the cells of each range but the last. A view has a line for each label, and
    the number of its label for each range.
    """
    shown = address_map.coarser(bits)
    views = zip(shown.views, shown.values, strict=True)
    return {
        "bits": bits,
        "ranges": len(shown.starts),
        "lengths": pack_numbers(np.diff(shown.starts)),
        "views": [
            {"labels": deflate(_lines(view.labels)), "values": pack_numbers(numbers)}
            for view, numbers in views
        ],
    }


def _lines(labels: Sequence[str]) -> bytes:
    # Whatever ends a line in a label becomes a space.
    return "\n".join(" ".join(label.split()) for label in labels).encode()
