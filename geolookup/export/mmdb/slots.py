"""The places of members in records, and which of their values are shared.

A value that several parents have is written in the first record that contains it, where it first
occurs there, and other parents have a pointer to it; so each value that begins outside of others
is a record. The writers of MaxMind do the same, and the verifier of its reader in Go demands it.

Strategy: inner members first, equal values become one number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64
from geolookup.export.mmdb.encoding import BINARY, joined, lengths, pointers
from geolookup.export.mmdb.members import Group, Leaf, Member, is_array

#: The bytes of most pointers of a large file; those of small files and to frequent values are less.
_POINTER = 4
#: The least position whose pointer has so many bytes.
_FAR = 526_336
#: In place of a record: the value is written in full nowhere in this slot.
NOWHERE = np.iinfo(np.int64).max
_NONE = np.zeros(0, np.int64)


@dataclass(slots=True)
class Slot:
    """A member at its place in the structure of records; arrays are by code of the member.

    ``number`` ascends in the order in which records contain members. ``key`` is the number of the
    key, None in an array. ``shared`` is the number of the value if others have a pointer to it,
    else -1. ``record`` is the first record that contains the value in full in this slot, and
    ``parent`` the code of what contains it there.
    """

    member: Member
    number: int
    key: int | None
    inner: list[Slot] = field(default_factory=list)
    shared: I64 = field(default_factory=_NONE.copy)
    record: I64 = field(default_factory=_NONE.copy)
    parent: I64 = field(default_factory=_NONE.copy)

    @property
    def count(self) -> int:
        """The number of codes."""
        return len(self.member.encoded if isinstance(self.member, Leaf) else self.member.rows)

    @property
    def group(self) -> Group:
        """The member, which is known to be a group."""
        return cast(Group, self.member)

    def all(self) -> Iterator[Slot]:
        """Yield the slots within this one, outer ones first."""
        for each in self.inner:
            yield each
            yield from each.all()

    def written(self) -> I64:
        """Return the codes that are shared, and in full here."""
        return np.flatnonzero((self.shared >= 0) & (self.record != NOWHERE))

    def is_within(self, at: int) -> tuple[I64, NDArray[np.bool_]]:
        """Return the codes of the inner slot ``at`` by code, and which are in full there."""
        codes = self.group.rows[:, at]
        record = np.append(self.inner[at].record, NOWHERE)[codes]
        return codes, (record == self.record) & (record != NOWHERE)


def slots_of(part: Group, keys: Sequence[str], first: int) -> Slot:
    """Return the slot of a part of the records, and those within it, numbered from ``first``."""
    numbers = iter(range(first, NOWHERE))

    def made(member: Member, key: int | None) -> Slot:
        slot = Slot(member, next(numbers), key)
        if isinstance(member, Group):
            listed = is_array(member.members)
            for name, each in member.members.items():
                slot.inner.append(made(each, None if listed else keys.index(name)))
        return slot

    return made(part, None)


def number_shared(uses: Sequence[tuple[Slot, I64]]) -> I64:
    """Number the values that are shared, and return how many parents each has.

    ``uses`` are the slots but those of parts, each with how many parents each code has.
    """
    counts = [_NONE]
    references: dict[int, pa.Array] = {}
    begin = 0
    for height in range(1 + max((each.member.height for each, _ in uses), default=-1)):
        level = [(slot, parents) for slot, parents in uses if slot.member.height == height]
        values = [_identified(slot, references) for slot, _ in level]
        parents = np.concatenate([each for _, each in level])
        shared, found, count = _shared(pa.concat_arrays(values), parents, begin)
        counts.append(count)
        begin += len(count)
        ends = np.cumsum([slot.count for slot, _ in level])
        for (slot, _), end in zip(level, ends, strict=True):
            slot.shared = shared[end - slot.count : end]
            references[slot.number] = found.slice(end - slot.count, slot.count)
    return np.concatenate(counts)


def _identified(slot: Slot, references: dict[int, pa.Array]) -> pa.Array:
    """Return bytes that are equal for equal values, about as many as the value has."""
    if isinstance(slot.member, Leaf):
        return slot.member.encoded
    parts = [slot.member.headers.take(pa.array(slot.member.counts))]
    for each, codes in zip(slot.inner, slot.member.rows.T, strict=True):
        key = pa.scalar(b"" if each.key is None else pointers(np.array([each.key]))[0].as_py())
        keyed = joined(key.cast(BINARY), references[each.number])
        parts.append(keyed.take(pa.array(codes, mask=codes < 0)))
    return joined(*parts)


def _shared(values: pa.Array, parents: I64, begin: int) -> tuple[I64, pa.Array, I64]:
    """Return the number of each value that is shared, and what stands for each in its parents."""
    pooled = values.cast(BINARY).dictionary_encode()
    distinct = pooled.dictionary
    codes = pooled.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    count = np.bincount(codes, parents, len(distinct)).astype(np.int64)
    sizes = lengths(distinct)
    is_shared = (count > 1) & (sizes > _POINTER)
    numbers = np.where(is_shared, begin + np.cumsum(is_shared) - 1, -1)
    stand_ins = pointers(_FAR + numbers[is_shared])
    chosen = np.where(is_shared, len(distinct) + numbers - begin, np.arange(len(distinct)))
    references = pa.concat_arrays([distinct, stand_ins]).take(pa.array(chosen[codes]))
    return numbers[codes], references, count[is_shared]
