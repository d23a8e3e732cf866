"""Address maps packed for a page, as JSON that ``reports/assets/unpack.js`` reads.

Strategy: ranges have few lengths and views few values, and what comes next depends on what came
before. So each number of a column is a symbol of one byte if possible, the symbols lie in
a stream for each context, and ``page_data.deflate`` gives each stream the shortest codes.

Of a city dataset's IPv4, contexts save 10 %, and values of changes before 15 %. A view that
follows from another takes nothing: 20 % of two views where many sources decide.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import U8, U64
from geolookup.pictures.address_map import AddressMap, changes
from geolookup.pictures.address_space import View
from geolookup.pictures.page_data import deflate

Numbers = NDArray[np.unsignedinteger[Any]]
#: A value may repeat the value of two to four changes before: networks alternate.
_BACK = 3


def pack_within(address_map: AddressMap, limit: int) -> tuple[AddressMap, dict[str, Any]]:
    """Return a map and its JSON of at most ``limit`` characters, with the finest cells that fit.

    Where not even blocks as cells fit, these are returned.
    """
    for steps in range(address_map.space.block_order + 1):
        fitting = address_map.coarser(steps)
        data = pack(fitting)
        if len(json.dumps(data)) <= limit:
            break
    return fitting, data


def pack(address_map: AddressMap) -> dict[str, Any]:
    """Return a map as JSON.

    ``lengths`` are the cells of each range but the last; their contexts are
    the trailing zero bits of the ranges' first cells, for prefixes begin at multiples of their
    size. Bit k % 8 of byte i of ``changed[k // 8]`` is set if the k-th view with values of its
    own changes at range i; the context is the byte before. A view has values only at its changes.
    """
    space = address_map.space
    followed = [_rule_of(address_map, number) for number in range(len(address_map.views))]
    own = [values for values, rule in zip(address_map.values, followed, strict=True) if not rule]
    zeros = _trailing_zeros(address_map.starts[:-1])
    return {
        "family": space.family,
        "order": space.order,
        "cellBits": space.cell_bits,
        "blockBits": space.block_bits,
        "blocks": [f"{block:x}" for block in space.blocks],
        "ranges": len(address_map.starts),
        "lengths": _column(np.diff(address_map.starts), 0, zeros),
        "changed": [_streams(plane, _before(plane)) for plane in _planes(own)],
        "views": [
            _texts(view) | (rule or {"values": _values(values)})
            for view, rule, values in zip(
                address_map.views, followed, address_map.values, strict=True
            )
        ],
    }


def _rule_of(address_map: AddressMap, number: int) -> dict[str, Any] | None:
    """Return the first earlier view from which a view follows, and its value by theirs."""
    values = address_map.values[number]
    for earlier, others in enumerate(address_map.values[:number]):
        table = np.zeros(len(address_map.views[earlier].labels), np.uint32)
        # By label of the earlier view one label of this one; of several, the last assignment. It
        # is a rule only if all of them were equal.
        table[others] = values
        if np.array_equal(table[others], values):
            return {"follows": earlier, "table": table.tolist()}
    return None


def _texts(view: View) -> dict[str, Any]:
    # A label is a line: whatever ends a line in one becomes a space.
    lines = "\n".join(" ".join(label.split()) for label in view.labels)
    return {
        "name": view.name,
        "title": view.title,
        "note": view.note,
        "labels": deflate(lines.encode()),
        "colours": list(view.colours),
    }


def _trailing_zeros(cells: U64) -> U8:
    """Return how many zero bits each cell's number ends with; 0 for cell 0."""
    # 12 is 0b1100: its lowest bit is 4, so two zeros.
    lowest = np.maximum(cells & (~cells + np.uint64(1)), np.uint64(1))
    return np.log2(lowest.astype(np.float64)).astype(np.uint8)


def _planes(own: Sequence[NDArray[np.uint32]]) -> list[U8]:
    """Return a byte for each range and eight views: which of these change there."""
    planes = [np.zeros(len(own[0]), np.uint8) for _ in range(0, len(own), 8)]
    for number, values in enumerate(own):
        planes[number // 8] |= changes(values).astype(np.uint8) << np.uint8(number % 8)
    return planes


def _values(values: NDArray[np.uint32]) -> dict[str, Any]:
    """Pack a view's values where they change."""
    return _column(values[changes(values)], _BACK, None)


def _column(numbers: Numbers, back: int, contexts: U8 | None) -> dict[str, Any]:
    """Pack numbers, shape (n,), as symbols.

    Symbol k from 1 to ``back`` is the number of k + 1 places before, the next ones are the
    ``common`` numbers. Symbol 0 is the next of the ``uncommon``: the planes of their bytes, the
    lowest first. Without contexts a symbol's context is the one before, at most back + 1.
    """
    symbols = _backward(numbers, back)
    others = numbers[symbols == 0]
    common, places = _commonest(others, 255 - back)
    # Symbols: 0 rest, 1 to ``back`` repetitions, then the common numbers.
    symbols[symbols == 0] = np.where(places, places + back, 0)
    if contexts is None:
        contexts = np.minimum(_before(symbols), np.uint8(back + 1))
    uncommon = numbers[symbols == 0].astype("<u8").view(np.uint8).reshape(-1, 8)
    # Planes of high bytes that are all 0 are left out.
    width = np.flatnonzero(uncommon.any(axis=0)).max(initial=-1) + 1
    return {
        "back": back,
        "common": common.tolist(),
        "symbols": _streams(symbols, contexts),
        "rest": [deflate(plane.tobytes()) for plane in uncommon[:, :width].T],
    }


def _backward(numbers: Numbers, back: int) -> U8:
    symbols = np.zeros(len(numbers), np.uint8)
    # 5 7 5 7 9 5: symbols 0 0 1 1 0 2. The nearest repetition is written last.
    for symbol in range(back, 0, -1):
        again = numbers[symbol + 1 :] == numbers[: -symbol - 1]
        symbols[symbol + 1 :][again] = symbol
    return symbols


def _commonest(numbers: Numbers, most: int) -> tuple[Numbers, U8]:
    """Return the commonest numbers, and the place of each number in them from 1, or 0."""
    distinct, at, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:most]
    places = np.zeros(len(distinct), np.uint8)
    places[order] = np.arange(1, len(order) + 1)
    return distinct[order], places[at]


def _before(symbols: U8) -> U8:
    return np.concatenate([np.zeros(1, np.uint8), symbols[:-1]])


def _streams(symbols: U8, contexts: U8) -> list[str]:
    """Return the symbols of each context, from context 0 to the greatest."""
    greatest = int(contexts.max(initial=0))
    return [deflate(symbols[contexts == context].tobytes()) for context in range(greatest + 1)]
