"""Aligns the intervals of two files by their first addresses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise, zip_longest
from pathlib import Path

import numpy as np

from geolookup.archives.delta.alignment import Alignment, Bools, same_numbers
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import read
from geolookup.dataset.intervals import Addresses, empty, is_partition

#: The files of intervals, by name, with their family.
_FAMILY = {
    fmt.IPV4: 4,
    fmt.IPV6: 6,
    **{name: family for names in (fmt.PROVENANCE, fmt.EXPLAINED) for family, name in names.items()},
}


def aligned(former: Path, path: Path, rows: int, count: int) -> Alignment:
    """Return the alignment of the ``count`` rows of a file with the ``rows`` of its base."""
    family = _FAMILY.get(path.name)
    if family is None or not rows:
        return same_numbers(rows, count)
    partitions = [list(_partitions(_starts(each, family))) for each in (former, path)]
    if not all(map(is_partition, chain(*partitions))):  # a dataset that ``verify`` refuses
        return same_numbers(rows, count)
    # Files of explained rows hold a partition for each source table, one after the other.
    marks = [_same(*pair) for pair in zip_longest(*partitions, fillvalue=empty(family))]
    return Alignment(*(np.concatenate(each) for each in zip(*marks, strict=True)))


def _starts(path: Path, family: int) -> Addresses:
    batch = read(path)[0]
    if family == 4:
        return Addresses(batch.column("start").to_numpy())
    low = batch.column("start_low").dictionary_decode().to_numpy()
    return Addresses(low, batch.column("start_high").to_numpy())


def _partitions(starts: Addresses) -> Iterator[Addresses]:
    """Yield each partition: it begins with address 0."""
    first = starts.equals(Addresses.of(starts.family, [0]))
    for begin, end in pairwise([0, *(np.flatnonzero(first[1:]) + 1).tolist(), len(starts)]):
        yield starts[begin:end]


def _same(former: Addresses, starts: Addresses) -> tuple[Bools, Bools]:
    """Mark, in both partitions, the starts that the other one has."""
    kept = np.zeros(len(former), bool)
    if not len(former):  # a further partition
        return kept, np.zeros(len(starts), bool)
    at = former.search(starts) - 1
    keeping = former[at].equals(starts)
    kept[at[keeping]] = True
    return kept, keeping
