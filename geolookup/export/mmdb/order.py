"""The order of records, and which of them has each shared value in full: the first.

Strategy: outer members first, the first record of a value follows from those of its parents.
Records that have such values come first, those before others whose values are used most, so that
most pointers are short. The order decides which records are first, so it is found twice; more
often changes little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64
from geolookup.export.mmdb.slots import NOWHERE, Slot


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
    keys: Keys

    def is_first(self, part: int) -> NDArray[np.bool_]:
        """Return which records are the first with their code in a part."""
        found: NDArray[np.bool_] = (
            np.append(self.parts[part].record, NOWHERE)[self.codes[part]] == self.numbers
        )
        return found


class Keys:
    """The keys of maps: of each the first record that has it, and where in it."""

    def __init__(self, count: int) -> None:
        self.record = np.full(count, NOWHERE)
        self.slot = np.full(count, NOWHERE)
        self.parent = np.full(count, -1)

    def found(self, slot: Slot, record: int, parent: int) -> None:
        """Keep a place of the key of a slot if it is the first so far."""
        key = slot.key
        if key is not None and (record, slot.number) < (self.record[key], self.slot[key]):
            self.record[key], self.slot[key], self.parent[key] = record, slot.number, parent


def order_of(parts: Sequence[Slot], codes: Sequence[I64], uses: I64, keys: int) -> Order:
    """Return the order of records with these codes in the parts; ``uses`` are by shared value."""
    found = _ordered(parts, codes, uses, keys)
    again = _ordered(parts, found.codes, uses, keys)
    return again._replace(records=found.records[again.records])


def _ordered(parts: Sequence[Slot], codes: Sequence[I64], uses: I64, keys: int) -> Order:
    found = Keys(keys)
    for part, of_part in zip(parts, codes, strict=True):
        part.record = _firsts(of_part, part.count)
    _find_first(parts, len(uses), found)
    weights = np.zeros(len(codes[0]), np.int64)
    weights[found.record[found.record != NOWHERE]] = 1 + uses.sum()
    for slot in (each for part in parts for each in part.all()):
        written = slot.written()
        np.add.at(weights, slot.record[written], uses[slot.shared[written]])
    having = np.flatnonzero(weights)
    having = having[np.argsort(-weights[having], kind="stable")]
    order = np.concatenate([having, np.flatnonzero(weights == 0)])
    return Order(order, order, len(having), parts, [each[order] for each in codes], found)


def _firsts(codes: I64, count: int) -> I64:
    """Return where each of ``count`` codes is first."""
    found = np.full(count + 1, NOWHERE)
    found[codes[::-1]] = np.arange(len(codes))[::-1]
    return found[:-1]


def _find_first(parts: Sequence[Slot], shared: int, keys: Keys) -> None:
    """Set which record has each value in full; ``record`` of the parts is known."""
    heights = sorted({each.member.height for part in parts for each in part.all()}, reverse=True)
    for part in parts:
        _find_occurrences(part, keys)
    for height in heights:
        level = [each for part in parts for each in part.all() if each.member.height == height]
        firsts = np.full(shared, NOWHERE)
        places = len(level) and 1 + max(each.number for each in level)
        for slot in level:
            at = slot.written()
            np.minimum.at(firsts, slot.shared[at], slot.record[at] * places + slot.number)
        for slot in level:
            at = slot.written()
            is_first = firsts[slot.shared[at]] == slot.record[at] * places + slot.number
            slot.record[at[~is_first]] = NOWHERE
            _find_occurrences(slot, keys)


def _find_occurrences(slot: Slot, keys: Keys) -> None:
    """Set in which record, and in which parent there, the members of a group first occur."""
    if not slot.inner:
        return
    latest_first = np.argsort(-slot.record, kind="stable")
    latest_first = latest_first[np.count_nonzero(slot.record == NOWHERE) :]
    for each, codes in zip(slot.inner, slot.group.rows.T, strict=True):
        each.record, each.parent = np.full(each.count, NOWHERE), np.full(each.count, -1)
        parents = latest_first[codes[latest_first] >= 0]
        # Of several parents with one code, the last assignment counts: the earliest record.
        each.record[codes[parents]] = slot.record[parents]
        each.parent[codes[parents]] = parents
        if len(parents):
            keys.found(each, int(slot.record[parents[-1]]), int(parents[-1]))
