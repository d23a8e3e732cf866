"""Where the values of records lie, and the bytes of the records.

A group (a map or an array) has two forms by code: where it is not first, every shared value in it
is a pointer; where it is first, some values are in full. A record has one of both forms.

Strategy: one walk joins the members of groups, with columns of bytes or only of their sizes. The
size of a pointer depends on a position, and positions on the sizes of the pointers before them. So
the walk with sizes is repeated, from the shortest pointers on, until no pointer gets longer.

Example: the first position of a value is 2,040, so that pointers to it have 2 bytes. With those, a
key before it has moved it to 2,050: its pointers have 3 bytes, from 2,048 on. The next walk places
what follows them. Positions only grow, and pointers have at most 5 bytes: it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64
from geolookup.export.mmdb.encoding import joined, lengths, pointer_sizes, pointers
from geolookup.export.mmdb.members import Leaf
from geolookup.export.mmdb.sharing import Keys, Order, Slot


class Positions(NamedTuple):
    """Where shared values begin, by number, and keys."""

    values: I64
    keys: I64


class Kind(NamedTuple):
    """What the walk joins: how such columns are made and put together."""

    encoded: Callable[[pa.Array], Any]  # the column of encoded values
    pointers: Callable[[I64], Any]  # the column of pointers to positions
    joined: Callable[..., Any]  # row by row; also one value for all rows
    both: Callable[[list[Any]], Any]  # one column after the other
    take: Callable[[Any, I64], Any]  # rows of a column, nothing for -1


def _take_bytes(column: pa.Array, rows: I64) -> pa.Array:
    return column.take(pa.array(rows, mask=rows < 0))


def _take_sizes(column: I64, rows: I64) -> I64:
    sizes: I64 = np.append(column, 0)[rows]
    return sizes


BYTES = Kind(lambda column: column, pointers, joined, pa.concat_arrays, _take_bytes)
SIZES = Kind(lengths, pointer_sizes, lambda *columns: sum(columns), np.concatenate, _take_sizes)


class Contents:
    """Joins the members of groups, for given positions of values and keys."""

    def __init__(self, kind: Kind, positions: Positions, keys: Keys, texts: pa.Array) -> None:
        self._kind, self._keys = kind, keys
        self._values = kind.pointers(positions.values)
        self.key_pointers, self.key_texts = kind.pointers(positions.keys), kind.encoded(texts)
        #: by number of a slot, the member with its key in the groups that are first
        self.first: dict[int, Any] = {}

    def of_group(self, slot: Slot) -> tuple[Any, Any]:
        """Return the members of a group by code: where the group is not first, and where it is."""
        take, later = self._kind.take, []
        for at, inner in enumerate(slot.inner):
            values = self._of(inner)
            codes, is_here = slot.is_within(at)
            keyed = [self._keyed(inner, value) for value in values]
            later.append(take(keyed[0], codes))
            chosen = np.where(is_here, inner.count + codes, codes)
            if self._keys.is_first(inner):
                parent = self._keys.parent[inner.key]
                value = take(self._kind.both([*values]), chosen[[parent]])
                keyed.append(self._kind.joined(self.key_texts[inner.key], value))
                chosen[parent] = 2 * inner.count
            self.first[inner.number] = take(self._kind.both(keyed), chosen)
        first = [self.first[inner.number] for inner in slot.inner]
        return self._kind.joined(*later), self._kind.joined(*first)

    def _of(self, slot: Slot) -> tuple[Any, Any]:
        """Return what parents contain of each value: where it is not first, and where it is."""
        kind = self._kind
        if isinstance(slot.member, Leaf):
            later = first = kind.encoded(slot.member.encoded)
        else:
            headers = self.headers(slot)
            later, first = (kind.joined(headers, members) for members in self.of_group(slot))
        chosen = np.where(slot.shared >= 0, slot.count + slot.shared, np.arange(slot.count))
        return kind.take(kind.both([later, self._values]), chosen), first

    def headers(self, slot: Slot) -> Any:
        """Return the header of a group by code."""
        return self._kind.take(self._kind.encoded(slot.group.headers), slot.group.counts)

    def _keyed(self, slot: Slot, values: Any) -> Any:
        if slot.key is None:
            return values
        return self._kind.joined(self.key_pointers[slot.key], values)


class Places:
    """Computes the positions of shared values and keys in the records that have them in full.

    ``headers`` are the sizes of the headers of records, ``texts`` the encoded keys.
    """

    def __init__(self, order: Order, headers: I64, texts: pa.Array) -> None:
        self._parts, self._keys, self._texts = order.parts, order.keys, texts
        self._codes = [codes[: order.having] for codes in order.codes]
        self._is_first = [order.is_first(at)[: order.having] for at in range(len(order.parts))]
        self._headers = headers[: order.having]

    def positions(self, shared: int) -> Positions:
        """Return the positions of so many shared values, and of the keys."""
        positions = Positions(np.zeros(shared, np.int64), np.zeros(len(self._texts), np.int64))
        while True:
            longer = self._placed(Contents(SIZES, positions, self._keys, self._texts), positions)
            sizes, needed = (tuple(map(pointer_sizes, columns)) for columns in (positions, longer))
            if all(map(np.array_equal, needed, sizes)):
                return longer
            positions = longer

    def _placed(self, contents: Contents, former: Positions) -> Positions:
        parts = [self._headers]
        for part, codes, is_first in zip(self._parts, self._codes, self._is_first, strict=True):
            later, first = (SIZES.take(sizes, codes) for sizes in contents.of_group(part))
            parts.append(np.where(is_first, first, later))
        begins = np.cumsum(np.sum(parts, axis=0)) - np.sum(parts, axis=0)
        positions = Positions(*map(np.zeros_like, former))
        for at, part in enumerate(self._parts):
            begins = begins + parts[at]
            is_first, starts = self._is_first[at], np.zeros(part.count, np.int64)
            starts[self._codes[at][is_first]] = begins[is_first]
            self._place(part, starts, contents, positions)
        return positions

    def _place(self, slot: Slot, starts: I64, contents: Contents, positions: Positions) -> None:
        """Set the positions in groups whose members begin at ``starts``."""
        for inner in slot.inner:
            key = np.full(slot.count, 0 if inner.key is None else contents.key_pointers[inner.key])
            if self._keys.is_first(inner):
                parent = self._keys.parent[inner.key]
                positions.keys[inner.key] = starts[parent]
                key[parent] = contents.key_texts[inner.key]
            begins, written = (starts + key)[inner.parent], inner.written()
            positions.values[inner.shared[written]] = begins[written]
            if inner.inner:
                self._place(inner, begins + contents.headers(inner), contents, positions)
            starts = starts + contents.first[inner.number]
