"""Where the values of records lie, and the bytes of the records.

The members of a group have two forms by code: where the group is not first, every shared value is a
pointer; where it is first, some values are in full. A record takes one of both forms.

Strategy: the size of a pointer depends on a position, and positions on the sizes of the pointers
before them. So positions are computed again, from the shortest pointers on, until no pointer gets
longer. Positions only grow, and a pointer has at most five bytes: it ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64
from geolookup.export.mmdb.encoding import binary, joined, lengths, pointer_sizes, pointers
from geolookup.export.mmdb.members import Group, Leaf
from geolookup.export.mmdb.sharing import Keys, Order, Slot


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


class Contents:
    """Encodes the members of groups."""

    def __init__(self, positions: Positions, keys: Keys, texts: pa.Array) -> None:
        self._values = pointers(positions.values)
        self._key_pointers, self._keys, self._texts = pointers(positions.keys), keys, texts

    def of_part(self, part: Slot) -> pa.Array:
        """Return the bytes of a part by code: where it is not first, then where it is."""
        return pa.concat_arrays(self._of_group(part))

    def _of_group(self, slot: Slot) -> tuple[pa.Array, pa.Array]:
        """Return the bytes of the members by code: where the group is not first, and where."""
        later, first = [], []
        for at, each in enumerate(slot.inner):
            later_of, first_of = self._of(each)
            codes, is_here = slot.is_within(at)
            columns = [self._keyed(each, value) for value in (later_of, first_of)]
            chosen = np.where(is_here, each.count + codes, codes)
            both = pa.concat_arrays(columns)
            later.append(columns[0].take(pa.array(codes, mask=codes < 0)))
            if each.key is not None and self._keys.slot[each.key] == each.number:
                parent = self._keys.parent[each.key]
                value = pa.concat_arrays([later_of, first_of])[int(chosen[parent])]
                in_full = self._texts[each.key].as_py() + value.as_py()
                both = pa.concat_arrays([both, binary([in_full])])
                chosen[parent] = len(both) - 1
            first.append(both.take(pa.array(chosen, mask=codes < 0)))
        return joined(*later), joined(*first)

    def _of(self, slot: Slot) -> tuple[pa.Array, pa.Array]:
        """Return what parents contain of each value: where it is not first, and where it is."""
        if isinstance(slot.member, Leaf):
            later = first = slot.member.encoded
        else:
            headers = slot.member.headers.take(pa.array(slot.member.counts))
            later, first = (joined(headers, each) for each in self._of_group(slot))
        chosen = np.where(slot.shared >= 0, len(later) + slot.shared, np.arange(len(later)))
        return pa.concat_arrays([later, self._values]).take(pa.array(chosen)), first

    def _keyed(self, slot: Slot, values: pa.Array) -> pa.Array:
        if slot.key is None:
            return values
        return joined(self._key_pointers[slot.key], values)
