"""The intervals of a dataset in public space, as columns: their ends and their rows.

Own columns may be known in private space too: with their rows, it is part of the space.

Strategy: this space is a few ranges. The intervals in each of them are consecutive: two searches
find them, and only the first and the last are clipped. Intervals that the selector drops are not
decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.fields import OWN
from geolookup.contract.special import PRIVATE, PUBLIC, Range, ranges_of
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset, Starts, outside
from geolookup.dataset.intervals import U64, Addresses, Bools
from geolookup.dataset.networks import limits_of
from geolookup.errors import REBUILD, DatasetError

U32 = NDArray[np.uint32]
#: The rows of n intervals by table; 0 is "unknown".
RowNumbers = Mapping[str, U32]
#: Marks which of n intervals to return, by their rows.
Selector = Callable[[RowNumbers], Bools]
#: The tables of the contract's fields.
CONTRACT_TABLES = fmt.row_tables(())
#: The most intervals of a batch: its columns fit into the cache of a processor.
BATCH = 1 << 17


class RangeBatch(NamedTuple):
    """n ranges of one family in address order, disjoint, both ends included.

    The columns have the shape (n,). Of IPv4 the high halves are 0.
    """

    family: int
    first_high: U64
    first_low: U64
    last_high: U64
    last_low: U64
    rows: RowNumbers


def public_ranges(
    dataset: Dataset,
    family: int,
    within: object = None,
    selector: Selector | None = None,
    tables: Sequence[str] = CONTRACT_TABLES,
) -> Iterator[RangeBatch]:
    """Yield the intervals of a family in public space, in address order, in batches.

    ``tables`` are those whose rows are read. Special-purpose space is left out, unless OWN is one
    of them; space that carries IPv4 addresses always is. ``within`` (a network or its text) limits
    the space. ``selector`` selects intervals; without it, unknown intervals are yielded too.
    Adjacent ranges may have equal rows.

    Raises ValueError, here and not at the first step, if ``within`` is not a network.
    Each step raises DatasetError if the dataset is damaged.
    """
    limits = [(first, last) for of, first, last in limits_of(within) if of == family]
    return _ranges(_Intervals(dataset, family, tables), limits, selector)


def any_known(rows: Mapping[str, NDArray[Any]]) -> Bools:
    """Mark the intervals about which anything is known, by their rows; a ``Selector``."""
    # "or" of row numbers is 0 only if all of them are.
    is_known: Bools = reduce(np.bitwise_or, rows.values()) != 0
    return is_known


def _ranges(
    intervals: _Intervals, limits: list[Range], selector: Selector | None
) -> Iterator[RangeBatch]:
    for first, last in _within(limits, ranges_of(intervals.family, *intervals.kinds)):
        begin, end = intervals.starts.interval(first), intervals.starts.interval(last) + 1
        for batch in range(begin, end, BATCH):
            until = min(batch + BATCH, end)
            # Only the outermost intervals reach beyond the limits.
            bounds = first if batch == begin else None, last if until == end else None
            part = intervals.ranges(batch, until, bounds, selector)
            if len(part.first_low):
                yield part


def _within(limits: list[Range], space: Sequence[Range]) -> Iterator[Range]:
    """Yield the parts of the limits that lie in a space."""
    for least, most in limits:
        for first, last in space:
            if first <= most and last >= least:
                yield max(first, least), min(last, most)


class _Intervals:
    """The columns of the intervals of one family; their values are checked when they are read."""

    def __init__(self, dataset: Dataset, family: int, tables: Sequence[str]) -> None:
        self.family, self._path = family, dataset.path
        #: the kinds of space in which one of the tables answers
        self.kinds = (PUBLIC, PRIVATE) if OWN in tables else (PUBLIC,)
        self.starts: Starts = dataset.starts(family)
        columns, self._counts = dataset.row_columns(family), dataset.row_counts()
        self.starts.check_lengths(*columns.values())
        self._rows = {table: np.asarray(columns[table]) for table in tables}

    def ranges(
        self,
        begin: int,
        end: int,
        bounds: tuple[int | None, int | None],
        selector: Selector | None,
    ) -> RangeBatch:
        """Return the selected intervals from ``begin`` to before ``end``.

        ``bounds`` are the first address of the first interval and the last one of the last, where
        these intervals are clipped.
        """
        rows = {table: column[begin:end] for table, column in self._rows.items()}
        if any(numbers.max() >= self._counts[table] for table, numbers in rows.items()):
            raise outside(self._path)
        at = np.arange(end - begin) if selector is None else np.flatnonzero(selector(rows))
        firsts, after = self.starts.take(begin + at), begin + at + 1
        # The start of the first interval is 0, and 0 - 1 wraps to the last address of the family.
        after[after == len(self.starts)] = 0
        lasts = self.starts.take(after).predecessor()
        if len(at):
            _clip(firsts, 0, bounds[0] if at[0] == 0 else None)
            _clip(lasts, -1, bounds[1] if at[-1] == end - begin - 1 else None)
        # ``Addresses`` has only "<": each range must end before the next one begins.
        if np.any(lasts < firsts) or np.any(~(lasts[:-1] < firsts[1:])):
            raise DatasetError(self._path, "the intervals are out of order", REBUILD)
        (first_low, first_high), (last_low, last_high) = firsts.halves(), lasts.halves()
        selected = {table: numbers[at] for table, numbers in rows.items()}
        return RangeBatch(self.family, first_high, first_low, last_high, last_low, selected)


def _clip(addresses: Addresses, at: int, value: int | None) -> None:
    """Set the address at a position, unless the value is None."""
    if value is None:
        return
    if addresses.high is not None:
        addresses.high[at], value = value >> 64, value & (1 << 64) - 1
    addresses.low[at] = value
