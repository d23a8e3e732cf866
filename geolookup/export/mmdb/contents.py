"""Where the values of records lie, and the bytes of the records.

A group (a map or an array) has two forms by code: where it is not first, every shared value in it
is a pointer; where it is first, some values are in full. A record has one of both forms.

Strategy: one walk joins the content of groups, with columns of bytes or only of their sizes. The
size of a pointer depends on a position, and positions on the sizes of the pointers before them. So
the walk with sizes is repeated, from the shortest pointers on, until no pointer gets longer.

Example: with 2 bytes for each pointer before it, a value is at 2,040, and pointers to it have 2
bytes. If four pointers before it need 5 bytes, it is at 2,052, and pointers to it have 3 bytes,
from 2,048 on. The next walk moves the values after them. Positions only grow, and pointers have at
most 5 bytes: it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64
from geolookup.export.mmdb.encoding import join, lengths, pointer_sizes, pointers
from geolookup.export.mmdb.members import Leaf
from geolookup.export.mmdb.sharing import Order, Slot


class Kind(NamedTuple):
    """Columns that the walk joins: how they are made and put together."""

    encode: Callable[[pa.Array], Any]  # the column of encoded values
    pointers: Callable[[I64], Any]  # the column of pointers to positions
    join: Callable[..., Any]  # row by row
    both: Callable[[list[Any]], Any]  # one column after the other
    take: Callable[[Any, I64], Any]  # rows of a column, nothing for -1


def _take_bytes(column: pa.Array, rows: I64) -> pa.Array:
    return column.take(pa.array(rows, mask=rows < 0))


def _take_sizes(column: I64, rows: I64) -> I64:
    # The code -1 takes the last entry, 0.
    sizes: I64 = np.append(column, 0)[rows]
    return sizes


BYTES = Kind(lambda column: column, pointers, join, pa.concat_arrays, _take_bytes)
SIZES = Kind(lengths, pointer_sizes, lambda *columns: sum(columns), np.concatenate, _take_sizes)


class Contents:
    """Joins the content of groups, for the ``positions`` of shared values."""

    def __init__(self, kind: Kind, positions: I64) -> None:
        self._kind, self._pointers = kind, kind.pointers(positions)
        #: by number of a slot, its content in the groups that are first
        self.first: dict[int, Any] = {}

    def of_group(self, slot: Slot) -> tuple[Any, Any]:
        """Return the content of a group by code: where the group is not first, and where it is."""
        later, first = [], []
        for at, inner in enumerate(slot.inner):
            columns = self._of(inner)
            codes, is_here = slot.is_within(at)
            later.append(self._kind.take(columns[0], codes))
            if is_here.any():
                # Both columns one after the other: a code of the second is ``count`` further.
                numbers = np.where(is_here, inner.count + codes, codes)
                first.append(self._kind.take(self._kind.both([*columns]), numbers))
            else:
                first.append(later[-1])
            self.first[inner.number] = first[-1]
        return self._kind.join(*later), self._kind.join(*first)

    def _of(self, slot: Slot) -> tuple[Any, Any]:
        """Return the content of each value in parents: where it is not first, and where it is."""
        kind = self._kind
        if isinstance(slot.member, Leaf):
            later = first = kind.encode(slot.member.encoded)
        else:
            headers = self.headers(slot)
            later, first = (kind.join(headers, content) for content in self.of_group(slot))
        is_shared = slot.shared >= 0
        if is_shared.any():
            # A value that is shared becomes its pointer, at ``count`` + its number.
            numbers = np.where(is_shared, slot.count + slot.shared, np.arange(slot.count))
            later = kind.take(kind.both([later, self._pointers]), numbers)
        return later, first

    def headers(self, slot: Slot) -> Any:
        """Return the header of a group by code."""
        return self._kind.take(self._kind.encode(slot.group.headers), slot.group.counts)


class Places:
    """Computes the positions of shared values, in the records that have them in full.

    ``headers`` are the sizes of the headers of records.
    """

    def __init__(self, order: Order, headers: I64) -> None:
        self._parts = order.parts
        self._codes = [codes[: order.having] for codes in order.codes]
        self._is_first = [order.is_first(at)[: order.having] for at in range(len(order.parts))]
        self._headers = headers[: order.having]

    def positions(self, shared: int) -> I64:
        """Return the positions of so many shared values."""
        positions = np.zeros(shared, np.int64)
        while True:
            longer = self._place_all(Contents(SIZES, positions), shared)
            if np.array_equal(pointer_sizes(longer), pointer_sizes(positions)):
                return longer
            positions = longer

    def _place_all(self, contents: Contents, shared: int) -> I64:
        parts = [self._headers]
        for part, codes, is_first in zip(self._parts, self._codes, self._is_first, strict=True):
            later, first = (SIZES.take(sizes, codes) for sizes in contents.of_group(part))
            parts.append(np.where(is_first, first, later))
        # The sizes of whole records; their sums less the own size are where records begin.
        begins = np.cumsum(np.sum(parts, axis=0)) - np.sum(parts, axis=0)
        positions = np.zeros(shared, np.int64)
        for at, part in enumerate(self._parts):
            begins = begins + parts[at]
            is_first, starts = self._is_first[at], np.zeros(part.count, np.int64)
            starts[self._codes[at][is_first]] = begins[is_first]
            self._set_positions(part, starts, contents, positions)
        return positions

    def _set_positions(self, slot: Slot, starts: I64, contents: Contents, positions: I64) -> None:
        """Set the positions in groups whose content begins at ``starts``."""
        for inner in slot.inner:
            begins, in_full = SIZES.take(starts, inner.parent), inner.codes_in_full()
            # Only values written here in full have their position here.
            positions[inner.shared[in_full]] = begins[in_full]
            if inner.inner:
                self._set_positions(inner, begins + contents.headers(inner), contents, positions)
            starts = starts + contents.first[inner.number]
