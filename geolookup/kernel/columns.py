"""The search for columns of addresses in the Python kernel, with numpy.

Strategy: texts are parsed one by one. Addresses that carry an IPv4 address are replaced by it.
Then private addresses are marked and the interval starts are searched, for all addresses of a
family at once. ``python_state`` defines the interval id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.address import SIX_TO_FOUR
from geolookup.contract.special import CARRIES_IPV4, PRIVATE, ranges_of
from geolookup.dataset.intervals import (
    I64,
    U8,
    U64,
    Addresses,
    MixedAddresses,
    count_up_to,
    cut_at,
)
from geolookup.kernel import parse_texts

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset
    from geolookup.dataset.mapped import EncodedColumn

I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]
_Parser = Callable[[U8, I64, I64, U8, U64, U64], None]
#: Interval ids of malformed and of private addresses; see ``python_state``.
INVALID_ID = -1
PRIVATE_ID = -2
_MASK_32 = np.uint64(0xFFFF_FFFF)


def parse(
    data: U8, starts: I64, lengths: I64, parse_texts: _Parser = parse_texts
) -> MixedAddresses:
    """Parse the UTF-8 texts ``data[start : start + length]``.

    ``starts`` and ``lengths`` have the shape (n,). For a text that is malformed or outside
    ``data``, family and value are 0. ``parse_texts`` is the parser of a kernel.
    """
    count = len(starts)
    out = MixedAddresses(
        np.empty(count, np.uint8), np.empty(count, np.uint64), np.empty(count, np.uint64)
    )
    if count:
        parse_texts(data, starts, lengths, out.family, out.high, out.low)
    return out


def locate_numbers(
    dataset: Dataset,
    families: U8,
    highs: U64,
    lows: U64,
    ids: I32,
    *,
    with_private: bool = False,
) -> None:
    """Locate n addresses by family (4, 6; 0: malformed) and halves; IPv4 is in ``lows``."""
    addresses = replace_embedded(MixedAddresses(families, highs, lows))
    ids[:] = INVALID_ID
    before = 0
    starts: dict[int, tuple[U64 | None, Any]] = {
        4: (None, np.asarray(dataset.ipv4_starts)),
        6: (np.asarray(dataset.ipv6_highs), _Lows(dataset.ipv6_lows)),
    }
    # Ids of IPv4 are 0 to n - 1, ids of IPv6 follow from n on.
    for family, (first_highs, first_lows) in starts.items():
        selection = np.flatnonzero(addresses.family == family)
        high = addresses.high[selection] if family == 6 else None
        low = addresses.low[selection]
        bounds, is_private = cut_at(family, ranges_of(family, PRIVATE))
        private = is_private[bounds.search(Addresses(low, high)) - 1]
        interval = count_up_to(first_highs, first_lows, high, low) - 1 + before
        ids[selection] = interval if with_private else np.where(private, PRIVATE_ID, interval)
        before = len(dataset.ipv4_starts)


def take_table(dataset: Dataset, ids: I32, rows: U32, table: str) -> None:
    """Fill in the rows of one table for n interval ids; 0, the unknown row, for ids below 0.

    Raises IndexError for an interval id that does not exist in the dataset.
    """
    if len(rows) != len(ids):
        raise ValueError("the columns differ in length")
    count = len(dataset.ipv4_starts)
    outside = ids >= count + len(dataset.ipv6_highs)
    if outside.any():
        raise IndexError(f"interval id {ids[outside][0]} does not exist in this dataset")
    rows[ids < 0] = 0
    is_ipv4 = (ids >= 0) & (ids < count)
    for family, selection, before in ((4, is_ipv4, 0), (6, ids >= count, count)):
        rows[selection] = np.asarray(dataset.row_columns(family)[table])[ids[selection] - before]


def gather(
    table: U8, rows: U32, lanes: list[tuple[int, int, int]], values: list[U8], validity: list[U8]
) -> int:
    """Copy columns of a row-major table for n rows; return which columns have a null.

    ``table`` has the shape (rows, bytes of a row). A row begins with a word of 8 bytes in the
    machine's byte order; its bit i is 1 if column i is null. A *lane* is a column to copy: its
    number (0 to 63), the byte of a row at which it begins, and its width (2, 4 or 8 bytes).
    For each lane, ``values`` is filled with n values and ``validity`` with n bits, rounded up
    to bytes, as in Arrow. The result is the union of the words of all rows. Raises IndexError
    for a row that does not exist, ValueError for lanes outside the row.
    """
    taken = table[rows]
    # The first 8 bytes of a row are its null bits: bit 3 set = lane 3 is null.
    nulls = np.ascontiguousarray(taken[:, :8]).view(np.uint64)[:, 0]
    for (bit, begin, width), out, bits in zip(lanes, values, validity, strict=True):
        out.reshape(len(rows), width)[:] = taken[:, begin : begin + width]
        # Arrow's validity bitmap: 1 = valid, least significant bit first: rows T F T -> 0b101.
        bits[:] = np.packbits(nulls >> np.uint64(bit) & np.uint64(1) == 0, bitorder="little")
    # The union of the null bits: a lane whose bit is 0 here has no null at all.
    return int(np.bitwise_or.reduce(nulls))


def replace_embedded(addresses: MixedAddresses) -> MixedAddresses:
    """Replace addresses that carry an IPv4 address by it; see ``address.embedded_ipv4``."""
    family, high, low = addresses.family.copy(), addresses.high.copy(), addresses.low.copy()
    rows = np.flatnonzero(addresses.family == 6)
    bounds, carries = cut_at(6, ranges_of(6, CARRIES_IPV4))
    rows = rows[carries[bounds.search(Addresses(low[rows], high[rows])) - 1]]
    # 2002:AABB:CCDD::/48 (6to4, RFC 3056) carries AA.BB.CC.DD in bits 16 to 47, that is in the high
    # half; all other ranges of CARRIES_IPV4 carry it in the last 32 bits.
    six_to_four = high[rows] >> np.uint64(48) == np.uint64(SIX_TO_FOUR >> 112)
    carried = np.where(six_to_four, high[rows] >> np.uint64(16), low[rows])
    family[rows], high[rows], low[rows] = 4, 0, carried & _MASK_32
    return MixedAddresses(family, high, low)


class _Lows:
    """The lower halves of the starts, decoded on access."""

    def __init__(self, column: EncodedColumn) -> None:
        self._indices, self._values = np.asarray(column.indices), np.asarray(column.values)

    def __getitem__(self, rows: NDArray[np.int64]) -> U64:
        lows: U64 = self._values[self._indices[rows]]
        return lows
