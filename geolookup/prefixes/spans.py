"""Ranges of addresses as columns, and adjacent ranges joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import U64, Bools
from geolookup.dataset.runs import run_starts

I32 = NDArray[np.int32]
_ONE = np.uint64(1)


class Halves(NamedTuple):
    """n integers of 128 bits, of the shape (n,) each; of IPv4 addresses the high halves are 0."""

    high: U64
    low: U64

    def take(self, rows: Any) -> Halves:
        """Return some of them, by number, by mask or by slice."""
        return Halves(self.high[rows], self.low[rows])

    def minus(self, other: Halves) -> Halves:
        """Return the differences, modulo 2^128."""
        # (low < other.low) is 1 where the low halves borrow.
        return Halves(self.high - other.high - (self.low < other.low), self.low - other.low)

    def successor(self) -> Halves:
        """Return each integer + 1, modulo 2^128."""
        low = self.low + _ONE
        # A low half that wraps to 0 carries 1 into the high half.
        return Halves(self.high + (low == 0), low)


@dataclass(frozen=True, slots=True)
class Spans:
    """n ranges of one family in address order, disjoint, both ends included.

    ``codes`` are columns of the shape (n,), one for each field that keeps ranges apart:
    the number of the value.
    """

    family: int
    first: Halves
    last: Halves
    codes: tuple[I32, ...] = ()

    def __len__(self) -> int:
        return len(self.first.low)

    def take(self, rows: Any) -> Spans:
        """Return some of the ranges, by number, by mask or by slice."""
        codes = tuple(column[rows] for column in self.codes)
        return Spans(self.family, self.first.take(rows), self.last.take(rows), codes)


def join(batches: Iterable[Spans]) -> Iterator[Spans]:
    """Yield the ranges in batches, adjacent ranges of equal codes joined.

    The given batches are in address order, IPv4 first; a range may continue in the next batch.
    """
    pending: Spans | None = None
    for batch in batches:
        if pending is not None and pending.family == batch.family:
            batch = _concatenate(pending, batch)
        elif pending is not None:
            yield pending
        whole = _join(batch)
        # The last range may continue in the next batch.
        if len(whole) > 1:
            yield whole.take(slice(None, -1))
        pending = whole.take(slice(-1, None))
    if pending is not None and len(pending):
        yield pending


def _join(spans: Spans) -> Spans:
    begins = np.flatnonzero(_begins(spans))
    if len(begins) == len(spans):
        return spans
    # A range ends where the next one begins: ranges 0-2 and 3-4 have the begins 0 3, the ends 2 4.
    ends = np.append(begins[1:], len(spans)) - 1
    codes = tuple(column[begins] for column in spans.codes)
    return Spans(spans.family, spans.first.take(begins), spans.last.take(ends), codes)


def _begins(spans: Spans) -> Bools:
    """Mark the ranges that begin after a gap, or have other codes than the range before."""
    marks = run_starts(*spans.codes, size=len(spans))
    after = spans.last.take(slice(None, -1)).successor()
    # A gap if either half differs: the high ones, then the low ones.
    for begin, end in zip(spans.first, after, strict=True):
        marks[1:] |= begin[1:] != end
    return marks


def _concatenate(one: Spans, other: Spans) -> Spans:
    first, last = (
        Halves(*(np.concatenate(pair) for pair in zip(*ends, strict=True)))
        for ends in ((one.first, other.first), (one.last, other.last))
    )
    codes = tuple(np.concatenate(pair) for pair in zip(one.codes, other.codes, strict=True))
    return Spans(one.family, first, last, codes)
