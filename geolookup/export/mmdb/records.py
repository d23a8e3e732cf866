"""The records of an MMDB file: one for each distinct pair of a location and a network.

With own columns the pairs are of three rows. Strategy: the part of a record that follows from the
location row is encoded once for each distinct location, the parts of the other rows likewise; a
record is a header and its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import LOCATION, NETWORK, OWN
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64, U8
from geolookup.dataset.public_ranges import CONTRACT_TABLES, RowNumbers
from geolookup.errors import ExportError
from geolookup.export.mmdb.contents import BYTES, Contents, Places
from geolookup.export.mmdb.encoding import (
    MAP,
    binary,
    header,
    join,
    lengths,
    placed_bytes,
)
from geolookup.export.mmdb.members import Columns, Group, nest, table_of
from geolookup.export.mmdb.schemas import Schema
from geolookup.export.mmdb.sharing import Order, Slot, number_shared, order_of, slots_of
from geolookup.tables.row_tables import row_tables

#: Records that are encoded at once.
_CHUNK = 1 << 18


class DataSection(NamedTuple):
    """The data section, the position of each record in it, and its size."""

    chunks: Sequence[U8]
    positions: I64
    size: int


class Records:
    """The records that a schema gives for a dataset.

    The *pair* of a location, a network and an own row is a number that is equal for rows whose
    records are equal, and 0 if the record has no member. Raises ExportError if there may be more
    pairs than 63 bits number.
    """

    def __init__(self, dataset: Dataset, schema: Schema) -> None:
        members = nest(schema.paths)
        self._members = members
        self._parts: dict[str, Group] = {}
        columns = Columns(row_tables(dataset), schema)
        for table in (LOCATION, NETWORK, OWN):
            of_table = {
                name: member for name, member in members.items() if table_of(member) == table
            }
            if of_table:
                self._parts[table] = columns.group(of_table)
        #: the tables whose rows the pairs need, and the space in which these are known
        self.tables = (*CONTRACT_TABLES, OWN) if OWN in self._parts else CONTRACT_TABLES
        #: by part, how many codes it has, with "none"
        self._sizes = [1 + len(part.rows) for part in self._parts.values()]
        if prod(self._sizes) > np.iinfo(np.int64).max:
            remedy = "limit it by --fields, or write fewer own columns"
            raise ExportError("the dataset has too many different rows for one file", remedy)

    def pairs(self, rows: RowNumbers) -> I64:
        """Return the pair of each of n intervals, by its rows."""
        pairs = np.zeros(len(rows[LOCATION]), np.int64)
        # Location code l and network code n of N: (l + 1) * N + n + 1. Both -1 is 0.
        # N = 3, for two networks and none: location 1 and network 0 are 2 * 3 + 1 = 7, and
        # divmod(7, 3) is 2, 1.
        for size, (table, part) in zip(self._sizes, self._parts.items(), strict=True):
            pairs = pairs * size + part.codes[rows[table]] + 1
        return pairs

    def write(self, pairs: I64) -> DataSection:
        """Encode the records of distinct pairs, none of them 0."""
        of_parts: list[I64] = []
        for size in reversed(self._sizes):
            pairs, codes = np.divmod(pairs, size)
            of_parts.insert(0, codes - 1)
        parts = _slots(list(self._parts.values()))
        uses = number_shared(list(_uses(parts, of_parts)))
        return self._encode(order_of(parts, of_parts, uses), len(uses))

    def _encode(self, order: Order, shared: int) -> DataSection:
        """Encode the records of an order with so many shared values."""
        headers = binary(header(MAP, count) for count in range(len(self._members) + 1))
        counts = np.zeros(len(order.records), np.int64)
        for part, codes in zip(order.parts, order.codes, strict=True):
            # Code -1 reads the appended 0: no member.
            counts += np.append(part.group.counts, 0)[codes]
        positions = Places(order, lengths(headers)[counts]).positions(shared)
        contents = Contents(BYTES, positions)
        columns = [(headers, counts)]
        for at, (part, codes) in enumerate(zip(order.parts, order.codes, strict=True)):
            numbers = np.where(order.is_first(at), part.count + codes, codes)
            columns.append((pa.concat_arrays(contents.of_group(part)), numbers))
        chunks, sizes = [], []
        for begin in range(0, max(len(counts), 1), _CHUNK):
            pieces = (
                BYTES.take(values, numbers[begin : begin + _CHUNK]) for values, numbers in columns
            )
            chunk = join(*pieces)
            sizes.append(lengths(chunk))
            chunks.append(placed_bytes(chunk))
        size = np.concatenate(sizes)
        # In the order of the file; by record of the argument.
        begins = np.empty_like(size)
        begins[order.records] = np.cumsum(size) - size
        return DataSection(chunks, begins, int(size.sum()))


def _slots(parts: Sequence[Group]) -> list[Slot]:
    slots: list[Slot] = []
    for part in parts:
        first = 1 + max((inner.number for slot in slots for inner in slot.all()), default=0)
        slots.append(slots_of(part, first))
    return slots


def _uses(parts: Sequence[Slot], of_parts: Sequence[I64]) -> Iterator[tuple[Slot, I64]]:
    """Yield all slots within parts, and how many parents each code has."""
    for part, codes in zip(parts, of_parts, strict=True):
        parents = _uses_of(codes, part.count)
        yield from _uses_within(part, parents)


def _uses_within(slot: Slot, parents: I64) -> Iterator[tuple[Slot, I64]]:
    for inner, codes in zip(slot.inner, slot.group.rows.T, strict=True):
        count = _uses_of(codes, inner.count, parents)
        yield inner, count
        if inner.inner:
            # A shared group counts its members once, however many parents it has.
            yield from _uses_within(inner, np.ones(len(count), np.int64))


def _uses_of(codes: I64, count: int, parents: I64 | None = None) -> I64:
    """Count each of ``count`` codes; each parent counts once, or as often as stated."""
    is_known = codes >= 0
    weights = None if parents is None else parents[is_known]
    return np.bincount(codes[is_known], weights, count).astype(np.int64)
