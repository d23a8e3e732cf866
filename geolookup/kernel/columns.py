"""Whole columns of addresses to located rows, in numpy: the Python kernel's column path.

A located row is the number of an interval: a row of the IPv4 intervals, or
the count of those and a row of the IPv6 intervals; ``INVALID_ROW`` where the
text is no address and ``PRIVATE_ROW`` where it is a private one.

Strategy: parse, judge by the special-purpose bounds, move carried IPv4
addresses to their family, and search the interval starts; per family at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from geolookup.contract import special
from geolookup.contract.address import MAPPED, MAX, NAT64
from geolookup.dataset import address_columns as columns

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset, Encoded

U64 = NDArray[np.uint64]
INVALID_ROW = -1
PRIVATE_ROW = -2
_MASK_32 = np.uint64(0xFFFF_FFFF)


class Partitions(Protocol):
    """What addresses are located in: the interval starts of both families, as a dataset has."""

    ipv4_starts: memoryview
    ipv6_highs: memoryview
    ipv6_lows: Encoded


def locate_texts(
    dataset: Partitions,
    letters: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int32],
    families: NDArray[np.uint8],
) -> None:
    """Locate the n UTF-8 texts ``letters[offsets[i] : offsets[i + 1]]``.

    Fills ``rows`` and ``families`` (the address's own: 4, 6, or 0 where there is none).
    A text whose offsets lead outside ``letters`` is empty, hence no address.
    """
    found = parse_within(letters, offsets[:-1], offsets[1:])
    families[:] = found.family
    locate_numbers(dataset, found.family, found.high, found.low, rows)


def parse_within(
    letters: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> columns.Addresses:
    """Parse the texts ``letters[start : end]``; one that leads outside is no address."""
    within = (starts >= 0) & (starts <= ends) & (ends <= len(letters))
    starts, ends = np.where(within, starts, 0), np.where(within, ends, 0)
    return columns.parse(letters, starts, ends - starts)


def locate_numbers(
    dataset: Partitions,
    families: NDArray[np.uint8],
    highs: U64,
    lows: U64,
    rows: NDArray[np.int32],
) -> None:
    """Locate n addresses by family (4, 6; 0 is none) and halves; IPv4 lies in ``lows``."""
    found = _carried_as_ipv4(columns.Addresses(families, highs, lows))
    rows[:] = INVALID_ROW
    before = 0
    starts: dict[int, tuple[U64 | None, Any]] = {
        4: (None, np.asarray(dataset.ipv4_starts)),
        6: (np.asarray(dataset.ipv6_highs), _Lows(dataset.ipv6_lows)),
    }
    for family, (first_highs, first_lows) in starts.items():
        chosen = np.flatnonzero(found.family == family)
        high = found.high[chosen] if family == 6 else None
        low = found.low[chosen]
        private = columns.count_up_to(*_private_bounds(family), high, low) % 2 == 1
        interval = columns.count_up_to(first_highs, first_lows, high, low) - 1 + before
        rows[chosen] = np.where(private, PRIVATE_ROW, interval)
        before = len(dataset.ipv4_starts)


def take_rows(
    dataset: Dataset,
    rows: NDArray[np.int32],
    locations: NDArray[np.uint32],
    networks: NDArray[np.uint32],
) -> None:
    """Fill in the rows of the location and network tables for n located rows.

    Both are 0, the unknown row, where the located row is below 0. A table
    whose array has length 0 is not asked for, and costs nothing. Raises
    IndexError where an interval that is asked for does not exist.
    """
    ipv4 = len(dataset.ipv4_starts)
    outside = rows >= ipv4 + len(dataset.ipv6_highs)
    if outside.any():
        raise IndexError(f"row {rows[outside][0]} is not one of this dataset")
    for out, first, second in (
        (locations, dataset.ipv4_locations, dataset.ipv6_locations),
        (networks, dataset.ipv4_networks, dataset.ipv6_networks),
    ):
        if len(out):
            for chosen, before, table in ((rows < ipv4, 0, first), (rows >= ipv4, ipv4, second)):
                out[chosen] = np.asarray(table)[rows[chosen] - before]
            out[rows < 0] = 0


def _carried_as_ipv4(found: columns.Addresses) -> columns.Addresses:
    """Turn addresses that carry an IPv4 address into it; see ``address.embedded_ipv4``."""
    ipv6 = found.family == 6
    mapped = ipv6 & (found.high == 0) & (found.low >> np.uint64(32) == np.uint64(MAPPED >> 32))
    nat64 = ipv6 & (found.high == np.uint64(NAT64 >> 64)) & (found.low >> np.uint64(32) == 0)
    six_to_four = ipv6 & (found.high >> np.uint64(48) == np.uint64(0x2002))
    low = np.where(six_to_four, found.high >> np.uint64(16), found.low)
    carried = mapped | nat64 | six_to_four
    return columns.Addresses(
        np.where(carried, np.uint8(4), found.family),
        np.where(carried, np.uint64(0), found.high),
        np.where(carried, low & _MASK_32, found.low),
    )


class _Lows:
    """The lower halves of the starts; only those asked for are taken from the dictionary."""

    def __init__(self, column: Encoded) -> None:
        self._indices, self._values = np.asarray(column.indices), np.asarray(column.values)

    def __getitem__(self, rows: NDArray[np.int64]) -> U64:
        found: U64 = self._values[self._indices[rows]]
        return found


def _private_bounds(family: int) -> tuple[U64 | None, U64]:
    """Return first and last + 1 of all private ranges: an address that passed an odd number is."""
    ranges = special.private_ranges(family)
    bounds = [
        bound for first, last in ranges for bound in (first, last + 1) if bound <= MAX[family]
    ]
    low = np.array([bound & (1 << 64) - 1 for bound in bounds], np.uint64)
    return (np.array([bound >> 64 for bound in bounds], np.uint64) if family == 6 else None), low
