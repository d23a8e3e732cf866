"""The positions of values to which others have pointers.

Strategy: the size of a pointer depends on a position, and positions on the sizes of the pointers
before them. So positions are computed again, from the shortest pointers on, until no pointer gets
longer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geolookup.dataset.intervals import I64
from geolookup.export.mmdb.encoding import lengths, pointer_sizes
from geolookup.export.mmdb.members import Group, Leaf
from geolookup.export.mmdb.order import Order
from geolookup.export.mmdb.slots import Slot


class Positions(NamedTuple):
    """Where shared values begin, by number, and keys."""

    values: I64
    keys: I64


class Places:
    """Computes positions for sizes of pointers; ``headers`` are the sizes of those of records."""

    def __init__(self, order: Order, headers: I64, key_lengths: I64) -> None:
        self._parts, self._keys, self._key_lengths = order.parts, order.keys, key_lengths
        self._codes = [each[: order.having] for each in order.codes]
        self._is_first = [
            each[: order.having] for each in map(order.is_first, range(len(order.parts)))
        ]
        self._headers = headers[: order.having]
        self._own = {
            each.number: lengths(each.member.encoded)
            for part in order.parts
            for each in part.all()
            if isinstance(each.member, Leaf)
        }
        #: The bytes of each member, with its key, in the groups that have it first.
        self._used: dict[int, I64] = {}

    def found(self, shared: int) -> Positions:
        """Return the positions of so many shared values, and of the keys."""
        found = Positions(np.zeros(shared, np.int64), np.zeros(len(self._key_lengths), np.int64))
        sizes = Positions(*map(pointer_sizes, found))
        while True:
            found = self._placed(sizes)
            needed = Positions(*map(pointer_sizes, found))
            if all(map(np.array_equal, needed, sizes)):
                return found
            sizes = needed

    def _placed(self, sizes: Positions) -> Positions:
        parts = [self._headers]
        for part, codes, is_first in zip(self._parts, self._codes, self._is_first, strict=True):
            later, first = (np.append(each, 0)[codes] for each in self._content(part, sizes))
            parts.append(np.where(is_first, first, later))
        begins = np.cumsum(np.sum(parts, axis=0)) - np.sum(parts, axis=0)
        found = Positions(*(np.zeros_like(each) for each in sizes))
        for at, part in enumerate(self._parts):
            begins = begins + parts[at]
            is_first, starts = self._is_first[at], np.zeros(part.count, np.int64)
            starts[self._codes[at][is_first]] = begins[is_first]
            self._place(part, starts, sizes, found)
        return found

    def _content(self, slot: Slot, sizes: Positions) -> tuple[I64, I64]:
        """Return the bytes of the members of a group by code: where it is not first, and where."""
        later, first = (np.zeros(slot.count, np.int64) for _ in range(2))
        for at, each in enumerate(slot.inner):
            later_of, first_of = self._value(each, sizes)
            codes, is_here = slot.is_within(at)
            key = self._key(each, sizes)
            used = np.append(later_of + key, 0)[codes]
            later += used
            used = np.where(is_here, np.append(first_of + key, 0)[codes], used)
            if each.key is not None and self._keys.slot[each.key] == each.number:
                used[self._keys.parent[each.key]] += self._key_lengths[each.key] - key
            self._used[each.number] = used
            first += used
        return later, first

    def _value(self, slot: Slot, sizes: Positions) -> tuple[I64, I64]:
        """Return the bytes of each value: where it is not first, and where it is."""
        if isinstance(slot.member, Leaf):
            first = later = self._own[slot.number]
        else:
            headers = lengths(slot.member.headers)[slot.member.counts]
            later, first = (headers + each for each in self._content(slot, sizes))
        if not len(sizes.values):
            return later, first
        return np.where(slot.shared >= 0, sizes.values[slot.shared], later), first

    def _key(self, slot: Slot, sizes: Positions) -> int:
        return 0 if slot.key is None else int(sizes.keys[slot.key])

    def _place(self, slot: Slot, starts: I64, sizes: Positions, found: Positions) -> None:
        """Set the positions in groups whose members begin at ``starts``."""
        for each in slot.inner:
            key = np.full(slot.count, self._key(each, sizes))
            if each.key is not None and self._keys.slot[each.key] == each.number:
                parent = self._keys.parent[each.key]
                found.keys[each.key] = starts[parent]
                key[parent] = self._key_lengths[each.key]
            inner = (starts + key)[each.parent]
            written = each.written()
            found.values[each.shared[written]] = inner[written]
            if isinstance(each.member, Group):
                headers = lengths(each.member.headers)[each.member.counts]
                self._place(each, inner + headers, sizes, found)
            starts = starts + self._used[each.number]
