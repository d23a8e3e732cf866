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

#: The upper 96 bits of an IPv4-mapped address, ::ffff:0:0/96: 0, and 32 bits of this value.
_MAPPED = np.uint64(0xFFFF)
#: Values that wait, at least, before they are sorted.
_WAITING = 1 << 18


class DistinctAddresses:
    """Counts distinct addresses. An IPv4-mapped address counts as the IPv4 address."""

    def __init__(self) -> None:
        # 16 bytes compare like the address; equal texts of 16 bytes are equal bytes.
        self._sorted: list[NDArray[Any]] = [np.empty(0, np.uint32), np.empty(0, "S16")]
        self._waiting: list[list[NDArray[Any]]] = [[], []]

    @property
    def count(self) -> int:
        """The number of distinct addresses."""
        self._sort()
        return sum(map(len, self._sorted))

    def add(self, addresses: pa.Array) -> None:
        """Add a column of valid addresses, of any type of ``Engine.enrich``."""
        parsed = parse_chunk(addresses)
        is_mapped = (parsed.high == 0) & (parsed.low >> np.uint64(32) == _MAPPED)
        is_ipv4 = (parsed.family == 4) | is_mapped
        ipv4 = parsed.low[is_ipv4].astype(np.uint32)
        halves = np.stack([parsed.high, parsed.low], axis=1)[~is_ipv4].astype(">u8")
        for waiting, values in zip(self._waiting, (ipv4, halves.view("S16").ravel()), strict=True):
            waiting.append(np.unique(values))
        if sum(len(values) for waiting in self._waiting for values in waiting) > max(
            _WAITING, *map(len, self._sorted)
        ):
            self._sort()

    def _sort(self) -> None:
        groups = zip(self._sorted, self._waiting, strict=True)
        self._sorted = [np.unique(np.concatenate([one, *waiting])) for one, waiting in groups]
        self._waiting = [[], []]
