"""Which values of records are shared, and which record has each of them in full: the first.

A value that several parents have is written at its first occurrence in the first record that
contains it. Other parents have a pointer to it. So each value that begins outside of others is a
record. The writers of MaxMind do the same, and the verifier of its reader in Go demands it.

Strategy: from inner members outwards, equal values become one number. Then from outer members
inwards, the first record of a value follows from the first records of its parents. Records with
shared values come first, the most used ones at the beginning, where pointers are short. The order
decides which records are first, so it is computed twice; more often changes little.

Example: records 1 ``{country: {iso: AT}}`` and 2 ``{country: {iso: AT}, asn: 5}``. The map of the
country has two parents. Record 1 has it in full, and record 2 a pointer to its position. The
key ``country`` is a value like any other: record 1 has it in full too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64
from geolookup.export.mmdb.encoding import BINARY, join, lengths, pointers
from geolookup.export.mmdb.members import Group, Leaf, Member

#: The bytes of most pointers of a large file, and of pointers to its frequent values. A value with
#: one in so many uses of all values is frequent; it lies near the beginning.
_POINTER, _SHORT_POINTER, _FREQUENT = 4, 2, 256
#: The least position whose pointer has so many bytes.
_FAR = 526_336
#: Instead of a record: the value is written in full nowhere in this slot.
NOWHERE = np.iinfo(np.int64).max
_NONE = np.zeros(0, np.int64)


@dataclass(slots=True)
class Slot:
    """A member at its place in the structure of records; arrays are by code of the member.

    ``number`` ascends in the order in which records contain members. ``shared`` is the number of
    the value if others have a pointer to it, else -1. ``record`` is the first record that contains
    the value in full in this slot, and ``parent`` the code of its parent in that record.
    """

    member: Member
    number: int
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
        """The member, if it is a group."""
        return cast(Group, self.member)

    def all(self) -> Iterator[Slot]:
        """Yield the slots within this one, outer ones first."""
        for slot in self.inner:
            yield slot
            yield from slot.all()

    def codes_in_full(self) -> I64:
        """Return the codes that are shared, and in full here."""
        return np.flatnonzero((self.shared >= 0) & (self.record != NOWHERE))

    def is_within(self, at: int) -> tuple[I64, NDArray[np.bool_]]:
        """Return the codes of the inner slot ``at`` by code, and which are in full in it."""
        codes = self.group.rows[:, at]
        # The code -1 takes the last entry, NOWHERE.
        record = np.append(self.inner[at].record, NOWHERE)[codes]
        return codes, (record == self.record) & (record != NOWHERE)


def slots_of(part: Group, first: int) -> Slot:
    """Return the slot of a part of the records, and those within it, numbered from ``first``."""
    numbers = iter(range(first, NOWHERE))

    def slot_of(member: Member) -> Slot:
        slot = Slot(member, next(numbers))
        slot.inner = [slot_of(inner) for inner in member.inner] if isinstance(member, Group) else []
        return slot

    return slot_of(part)


def number_shared(uses: Sequence[tuple[Slot, I64]]) -> I64:
    """Number the values that are shared, and return how many parents each has.

    ``uses`` are the slots within parts, with the number of parents of each code.
    """
    counts = [_NONE]
    references: dict[int, pa.Array] = {}
    begin = 0
    for height in range(1 + max((slot.member.height for slot, _ in uses), default=-1)):
        level = [(slot, parents) for slot, parents in uses if slot.member.height == height]
        values = [_identities(slot, references) for slot, _ in level]
        parents = np.concatenate([slot for _, slot in level])
        # A value that is shared is compared, on the next level, by the pointer that stands for it.
        shared, stand_ins, count = _share_values(pa.concat_arrays(values), parents, begin)
        counts.append(count)
        begin += len(count)
        ends = np.cumsum([slot.count for slot, _ in level])
        for (slot, _), end in zip(level, ends, strict=True):
            slot.shared = shared[end - slot.count : end]
            references[slot.number] = stand_ins.slice(end - slot.count, slot.count)
    return np.concatenate(counts)


def _identities(slot: Slot, references: dict[int, pa.Array]) -> pa.Array:
    """Return bytes that are equal for equal values, about as many as the value has."""
    if isinstance(slot.member, Leaf):
        return slot.member.encoded
    parts = [slot.member.headers.take(pa.array(slot.member.counts))]
    for inner, codes in zip(slot.inner, slot.member.rows.T, strict=True):
        parts.append(references[inner.number].take(pa.array(codes, mask=codes < 0)))
    return join(*parts)


def _share_values(values: pa.Array, parents: I64, begin: int) -> tuple[I64, pa.Array, I64]:
    """Return the number of each shared value, the content of each value in parents, and uses."""
    pooled = values.cast(BINARY).dictionary_encode()
    distinct = pooled.dictionary
    codes = pooled.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    count = np.bincount(codes, parents, len(distinct)).astype(np.int64)
    sizes = lengths(distinct)
    is_frequent = count > count.sum() // _FREQUENT
    # A pointer must be shorter than the value.
    is_shared = (count > 1) & (sizes > np.where(is_frequent, _SHORT_POINTER, _POINTER))
    numbers = np.where(is_shared, begin + np.cumsum(is_shared) - 1, -1)
    # Positions are not known yet: a pointer by number, of the size of a long one, stands for it.
    stand_ins = pointers(_FAR + numbers[is_shared])
    # The stand-ins follow the distinct values: of 5 with 1 and 3 shared, 0 5 2 6 4.
    positions = np.where(is_shared, len(distinct) + numbers - begin, np.arange(len(distinct)))
    references = pa.concat_arrays([distinct, stand_ins]).take(pa.array(positions[codes]))
    return numbers[codes], references, count[is_shared]


class Order(NamedTuple):
    """Records in the order of the file, the first ``having`` of them with values in full.

    ``records`` are their positions in the arguments, ``numbers`` are those that slots have for
    them, ``codes`` are their codes in each of ``parts``, -1 for none.
    """

    records: I64
    numbers: I64
    having: int
    parts: Sequence[Slot]
    codes: Sequence[I64]

    def is_first(self, part: int) -> NDArray[np.bool_]:
        """Return which records are the first with their code in a part."""
        is_first: NDArray[np.bool_] = (
            np.append(self.parts[part].record, NOWHERE)[self.codes[part]] == self.numbers
        )
        return is_first


def order_of(parts: Sequence[Slot], codes: Sequence[I64], uses: I64) -> Order:
    """Return the order of records with these codes in the parts; ``uses`` are by shared value."""
    first_order = _order(parts, codes, uses)
    again = _order(parts, first_order.codes, uses)
    return again._replace(records=first_order.records[again.records])


def _order(parts: Sequence[Slot], codes: Sequence[I64], uses: I64) -> Order:
    for part, of_part in zip(parts, codes, strict=True):
        part.record = _firsts(of_part, part.count)
    _find_first(parts, len(uses))
    # The weight of a record: the uses of all values that it has in full.
    weights = np.zeros(len(codes[0]), np.int64)
    for slot in (inner for part in parts for inner in part.all()):
        in_full = slot.codes_in_full()
        np.add.at(weights, slot.record[in_full], uses[slot.shared[in_full]])
    having = np.flatnonzero(weights)
    having = having[np.argsort(-weights[having], kind="stable")]
    order = np.concatenate([having, np.flatnonzero(weights == 0)])
    return Order(order, order, len(having), parts, [of_part[order] for of_part in codes])


def _firsts(codes: I64, count: int) -> I64:
    """Return where each of ``count`` codes is first."""
    firsts = np.full(count + 1, NOWHERE)
    # Of repeated indices the last assignment counts: in reverse, the first record.
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]
    return firsts[:-1]


def _find_first(parts: Sequence[Slot], shared: int) -> None:
    """Set which record has each value in full; ``record`` of the parts is known."""
    heights = sorted({slot.member.height for part in parts for slot in part.all()}, reverse=True)
    for part in parts:
        _find_occurrences(part)
    for height in heights:
        level = [slot for part in parts for slot in part.all() if slot.member.height == height]
        firsts = np.full(shared, NOWHERE)
        places = len(level) and 1 + max(slot.number for slot in level)
        for slot in level:
            at = slot.codes_in_full()
            # By record, then by slot: the least key is where the value is read first.
            np.minimum.at(firsts, slot.shared[at], slot.record[at] * places + slot.number)
        for slot in level:
            at = slot.codes_in_full()
            is_first = firsts[slot.shared[at]] == slot.record[at] * places + slot.number
            slot.record[at[~is_first]] = NOWHERE
            _find_occurrences(slot)


def _find_occurrences(slot: Slot) -> None:
    """Set the record, and the parent in it, in which the members of a group first occur."""
    if not slot.inner:
        return
    latest_first = np.argsort(-slot.record, kind="stable")
    latest_first = latest_first[np.count_nonzero(slot.record == NOWHERE) :]
    for inner, codes in zip(slot.inner, slot.group.rows.T, strict=True):
        inner.record, inner.parent = np.full(inner.count, NOWHERE), np.full(inner.count, -1)
        parents = latest_first[codes[latest_first] >= 0]
        # Of several parents with one code, the last assignment counts: the earliest record.
        inner.record[codes[parents]] = slot.record[parents]
        inner.parent[codes[parents]] = parents
