"""Disjoint prefixes in address order, of lengths and in places as in real tables.

Strategy: IPv4 takes the public /20 cells of randomly chosen /16 blocks and
splits each in halves again and again; IPv6 takes /32 allocations that stand
as the registries give them out, eight apart, and numbers prefixes of one
length inside each. Everything is aligned, disjoint and sorted by construction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.special import PRIVATE, ranges_of

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

_CELL = 20
#: The chance that a /20, /21, ... /25 is split, before a block's own leaning.
_SPLITS = (0.85, 0.70, 0.62, 0.55, 0.15, 0.35)
#: What comes of a cell, a little less than the mean.
_ROWS_PER_CELL, _INTERVALS_PER_CELL = 6.4, 5.5
_CELL_USED = 0.9
#: The surplus to make, because some prefixes are dropped; and the least prefix, a /30.
_SPARE, _LEAST = 1.1, 4
#: The share of dropped prefixes, for gaps, and of prefixes that repeat the one before.
_HOLES = 0.04
_SAME = 0.2
_REGISTRIES = (0x24, 0x26, 0x28, 0x2A, 0x2C)  # the first octets of the five IPv6 /12 blocks
_IPV6_LENGTHS = np.array([32, 36, 40, 44, 48, 52, 56, 60, 64])


class TooManyError(ValueError):
    """More prefixes were asked for than the public space holds in this form."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Sorted disjoint prefixes; ``start`` is the address, of IPv6 its high half.

    ``gap``: nothing covers the address before. ``same``: the data of the prefix before; both touch.
    ``block``: whose block it is of.
    """

    family: int
    start: U64
    length: NDArray[np.int64]
    block: I64
    gap: Bools
    same: Bools

    def __len__(self) -> int:
        return len(self.start)

    @property
    def intervals(self) -> int:
        """How many intervals a dataset of these has: data, gaps, and the gap at the end."""
        return int((~self.same).sum() + self.gap.sum()) + 1


def ipv4(rng: np.random.Generator, count: int, *, by_rows: bool) -> Prefixes:
    """Return IPv4 prefixes that make ``count`` intervals, or rows."""
    cells = _cells(rng, int(count / (_ROWS_PER_CELL if by_rows else _INTERVALS_PER_CELL)) + 64)
    size = np.full(len(cells), 1 << 32 - _CELL, np.uint64)
    start = cells << np.uint64(32 - _CELL)
    for length, chance in enumerate(_SPLITS, _CELL):
        # A block leans one way: lengths cluster as they do in real tables.
        leaning = _noise(start >> np.uint64(16)) * 0.4 + 0.8
        is_whole = size == 1 << 32 - length
        start, size = _halve(start, size, is_whole & (rng.random(len(start)) < chance * leaning))
    # Of more than that form holds, some are split on: tables of many rows are finer, not wider.
    while (missing := int(count * _SPARE) - len(start)) > 0:
        chance = min(missing / len(start), 0.9)
        start, size = _halve(start, size, (rng.random(len(start)) < chance) & (size > _LEAST))
    lengths = 32 - np.log2(size).astype(np.int64)
    return _select(rng, 4, start, lengths, start >> np.uint64(16), count, by_rows=by_rows)


def _cells(rng: np.random.Generator, cell_count: int) -> U64:
    """Return public /20 cells of random /16 blocks, about as many as wanted."""
    public = np.ones(1 << _CELL, bool)
    for first, last in ranges_of(4, PRIVATE):
        public[first >> 32 - _CELL : (last >> 32 - _CELL) + 1] = False
    blocks = np.flatnonzero(public.reshape(-1, 16).all(axis=1))
    count = int(cell_count / (16 * _CELL_USED)) + 1
    sample = np.sort(rng.choice(blocks, min(count, len(blocks)), replace=False))
    cells = (sample[:, None] * 16 + np.arange(16)).ravel()
    return cells[rng.random(len(cells)) < _CELL_USED].astype(np.uint64)


def _noise(values: U64) -> NDArray[np.float64]:
    """Return a number in 0 … 1 that depends only on the value."""
    hashes = values * np.uint64(0x9E37_79B9_7F4A_7C15)
    return (hashes >> np.uint64(40)).astype(np.float64) / (1 << 24)


def _halve(start: U64, size: U64, split: Bools) -> tuple[U64, U64]:
    times = np.where(split, 2, 1)
    half = np.repeat(np.where(split, size >> np.uint64(1), size), times)
    index = np.arange(len(half)) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(start, times) + index.astype(np.uint64) * half, half


def around(rng: np.random.Generator, finer: Prefixes, count: int) -> Prefixes:
    """Return ``count`` wider prefixes of one length that lie about the given ones.

    So the networks of an AS table lie around the networks of a table of cities.
    """
    bits = 32 if finer.family == 4 else 64
    for length in range(8, bits + 1):
        shift = np.uint64(bits - length)
        start, first = np.unique(finer.start >> shift << shift, return_index=True)
        if len(start) >= count:
            break
    sample = np.sort(rng.choice(len(start), min(count, len(start)), replace=False))
    start, block = start[sample], finer.block[first[sample]]
    gap = np.concatenate([[True], start[1:] != start[:-1] + (np.uint64(1) << shift)])
    lengths = np.full(len(start), length, np.int64)
    return Prefixes(finer.family, start, lengths, block, gap, np.zeros(len(start), bool))


def ipv6(rng: np.random.Generator, count: int, *, by_rows: bool) -> Prefixes:
    """Return IPv6 prefixes that make ``count`` intervals, or rows."""
    size = _allocation_sizes(rng, int(count * (1.08 if by_rows else 1.02)) + 64)
    length = _lengths(rng, size)
    steps = np.where(rng.random(int(size.sum())) < 0.8, 1, rng.integers(2, 5, int(size.sum())))
    number = _count_up(steps, size)
    start = np.repeat(_allocations(rng, len(size)), size)
    start += number << np.repeat(64 - length, size).astype(np.uint64)
    block = start >> np.uint64(32)
    return _select(rng, 6, start, np.repeat(length, size), block, count, by_rows=by_rows)


def _allocation_sizes(rng: np.random.Generator, count: int) -> I64:
    """Return how many prefixes each allocation holds: most a few, some very many."""
    most = min(max(count // 20, 4), 1 << 18)
    sizes = np.minimum(rng.random(count) ** -1.1, most).astype(np.int64)
    return sizes[: int(np.searchsorted(np.cumsum(sizes), count)) + 1]


def _lengths(rng: np.random.Generator, size: I64) -> I64:
    """Return a prefix length for each allocation, with room for four times its prefixes."""
    least = np.searchsorted(_IPV6_LENGTHS - 32, np.log2(4 * size))
    least = np.where(size == 1, 0, least)
    longer = rng.choice([0, 1, 2, 4], len(size), p=[0.45, 0.2, 0.2, 0.15])
    length: I64 = _IPV6_LENGTHS[np.minimum(least + longer, len(_IPV6_LENGTHS) - 1)]
    return length


def _count_up(steps: I64, size: I64) -> U64:
    """Add the steps up, from 0 anew in each allocation."""
    total = np.cumsum(steps)
    begin = np.repeat(total[np.cumsum(size) - size], size)
    number: U64 = (total - begin).astype(np.uint64)
    return number


def _allocations(rng: np.random.Generator, count: int) -> U64:
    """Return the high halves of ``count`` /32 allocations, in order."""
    share = -(-count // len(_REGISTRIES))
    if 8 * share > 1 << 20:
        raise TooManyError("more IPv6 allocations than the space holds")
    numbers = np.arange(count, dtype=np.uint64)
    registry = np.array(_REGISTRIES, np.uint64)[numbers // np.uint64(share)]
    within = numbers % np.uint64(share) * np.uint64(8)
    # Some holders got the first /32 of a /29, some another.
    within += rng.integers(0, 8, count, dtype=np.uint64)
    high: U64 = (registry << np.uint64(24) | within) << np.uint64(32)
    return high


def _select(
    rng: np.random.Generator,
    family: int,
    start: U64,
    length: I64,
    block: U64,
    count: int,
    *,
    by_rows: bool,
) -> Prefixes:
    """Leave some out, name the gaps, and cut behind the last that is wanted."""
    keep = rng.random(len(start)) >= _HOLES
    start, length, block = start[keep], length[keep], block[keep]
    width = (32 if family == 4 else 64) - length
    end = start + (np.uint64(1) << width.astype(np.uint64))
    gap = np.concatenate([[True], start[1:] != end[:-1]])
    same = ~gap & (rng.random(len(start)) < _SAME)
    numbers = np.unique(block, return_inverse=True)[1].astype(np.int64)
    weight = np.ones(len(start), np.int64) if by_rows else (~same).astype(np.int64) + gap
    total = np.cumsum(weight)
    target = count if by_rows else count - 1  # the last interval is the gap at the end
    if total[-1] < target:
        raise TooManyError(f"{total[-1]} of {target} IPv{family} prefixes came about")
    rows = int(np.searchsorted(total, target, side="right"))
    if total[rows - 1] < target:  # one short, for the next row counts two
        same[int(np.argmax(same[:rows]))] = False
    part = slice(0, rows)
    return Prefixes(family, start[part], length[part], numbers[part], gap[part], same[part])
