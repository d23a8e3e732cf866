"""The ranges of an address map as one table for a page.

Bytes are raw deflate (RFC 1951) in base64. Of numbers the first bytes of all come first, then the
second ones and so on: bytes that differ little lie together, and deflate makes them small.
``reports/assets/address_map/ranges.js`` is the inverse.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.pictures.address_map import AddressMap

#: The columns of maps are 0.6 % larger than at level 9, but seven times as fast to make.
_LEVEL = 6


def table_within(whole: AddressMap, limit: int) -> dict[str, Any]:
    """Return the table of a map with the finest cells that take at most ``limit`` characters.

    If not even blocks as cells fit, these are returned.
    """
    most = whole.space.block_bits - whole.space.cell_bits
    return whole.finest(range(most + 1), pack_table, limit)


def pack_table(shown: AddressMap) -> dict[str, Any]:
    """Return the ranges of a map, whose cells are of 2^range_bits addresses.

    ``lengths`` are the cells of each range but the last. A view has a line for each label, and
    the number of its label for each range.
    """
    return {
        "range_bits": shown.space.cell_bits,
        "ranges": len(shown.starts),
        "lengths": pack_numbers(np.diff(shown.starts)),
        "views": [
            {"labels": deflate(_lines(view.labels)), "values": pack_numbers(numbers)}
            for view, numbers in zip(shown.views, shown.values, strict=True)
        ],
    }


def _lines(labels: Sequence[str]) -> bytes:
    # Whatever ends a line in a label becomes a space.
    return "\n".join(" ".join(label.split()) for label in labels).encode()


def deflate(data: bytes) -> str:
    """Return the text of bytes; without bytes it is empty."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(packer.compress(data) + packer.flush()).decode("ascii") if data else ""


def pack_numbers(values: NDArray[np.unsignedinteger[Any]]) -> str:
    """Pack n numbers from 0 as planes of bytes: as many as the largest number takes."""
    planes = values.astype("<u8").view(np.uint8).reshape(-1, 8).T
    # The lowest bytes come first. 300 takes two.
    width = (int(values.max(initial=0)).bit_length() + 7) // 8
    return deflate(planes[:width].tobytes())
