"""Whole columns of addresses to intervals and rows, in numpy: the Python kernel's column path.

Strategy: parse, judge by the special-purpose bounds, move carried IPv4
addresses to their family, and search the interval starts; per family at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from geolookup import columns, special
from geolookup.address import MAPPED, MAX, NAT64
from geolookup.errors import InvalidAddressError, PrivateAddressError

if TYPE_CHECKING:
    from geolookup.dataset import Dataset, Encoded

U64 = NDArray[np.uint64]
_MASK_32 = np.uint64(0xFFFF_FFFF)


def resolve_column(
    dataset: Dataset,
    letters: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    locations: NDArray[np.uint32],
    networks: NDArray[np.uint32],
    codes: NDArray[np.int32],
    begin: int,
    end: int,
) -> None:
    """Fill rows ``begin`` to ``end`` of the outputs; see ``resolve.resolve``."""
    for first in range(begin, end, columns.CHUNK):
        rows = slice(first, min(first + columns.CHUNK, end))
        starts = offsets[rows]
        lengths = offsets[rows.start + 1 : rows.stop + 1] - starts
        found = _carried_as_ipv4(columns.parse(letters, starts, lengths))
        locations[rows], networks[rows] = 0, 0
        codes[rows] = np.where(found.family == 0, InvalidAddressError.code, 0)
        for family in (4, 6):
            _fill(dataset, family, found, locations[rows], networks[rows], codes[rows])


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


def _fill(
    dataset: Dataset,
    family: int,
    found: columns.Addresses,
    locations: NDArray[np.uint32],
    networks: NDArray[np.uint32],
    codes: NDArray[np.int32],
) -> None:
    rows = np.flatnonzero(found.family == family)
    high = found.high[rows] if family == 6 else None
    low = found.low[rows]
    private = columns.count_up_to(*_private_bounds(family), high, low) % 2 == 1
    codes[rows[private]] = PrivateAddressError.code
    public = ~private
    highs, lows, location, network = _columns(dataset, family)
    wanted = None if high is None else high[public]
    interval = columns.count_up_to(highs, lows, wanted, low[public]) - 1
    locations[rows[public]] = location[interval]
    networks[rows[public]] = network[interval]


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


def _columns(dataset: Dataset, family: int) -> tuple[U64 | None, Any, NDArray[Any], NDArray[Any]]:
    """Return starts (high and low half) and rows of a family's intervals, as numpy views."""
    if family == 6:
        tables = dataset.ipv6_locations, dataset.ipv6_networks
        location, network = (np.asarray(each) for each in tables)
        return np.asarray(dataset.ipv6_highs), _Lows(dataset.ipv6_lows), location, network
    location, network = (np.asarray(e) for e in (dataset.ipv4_locations, dataset.ipv4_networks))
    return None, np.asarray(dataset.ipv4_starts), location, network
