"""The records of an MMDB file: values that are written once, their positions, and their bytes.

A *part* is the content that follows from one row of a table; a record is a header and its parts. A
map or an array that several parents contain is written once, and so is a text or number that is
longer than a pointer: one parent contains it in full, the others have a pointer to it, forwards or
backwards. So each value that begins outside of others is a record: the verifier of MaxMind's reader
in Go demands it. Of the records with a part, the first has values in full, the others have only
pointers. Example: of ``{country: {iso: AT}}`` and ``{country: {iso: AT}, asn: 5}``, the map of the
country and the key ``country`` lie in the first record; the second has pointers to both.

Strategy: values have numbers, inner ones first. Uses are counted from the outside inwards, sizes
follow from the inside outwards, positions from the outside inwards. The size of a pointer depends
on the position of its value, so sizes and positions are computed until no pointer grows. Positions
only grow, and pointers have at most 5 bytes: it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, Bools
from geolookup.export.mmdb.encoding import MAP, binary, headers, lengths, pointer_sizes, pointers
from geolookup.export.mmdb.members import Group, Leaf, Member, leaves_of
from geolookup.files.column_text import bytes_of, join

I32 = NDArray[np.int32]
#: The bytes of most pointers of a large file, and of pointers to its frequent values. A value with
#: one in so many uses of all values is frequent; it lies near the beginning.
_POINTER, _SHORT_POINTER, _FREQUENT = 4, 2, 256
#: Records that are encoded at once.
_CHUNK = 1 << 18


class _Table:
    """n groups of one place in the records: maps, arrays, or parts in one of their two forms.

    ``members`` (n, m) are the numbers of the values in them, 0 for none, and ``sizes`` (n, m) their
    bytes; ``in_full`` marks those that are not pointers. ``written`` (n,) counts the copies of
    each part in the file; a map or an array is written once if a record uses it.
    """

    def __init__(self, begin: int, members: I32, heads: pa.Array, written: I64 | None) -> None:
        self.numbers = slice(begin, begin + len(members))
        self.members, self.heads, self.head_sizes = members, heads, lengths(heads)
        self.is_part = written is not None
        self.written = np.zeros(0, np.int64) if written is None else written
        self.in_full: Bools = np.broadcast_to(np.False_, members.shape)
        self.sizes: I32 = np.zeros((0, 0), np.int32)


class Records:
    """Records, given by the code of each part; -1 for none.

    ``positions`` has the offset of each record in a data section of ``size`` bytes.
    """

    def __init__(self, parts: Sequence[Group], codes: Sequence[I64]) -> None:
        leaves = [leaf.encoded for part in parts for leaf in leaves_of(part)]
        pooled = pa.concat_arrays([binary([b""]), *leaves]).dictionary_encode()
        # Values by number: 0 is no value, then leaves, then maps, arrays and parts.
        self._leaves, self._count = pooled.dictionary, len(pooled.dictionary)
        self._unread = pooled.indices.to_numpy()[1:]
        self._tables: list[_Table] = []
        #: the tables whose groups can have values in full: not the later forms of parts
        self._full: list[_Table] = []
        pairs = [*zip(parts, codes, strict=True)]
        members = np.stack([self._add_part(*pair) for pair in pairs], axis=1)
        counts = np.sum([np.append(part.counts, 0)[of] for part, of in pairs], axis=0)
        self._shared, uses = self._choose_shared()
        weights = self._choose_in_full(uses)
        # Records whose values have many uses come first: pointers to the beginning are short.
        order = np.argsort(-weights[members].sum(axis=1), kind="stable")
        self._heads, self._members = headers(MAP, counts[order]), members[order]
        self._positions, begins = self._place()
        self.positions = np.empty_like(begins[:-1])
        self.positions[order], self.size = begins[:-1], int(begins[-1])

    def _add_part(self, part: Group, codes: I64) -> I32:
        """Add both forms of a part; return the number of its form by record."""
        written = np.bincount(codes[codes >= 0], minlength=len(part.rows))
        once, members = np.minimum(written, 1), self._members_of(part)
        none = binary([b""]).take(pa.array(np.zeros_like(once)))
        first, later = (self._add(members, none, times) for times in (once, written - once))
        self._full.append(first)
        # Of repeated indices the last assignment counts: in reverse, the first record.
        firsts = np.empty(len(once) + 1, np.int64)
        firsts[codes[::-1]] = np.arange(len(codes))[::-1]
        is_first = firsts[codes] == np.arange(len(codes))
        begins = np.where(is_first, first.numbers.start, later.numbers.start)
        return np.where(codes >= 0, begins + codes, 0).astype(np.int32)

    def _add(self, members: I32, heads: pa.Array, written: I64 | None = None) -> _Table:
        table = _Table(self._count, members, heads, written)
        self._tables.append(table)
        self._count += len(members)
        return table

    def _members_of(self, group: Group) -> I32:
        """Return the numbers of the values in a group, by code and member."""
        pairs = zip(group.inner, group.rows.T, strict=True)
        # The code -1 takes the last entry.
        columns = [np.append(self._numbers(inner), 0)[codes] for inner, codes in pairs]
        return np.stack(columns, axis=1).astype(np.int32)

    def _numbers(self, member: Member) -> I32:
        """Return the number of each code of a member; leaves come in the order of the pool."""
        if isinstance(member, Leaf):
            numbers, self._unread = np.split(self._unread, [len(member.encoded)])
            return numbers
        table = self._add(self._members_of(member), headers(member.kind, member.counts))
        self._full.append(table)
        return np.arange(table.numbers.start, table.numbers.stop, dtype=np.int32)

    def _choose_shared(self) -> tuple[I64, I64]:
        """Return the values that pointers lead to, and the uses of all values."""
        uses = np.zeros(self._count, np.int64)
        for table in reversed(self._tables):
            if not table.is_part:
                table.written = np.minimum(uses[table.numbers], 1)
            weights = np.repeat(table.written, table.members.shape[1])
            uses += np.bincount(table.members.ravel(), weights, self._count).astype(np.int64)
        sizes = lengths(self._leaves)
        is_frequent = uses[: len(sizes)] > uses[1:].sum() // _FREQUENT
        shared = uses > 1
        # A pointer must be shorter than the leaf.
        shared[: len(sizes)] &= sizes > np.where(is_frequent, _SHORT_POINTER, _POINTER)
        return np.flatnonzero(shared), uses

    def _choose_in_full(self, uses: I64) -> I64:
        """Choose the parent that has each value in full; return the uses of all values within."""
        chosen, weights = np.full(self._count, -1), np.zeros(self._count, np.int64)
        weights[self._shared] = uses[self._shared]
        ends = np.cumsum([table.members.size for table in self._full])
        # A number for each place of a value in a parent.
        places = [
            (end - table.members.size + np.arange(table.members.size)).reshape(table.members.shape)
            for table, end in zip(self._full, ends, strict=True)
        ]
        for table, at in zip(self._full, places, strict=True):
            # Of repeated indices the last assignment counts: in reverse, the first row.
            rows = np.flatnonzero(table.written)[::-1]
            chosen[table.members[rows]] = at[rows]
        for table, at in zip(self._full, places, strict=True):
            table.in_full = chosen[table.members] == at
            weights[table.numbers] += (weights[table.members] * table.in_full).sum(axis=1)
        return weights

    def _place(self) -> tuple[I64, I64]:
        """Return the positions of values, and where records begin; last, where they end."""
        full, positions = np.zeros(self._count, np.int32), np.zeros(self._count, np.int64)
        full[: len(self._leaves)] = lengths(self._leaves)
        brief, heads = full.copy(), lengths(self._heads)
        pointed, has_grown = pointer_sizes(positions[self._shared]), True
        while has_grown:
            brief[self._shared] = pointed
            for table in self._tables:
                members = table.members
                table.sizes = np.where(table.in_full, full[members], brief[members])
                full[table.numbers] = table.head_sizes + table.sizes.sum(axis=1)
            sizes = full[self._members]
            begins = np.append(0, np.cumsum(heads + sizes.sum(axis=1, dtype=np.int64)))
            positions[self._members] = (begins[:-1] + heads)[:, None] + _before(sizes)
            for table in reversed(self._full):
                starts = positions[table.numbers] + table.head_sizes
                at = table.in_full
                positions[table.members[at]] = (starts[:, None] + _before(table.sizes))[at]
            pointed = pointer_sizes(positions[self._shared])
            has_grown = not np.array_equal(pointed, brief[self._shared])
        return positions, begins

    def chunks(self) -> Iterator[pa.Buffer]:
        """Yield the bytes of the data section."""
        pool = pa.concat_arrays([self._leaves, pointers(self._positions[self._shared])])
        where = np.zeros(self._count, np.int64)
        where[: len(self._leaves)] = np.arange(len(self._leaves))
        where[self._shared] = len(self._leaves) + np.arange(len(self._shared))
        brief, full = pool.take(pa.array(where)), self._leaves
        for table in self._tables:
            both = pa.concat_arrays([brief, full])
            at = table.members + table.in_full * np.int32(self._count)
            full = pa.concat_arrays([full, join(table.heads, *_columns(both, at))])
        for begin in range(0, len(self._members), _CHUNK):
            rows = slice(begin, begin + _CHUNK)
            yield bytes_of(join(self._heads[rows], *_columns(full, self._members[rows])))


def _before(sizes: I32) -> I32:
    """Return the sum of the sizes before each, by row."""
    return np.cumsum(sizes, axis=1, dtype=np.int32) - sizes


def _columns(values: pa.Array, numbers: I32) -> Iterator[pa.Array]:
    return (values.take(pa.array(column)) for column in numbers.T)
