"""The alignment of the rows of a file and of its base: the others are deleted or inserted.

Intervals are the same if they begin at the same address, whatever their number; other rows if
they have the same number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise, zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geolookup.archives.delta.parts import Unsigned
from geolookup.archives.delta.streams import PatchError, Streams, encode_numbers
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import read, starts_of
from geolookup.dataset.intervals import Addresses, empty, is_partition

Bools = NDArray[np.bool_]
I64 = NDArray[np.int64]
#: The files of intervals, by name, with their family.
_FAMILY = {
    fmt.IPV4: 4,
    fmt.IPV6: 6,
    **{name: family for names in (fmt.PROVENANCE, fmt.EXPLAINED) for family, name in names.items()},
}


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which rows both have: ``base_mask`` (m,) of the base, ``target_mask`` (n,) of the target.

    Both mark equally many rows; these correspond in order.
    """

    base_mask: Bools
    target_mask: Bools

    def of(self, former: Unsigned) -> Unsigned:
        """Return the values of the base in the rows that both have."""
        return former if self.base_mask.all() else former[self.base_mask]


def same_numbers(former: int, count: int) -> Alignment:
    """Return the alignment of so many values with as many as both have."""
    # 3 former rows and 5 now: three kept, two inserted at the end.
    return Alignment(np.arange(former) < count, np.arange(count) < former)


def align(former: Path, path: Path, rows: int, count: int) -> Alignment:
    """Return the alignment of the ``count`` rows of a file with the ``rows`` of its base."""
    family = _FAMILY.get(path.name)
    if family is None or not rows:
        return same_numbers(rows, count)
    partitions = [list(_partitions(starts_of(read(file)[0]))) for file in (former, path)]
    if not all(map(is_partition, chain(*partitions))):  # a dataset that ``verify`` refuses
        return same_numbers(rows, count)
    # Files of explained rows hold a partition for each source table, one after the other.
    marks = [_same(*pair) for pair in zip_longest(*partitions, fillvalue=empty(family))]
    return Alignment(*(np.concatenate(parts) for parts in zip(*marks, strict=True)))


def _partitions(starts: Addresses) -> Iterator[Addresses]:
    """Yield each partition: it begins with address 0."""
    first = starts.equals(Addresses.of(starts.family, [0]))
    for begin, end in pairwise([0, *(np.flatnonzero(first[1:]) + 1).tolist(), len(starts)]):
        yield starts[begin:end]


def _same(former: Addresses, starts: Addresses) -> tuple[Bools, Bools]:
    """Mark, in both partitions, the starts that the other one has."""
    base_mask = np.zeros(len(former), bool)
    if not len(former):  # a further partition
        return base_mask, np.zeros(len(starts), bool)
    # The former interval that holds each start; it begins at the start or before.
    at = former.search(starts) - 1
    target_mask = former[at].equals(starts)
    base_mask[at[target_mask]] = True
    return base_mask, target_mask


def alignment_text(alignment: Alignment) -> bytes:
    """Write an alignment: the deleted rows of the base, and the inserted ones of the file."""
    marks = (alignment.base_mask, alignment.target_mask)
    return b"".join(positions_text(np.flatnonzero(~rows)) for rows in marks)


def read_alignment(streams: Streams, former: int, count: int) -> Alignment:
    """Read the alignment of a table of ``count`` rows with the ``former`` rows of its base."""
    base_mask, target_mask = np.ones(former, bool), np.ones(count, bool)
    for rows in (base_mask, target_mask):
        rows[read_positions(streams, len(rows))] = False
    if np.count_nonzero(base_mask) != np.count_nonzero(target_mask):
        raise PatchError("rows of the base have no row in the file")
    return Alignment(base_mask, target_mask)


def positions_text(positions: I64) -> bytes:
    """Write ascending positions, as the gaps between them: of 3, 4 and 9 these are 3, 0 and 4."""
    # The number before the first one is -1: so position 3 is a gap of 3.
    return encode_numbers((np.diff(positions, prepend=-1) - 1).astype(np.uint32))


def read_positions(streams: Streams, size: int) -> I64:
    """Read ascending positions below ``size``."""
    gaps = streams.next(np.uint32, size)
    # Fewer than 2^32 gaps, each below 2^32: their sum fits.
    positions = np.cumsum(gaps.astype(np.int64) + 1) - 1
    if len(positions) and positions[-1] >= size:
        raise PatchError("a position beyond the end")
    return positions
