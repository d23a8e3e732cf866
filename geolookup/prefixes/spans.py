"""Ranges of addresses of one answer or several, as columns; ranges that touch are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import U64, Bools

I32 = NDArray[np.int32]


class Spans(NamedTuple):
    """n ranges of one family in address order, disjoint, both ends included.

    The columns have the shape (n,). Of IPv4 the high halves are 0. ``codes`` are columns of the
    same length, one for each field by which ranges are told apart: the number of the value.
    """

    family: int
    first_high: U64
    first_low: U64
    last_high: U64
    last_low: U64
    codes: tuple[I32, ...] = ()

    @property
    def count(self) -> int:
        """How many ranges these are."""
        return len(self.first_low)


def joined(batches: Iterable[Spans]) -> Iterator[Spans]:
    """Yield the ranges with those joined that touch and have the same codes, in batches.

    The batches are in address order, those of IPv4 first; a range of one batch may continue in
    the next.
    """
    held: Spans | None = None
    for batch in batches:
        if held is not None and held.family == batch.family:
            batch = _concatenated(held, batch)
        elif held is not None:
            yield held
        found = _joined(batch)
        # The last range may continue in the next batch.
        if found.count > 1:
            yield _slice(found, 0, found.count - 1)
        held = _slice(found, max(found.count - 1, 0), found.count)
    if held is not None and held.count:
        yield held


def _joined(spans: Spans) -> Spans:
    begins = np.flatnonzero(~_continues(spans))
    if len(begins) == spans.count:
        return spans
    ends = np.append(begins[1:], spans.count) - 1
    return Spans(
        spans.family,
        spans.first_high[begins],
        spans.first_low[begins],
        spans.last_high[ends],
        spans.last_low[ends],
        tuple(each[begins] for each in spans.codes),
    )


def _continues(spans: Spans) -> Bools:
    """Mark the ranges that begin right after the one before, with the same codes."""
    marks = np.zeros(spans.count, bool)
    after_low = spans.last_low[:-1] + np.uint64(1)
    marks[1:] = spans.first_low[1:] == after_low
    if spans.family == 6:
        marks[1:] &= spans.first_high[1:] == spans.last_high[:-1] + (after_low == 0)
    for each in spans.codes:
        marks[1:] &= each[1:] == each[:-1]
    return marks


def _concatenated(one: Spans, other: Spans) -> Spans:
    ends = (np.concatenate(pair) for pair in zip(one[1:5], other[1:5], strict=True))
    codes = zip(one.codes, other.codes, strict=True)
    return Spans(one.family, *ends, tuple(np.concatenate(pair) for pair in codes))


def _slice(spans: Spans, begin: int, end: int) -> Spans:
    ends = (each[begin:end] for each in spans[1:5])
    return Spans(spans.family, *ends, tuple(each[begin:end] for each in spans.codes))
