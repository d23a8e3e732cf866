"""Which rows of a file are those of its base: the rest is deleted or inserted.

Intervals are the same if they begin at the same address, whatever their number; other rows if
they have the same number. Positions are written as the gaps between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.archives.delta.parts import Unsigned
from geolookup.archives.delta.streams import PatchError, Streams, written

Bools = NDArray[np.bool_]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which rows are kept: ``kept`` (m,) of those of the base, ``keeping`` (n,) of the target.

    Both mark equally many rows, which correspond in order.
    """

    kept: Bools
    keeping: Bools

    def of(self, former: Unsigned) -> Unsigned:
        """Return the kept ones of values of the base."""
        return former if self.kept.all() else former[self.kept]


def same_numbers(former: int, count: int) -> Alignment:
    """Return the alignment of so many values with as many as both have."""
    return Alignment(np.arange(former) < count, np.arange(count) < former)


def gaps_of(positions: I64) -> bytes:
    """Write ascending positions."""
    return written((np.diff(positions, prepend=-1) - 1).astype(np.uint32))


def positions_in(streams: Streams, size: int) -> I64:
    """Read ascending positions below ``size``."""
    gaps = streams.next(np.uint32, size)
    # Fewer than 2^32 gaps, each below 2^32: their sum fits.
    positions = np.cumsum(gaps.astype(np.int64) + 1) - 1
    if len(positions) and positions[-1] >= size:
        raise PatchError("a position beyond the end")
    return positions


def alignment_text(alignment: Alignment) -> bytes:
    """Write an alignment."""
    return b"".join(
        gaps_of(np.flatnonzero(~marks)) for marks in (alignment.kept, alignment.keeping)
    )


def read_alignment(streams: Streams, former: int, count: int) -> Alignment:
    """Read the alignment of a table of ``count`` rows with the ``former`` rows of its base."""
    marks = [np.ones(size, bool) for size in (former, count)]
    for each in marks:
        each[positions_in(streams, len(each))] = False
    kept, keeping = marks
    if np.count_nonzero(kept) != np.count_nonzero(keeping):
        raise PatchError("rows of the base have no row in the file")
    return Alignment(kept, keeping)
