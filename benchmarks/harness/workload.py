"""Addresses to look up: which interval by Zipf's law or evenly, where in it at random.

Intervals are drawn by number, of those the dataset knows (hit) or of its gaps (miss); the address
is drawn evenly inside the interval. Only public addresses count, and none that carries IPv4: others
take other paths. All draws are made for many addresses at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from socket import AF_INET6, inet_ntop

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.address import embedded_ipv4
from geolookup.contract.special import is_private
from geolookup.dataset import layout as fmt

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
SEED = 1
ZIPF, UNIFORM = "zipf", "uniform"
_LAST = np.uint64((1 << 64) - 1)


def _uniform(rng: np.random.Generator, intervals: int, count: int) -> I64:
    return rng.integers(0, intervals, count)


def _zipf(rng: np.random.Generator, intervals: int, count: int) -> I64:
    """Draw by Zipf's law: rank r has the chance log((r + 1) / r)."""
    rank = np.minimum((intervals + 1.0) ** rng.random(count), intervals).astype(np.int64) - 1
    # Popular intervals lie anywhere in the address space: the same ones in each draw.
    return np.random.default_rng(SEED).permutation(intervals)[rank]


_DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int, int], I64]] = {
    ZIPF: _zipf,
    UNIFORM: _uniform,
}


@dataclass(frozen=True, slots=True)
class Intervals:
    """The intervals of a family: first and last addresses as halves, and which are known."""

    family: int
    first: tuple[U64, U64]  # the high and the low halves; of IPv4 the high ones are 0
    last: tuple[U64, U64]
    is_known: NDArray[np.bool_]

    def addresses(
        self, distribution: str, count: int, *, hit: bool = True, distinct: bool = False
    ) -> pa.Array:
        """Return ``count`` public addresses as texts; the same arguments give the same.

        With ``distinct`` they are in random order and no address is there twice.
        """
        rng = np.random.default_rng(SEED)
        usable = np.flatnonzero(self.is_known == hit)
        halves = np.empty((2, 0), np.uint64)
        while halves.shape[1] < count:
            wanted = count - halves.shape[1] + count // 10 + 100
            at = usable[_DISTRIBUTIONS[distribution](rng, len(usable), wanted)]
            drawn = self._inside(rng, at)
            halves = np.concatenate([halves, drawn if hit else self._public(drawn)], axis=1)
            if distinct:
                halves = halves[:, rng.permutation(_first_of_each(halves))]
        return _texts(self.family, halves[:, :count])

    def _inside(self, rng: np.random.Generator, at: I64) -> U64:
        """Return an address of each interval: a high half between its bounds, then a low half."""
        (first_high, first_low), (last_high, last_low) = (
            (high[at], low[at]) for high, low in (self.first, self.last)
        )
        high = first_high + _random(rng, last_high - first_high)
        least = np.where(high == first_high, first_low, np.uint64(0))
        most = np.where(high == last_high, last_low, _LAST if self.family == 6 else last_low)
        return np.stack([high, least + _random(rng, most - least)])

    def _public(self, halves: U64) -> U64:
        """Leave out special addresses, and those that carry IPv4: a known interval has none."""
        values = [high << 64 | low for high, low in halves.T.tolist()]
        keep = [
            not is_private(self.family, value)
            and (self.family == 4 or embedded_ipv4(value) is None)
            for value in values
        ]
        return halves[:, keep]


def _first_of_each(halves: U64) -> I64:
    """Return where distinct addresses are; a few are lost where two have one key."""
    first: I64 = np.unique(
        halves[0] * np.uint64(0x9E3779B97F4A7C15) + halves[1], return_index=True
    )[1]
    return first


def _random(rng: np.random.Generator, most: U64) -> U64:
    """Return a number in 0 … most for each; exact enough for addresses of wide intervals."""
    numbers: U64 = np.minimum((rng.random(len(most)) * (most + 1.0)).astype(np.uint64), most)
    return numbers


def table(dataset: Path, family: int) -> pa.Table:
    """Read the interval table of a family."""
    with pa.memory_map(str(dataset / fmt.INTERVALS[family])) as source:
        return pa.ipc.open_file(source).read_all()


def read(dataset: Path, family: int) -> Intervals:
    """Read the intervals of a dataset."""
    rows = table(dataset, family)
    is_known = (rows["location"].to_numpy() > 0) | (rows["network"].to_numpy() > 0)
    if family == 4:
        low = rows["start"].to_numpy().astype(np.uint64)
        high = np.zeros_like(low)
        end = np.uint64(0), np.uint64((1 << 32) - 1)
    else:
        high, low = (
            pc.cast(rows[name], pa.uint64()).to_numpy() for name in ("start_high", "start_low")
        )
        end = _LAST, _LAST
    # The last address of an interval is the one before the next interval.
    carry = low[1:] == 0
    last_low = np.append(low[1:] - np.uint64(1), end[1])
    last_high = np.append(high[1:] - carry.astype(np.uint64), end[0])
    return Intervals(family, (high, low), (last_high, last_low), is_known)


def _texts(family: int, halves: U64) -> pa.Array:
    high, low = halves
    if family == 4:
        octets = [pa.array(low >> np.uint64(shift) & np.uint64(255)) for shift in (24, 16, 8, 0)]
        return pc.binary_join_element_wise(*(octet.cast(pa.string()) for octet in octets), ".")
    data = np.stack([high, low], axis=1).astype(">u8").tobytes()
    # The C library's texts are canonical, and faster.
    texts = [inet_ntop(AF_INET6, data[at : at + 16]) for at in range(0, len(data), 16)]
    return pa.array(texts, pa.string())


def write_list(target: Path, addresses: pa.Array) -> Path:
    """Write addresses, one a line."""
    target.write_text("\n".join(addresses.to_pylist()), "ascii")
    return target


def write_table(target: Path, addresses: pa.Array) -> Path:
    """Write an Arrow file with a column of addresses."""
    data = pa.table({"ip": addresses})
    with pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, data.schema) as writer:
        writer.write_table(data, max_chunksize=1 << 20)
    return target
