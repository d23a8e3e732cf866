"""The number of distinct addresses of columns, counted exactly.

Strategy: addresses become numbers, sorted without repetition. New ones wait until there are as many
as sorted ones. Memory is 4 bytes for each distinct IPv4 address and 16 for each IPv6 address.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.tables.locate import parse_chunk

U64 = NDArray[np.uint64]
_HALF = np.uint64(32)
#: The upper 96 bits of an IPv4-mapped address, ::ffff:0:0/96: 0, and 32 bits of this value.
_MAPPED = np.uint64(0xFFFF)
#: Values that wait, at least, before they are sorted.
_WAITING = 1 << 18


class DistinctAddresses:
    """Counts distinct addresses. An IPv4-mapped address counts as the IPv4 address."""

    def __init__(self) -> None:
        self._ipv4 = _Distinct(np.dtype(np.uint32))
        # 16 bytes compare like the address; equal texts of 16 bytes are equal bytes.
        self._ipv6 = _Distinct(np.dtype("S16"))

    @property
    def count(self) -> int:
        """The number of distinct addresses."""
        return self._ipv4.count + self._ipv6.count

    def add(self, addresses: pa.Array) -> None:
        """Add a column of valid addresses, of any type of ``Engine.enrich``."""
        parsed = parse_chunk(addresses)
        families, highs, lows = parsed.family, parsed.high, parsed.low
        is_mapped = (families == 6) & (highs == 0) & (lows >> _HALF == _MAPPED)
        is_ipv4 = (families == 4) | is_mapped
        self._ipv4.add(lows[is_ipv4].astype(np.uint32))
        is_ipv6 = (families == 6) & ~is_mapped
        halves = np.stack([highs[is_ipv6], lows[is_ipv6]], axis=1).astype(">u8")
        self._ipv6.add(halves.view("S16").ravel())


class _Distinct:
    """Distinct values: sorted ones, and those that wait."""

    def __init__(self, kind: np.dtype[Any]) -> None:
        self._sorted = np.empty(0, kind)
        self._waiting: list[NDArray[Any]] = []
        self._count_waiting = 0

    @property
    def count(self) -> int:
        self._sort()
        return len(self._sorted)

    def add(self, values: NDArray[Any]) -> None:
        fresh = np.unique(values)
        self._waiting.append(fresh)
        self._count_waiting += len(fresh)
        if self._count_waiting > max(_WAITING, len(self._sorted)):
            self._sort()

    def _sort(self) -> None:
        self._sorted = np.unique(np.concatenate([self._sorted, *self._waiting]))
        self._waiting, self._count_waiting = [], 0
