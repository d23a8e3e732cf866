"""The addresses of a text that arrives in blocks, wherever the blocks are cut, and their rows.

Strategy: the possible beginning of an address at the end of a block is held until the next
block, 64 bytes at most. Of the text before, 64 bytes are kept as context. So the memory that is
needed does not depend on the text or its lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geolookup.contract.fields import LOCATION, NETWORK, OWN
from geolookup.dataset.intervals import I64, U8, U64, Bools
from geolookup.kernel import copy_texts, find_addresses

if TYPE_CHECKING:
    from geolookup.dataset.public_ranges import U32
    from geolookup.kernel.protocol import State

#: Bytes before and after the first byte of an address that decide about it.
_CONTEXT = 64
#: Bytes of an address, and those that must not surround it.
_TOKEN = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.:-"
#: Bytes of the shortest address, ``::1``, and of the separator before the next one.
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, ``data[begin:end]``, and the n addresses in it.

    ``starts`` and ``ends`` are positions in ``data``, in ascending order.
    """

    data: U8
    begin: int
    end: int
    starts: I64
    ends: I64
    families: U8
    highs: U64
    lows: U64


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of n addresses by table.

    ``has_answer`` marks public addresses, and private ones with a known row of own columns. The
    other rows of a private address are 0.
    """

    by_table: Mapping[str, U32]
    has_answer: Bools


def rows_of(state: State, part: Part, tables: Sequence[str]) -> Rows:
    """Return the rows of the addresses of a part in tables, as ``layout.row_tables`` has them."""
    count = len(part.starts)
    ids = np.empty(count, np.int32)
    rows = {table: np.zeros(count, np.uint32) for table in tables}
    if not count:
        return Rows(rows, ids >= 0)
    addresses = part.families, part.highs, part.lows
    state.locate_numbers(*addresses, ids)
    state.take_rows(ids, rows[LOCATION], rows[NETWORK])
    has_answer: Bools = ids >= 0
    if OWN in rows:
        state.locate_numbers(*addresses, ids, with_private=True)
        state.take_own_rows(ids, rows[OWN])
        has_answer |= rows[OWN] > 0
    return Rows(rows, has_answer)


def with_texts(part: Part, places: I64, texts: Sequence[bytes]) -> U8:
    """Return the bytes of a part with a text inserted at each of the places, in ascending order.

    The texts are appended to the bytes, and the kernel copies pieces of both in turn.
    """
    if not texts:
        return part.data[part.begin : part.end]
    inserted = b"".join(texts)
    data = np.concatenate([part.data, np.frombuffer(inserted, np.uint8)])
    # data: | part | T1 T2 |        pieces: part..p1, T1, p1..p2, T2, p2..end
    #         p1 p2                 even pieces are of the part, odd ones are texts
    starts, lengths = np.empty((2, 2 * len(texts) + 1), np.int64)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    starts[0], starts[2::2] = part.begin, places
    lengths[0::2] = np.append(places, part.end) - starts[0::2]
    starts[1::2], lengths[1::2] = len(part.data) + np.cumsum(sizes) - sizes, sizes
    out = np.empty(part.end - part.begin + len(inserted), np.uint8)
    copy_texts(data, starts, lengths, out)
    return out


class Scanner:
    """Finds the addresses in the blocks of a text."""

    def __init__(self) -> None:
        self._before = self._pending = b""

    def part(self, block: bytes) -> Part:
        """Return the part of the text that is decided after one more block.

        An empty block ends the text: the part is the rest of it. The next block begins another.
        """
        data = self._before + self._pending + block
        # "from 203.0." + "113.7 to": the block ends in "203.0.": it is held for the next one.
        tail = data[-_CONTEXT:] if block else b""
        pending_size = len(tail) - len(tail.rstrip(_TOKEN))
        # A held tail of 64 bytes of _TOKEN is longer than any address.
        part = _part(data, len(self._before), max(len(data) - pending_size, len(self._before)))
        self._before = data[max(part.end - _CONTEXT, 0) : part.end] if block else b""
        self._pending = data[part.end :]
        return part


def _part(data: bytes, begin: int, end: int) -> Part:
    """Return the part with the addresses that begin in it; it ends after the last one."""
    room = (len(data) + 1) // _SHORTEST + 1
    starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    families, halves = np.empty(room, np.uint8), np.empty((2, room), np.uint64)
    view = np.frombuffer(data, np.uint8)
    count = find_addresses(view, begin, end, starts, ends, families, *halves)
    end = max(end, int(ends[count - 1])) if count else end
    high, low = halves[:, :count]
    return Part(view, begin, end, starts[:count], ends[:count], families[:count], high, low)
