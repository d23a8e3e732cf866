"""Ranges of addresses, and rows that have one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from socket import AF_INET, AF_INET6, inet_pton

Range = tuple[int, int]  # first and last address


@dataclass(frozen=True)
class Row:
    """A row of a file: its range and the cells after it."""

    first: int
    last: int
    cells: tuple[str, ...]


def union(ranges: Iterable[Range]) -> list[Range]:
    """Return the same addresses as sorted, disjoint ranges that are not adjacent."""
    merged: list[Range] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged


def parts_inside(first: int, last: int, blocks: Sequence[Range]) -> Iterator[Range]:
    """Yield the parts of a range inside sorted, disjoint blocks."""
    at = max(0, bisect_right(blocks, (first, first)) - 1)
    while at < len(blocks) and blocks[at][0] <= last:
        low, high = max(first, blocks[at][0]), min(last, blocks[at][1])
        if low <= high:
            yield low, high
        at += 1


def complement(blocks: Sequence[Range], version: int) -> list[Range]:
    """Return what lies outside sorted, disjoint blocks that are not adjacent."""
    top = (1 << (32 if version == 4 else 128)) - 1
    bounds = [-1, *(bound for block in blocks for bound in block), top + 1]
    gaps = zip(bounds[::2], bounds[1::2], strict=True)
    return [(after + 1, before - 1) for after, before in gaps if after + 1 < before]


def size(ranges: Iterable[Range | Row]) -> int:
    """Return the number of addresses."""
    ends = ((r.first, r.last) if isinstance(r, Row) else r for r in ranges)
    return sum(last - first + 1 for first, last in ends)


def most_specific(rows: Sequence[Row]) -> list[Row]:
    """Return disjoint rows: of nested ones the smallest has its addresses."""
    bounds = sorted({row.first for row in rows} | {row.last + 1 for row in rows})
    number = {bound: number for number, bound in enumerate(bounds)}
    owner: list[Row | None] = [None] * len(bounds)
    for row in sorted(rows, key=lambda row: row.first - row.last):
        for at in range(number[row.first], number[row.last + 1]):
            owner[at] = row
    pieces = zip(pairwise(bounds), owner, strict=False)
    return [Row(low, high - 1, row.cells) for (low, high), row in pieces if row]


def ends(network: str) -> Range:
    """Return the first and last address of a network."""
    address, length = network.split("/")
    first = address_value(address)
    return first, first + (1 << (128 if ":" in address else 32) - int(length)) - 1


def address_value(address: str) -> int:
    """Read an address; ``ipaddress`` would take most of the time for a million of them."""
    return int.from_bytes(inet_pton(AF_INET6 if ":" in address else AF_INET, address))
