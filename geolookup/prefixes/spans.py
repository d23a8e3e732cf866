"""Ranges of addresses as columns, and adjacent ranges joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import Addresses, concat
from geolookup.dataset.runs import run_starts

I32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Spans:
    """n ranges of one family in address order, disjoint, both ends included.

    The ends have 128 bits, also of IPv4. ``codes`` are columns of the shape (n,), one for each
    table that keeps ranges apart: the number of the value.
    """

    family: int
    first: Addresses
    last: Addresses
    codes: tuple[I32, ...] = ()

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: Any) -> Spans:
        """Return some of the ranges, by number, by mask or by slice."""
        codes = tuple(column[rows] for column in self.codes)
        return Spans(self.family, self.first[rows], self.last[rows], codes)


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
    # A range begins after a gap, or where a code differs from the range before.
    marks = run_starts(*spans.codes, size=len(spans))
    marks[1:] |= ~spans.first[1:].equals(spans.last[:-1].successor())
    begins = np.flatnonzero(marks)
    if len(begins) == len(spans):
        return spans
    # A range ends where the next one begins: ranges 0-2 and 3-4 have the begins 0 3, the ends 2 4.
    ends = np.append(begins[1:], len(spans)) - 1
    codes = tuple(column[begins] for column in spans.codes)
    return Spans(spans.family, spans.first[begins], spans.last[ends], codes)


def _concatenate(one: Spans, other: Spans) -> Spans:
    first, last = concat([one.first, other.first]), concat([one.last, other.last])
    codes = tuple(np.concatenate(pair) for pair in zip(one.codes, other.codes, strict=True))
    return Spans(one.family, first, last, codes)
