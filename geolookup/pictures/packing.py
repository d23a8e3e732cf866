"""Address maps packed for a page: JSON with streams of raw deflate (RFC 1951) in base64.

Strategy: ranges repeat few lengths, and views few values. So the commonest 255 numbers of a
column are a byte each, which deflate shortens further; others are escaped. ``unpack.js`` reads
this.

A column of numbers is packed as ``{"count", "common", "symbols", "rest"}``. Each symbol is a
byte: 0 for a number of ``rest``, in order, else 1 + the position of the number in ``common``.
``rest`` is a plane of the lowest bytes of its numbers, then one of the next bytes and so on.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import Bools
from geolookup.pictures.address_map import AddressMap, changes
from geolookup.pictures.views import View

_COMMON = 255


def packed(shown: AddressMap) -> dict[str, Any]:
    """Return a map as JSON.

    ``lengths`` are the cells of each range but the last, which has the rest. Bit k % 8 of byte
    k // 8 * ranges + i of ``changed`` is set where view k differs between the ranges i - 1 and i.
    A view has its values there alone. One whose values follow from those of an earlier view has
    a table of them instead.
    """
    space = shown.space
    followed = [_followed(shown, number) for number in range(len(shown.views))]
    changed = [changes(each) for each in shown.values]
    views = [
        _texts(view) | (found or {"values": _numbers(values[differs])})
        for view, found, values, differs in zip(
            shown.views, followed, shown.values, changed, strict=True
        )
    ]
    return {
        "family": space.family,
        "order": space.order,
        "cellBits": space.cell_bits,
        "blockBits": space.block_bits,
        "blocks": [f"{each:x}" for each in space.blocks],
        "lengths": _numbers(np.diff(shown.starts)),
        "changed": _deflated(_planes(changed)),
        "views": views,
    }


def _followed(shown: AddressMap, number: int) -> dict[str, Any] | None:
    """Return the first earlier view from which a view follows, and its value by theirs."""
    values = shown.values[number]
    for earlier, others in enumerate(shown.values[:number]):
        table = np.zeros(len(shown.views[earlier].labels), np.uint32)
        table[others] = values
        if np.array_equal(table[others], values):
            return {"follows": earlier, "table": table.tolist()}
    return None


def _planes(changed: Sequence[Bools]) -> bytes:
    planes = [np.zeros(len(changed[0]), np.uint8) for _ in range(0, len(changed), 8)]
    for number, differs in enumerate(changed):
        planes[number // 8] |= differs.astype(np.uint8) << np.uint8(number % 8)
    return b"".join(each.tobytes() for each in planes)


def _texts(view: View) -> dict[str, Any]:
    # A label is a line: whatever ends a line in one becomes a space.
    lines = "\n".join(" ".join(label.split()) for label in view.labels)
    return {
        "name": view.name,
        "title": view.title,
        "note": view.note,
        "labels": _deflated(lines.encode()),
        "colours": list(view.colours),
    }


def _numbers(values: NDArray[np.unsignedinteger[Any]]) -> dict[str, Any]:
    distinct, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    common = np.argsort(-counts, kind="stable")[:_COMMON]
    symbols = np.zeros(len(distinct), np.uint8)
    symbols[common] = np.arange(1, len(common) + 1)
    column = symbols[numbers]
    rest = values[column == 0].astype("<u8").view(np.uint8).reshape(-1, 8)
    width = np.flatnonzero(rest.any(axis=0)).max(initial=-1) + 1
    return {
        "count": len(values),
        "common": distinct[common].tolist(),
        "symbols": _deflated(column.tobytes()),
        "rest": _deflated(rest[:, :width].T.tobytes()),
    }


def _deflated(data: bytes) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode("ascii")
