"""The bytes of records, each with pointers or values in full.

Strategy: the members of a group are encoded twice by code, as they are where the group is first
and as they are elsewhere; a record takes one of both.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from geolookup.export.mmdb.encoding import binary, joined, pointers
from geolookup.export.mmdb.members import Leaf
from geolookup.export.mmdb.order import Keys
from geolookup.export.mmdb.positions import Positions
from geolookup.export.mmdb.slots import Slot


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
