"""The parts of records: which distinct values and maps the rows of a dataset give.

Strategy: a member is a column of codes, one for each row of the location, network or own table, -1
where the row has no such member. The codes of a map number the distinct combinations of the codes
of its members; so nothing is encoded twice, however many rows have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import COUNTRY, LOCATION, NETWORK, OWN, ZONE, Field
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64
from geolookup.dataset.public_ranges import CONTRACT_TABLES, RowNumbers
from geolookup.dataset.runs import factorize
from geolookup.errors import ExportError
from geolookup.export.mmdb.encoding import ARRAY, ENCODERS, MAP, strings
from geolookup.export.mmdb.schemas import Schema
from geolookup.tables.row_tables import row_tables, table_of

#: Members by key, a field or members again; keys that are digits are positions in an array.
Nested = Mapping[str, "Nested | Field"]


@dataclass(slots=True)
class Leaf:
    """A field: the code of each row, and the encoded value by code."""

    codes: I64
    encoded: pa.Array


@dataclass(slots=True)
class Group:
    """A map or an array: the code of each row, and by code the codes of its content.

    A map contains the key of each member, a leaf of one value, before the member.
    """

    codes: I64
    rows: I64  # (codes, contained)
    inner: Sequence[Member]
    kind: int  # MAP or ARRAY

    @property
    def counts(self) -> I64:
        """How many members the group has, by code."""
        counts: I64 = (self.rows >= 0).sum(axis=1) // (2 if self.kind == MAP else 1)
        return counts


Member = Leaf | Group


def leaves_of(member: Member) -> Iterator[Leaf]:
    """Yield the leaves within a member, in order."""
    if isinstance(member, Leaf):
        yield member
    else:
        yield from chain.from_iterable(map(leaves_of, member.inner))


class Parts:
    """The parts that a schema gives for a dataset: of the location, the network and the own rows.

    The *pair* of a location, a network and an own row is a number that is equal for rows whose
    records are equal, and 0 if the record has no member. Raises ExportError if there may be more
    pairs than 63 bits number.
    """

    def __init__(self, dataset: Dataset, schema: Schema) -> None:
        self._tables, self._schema = row_tables(dataset), schema
        self.by_table: dict[str, Group] = {}
        for table in (LOCATION, NETWORK, OWN):
            # All members of a key are of one table.
            paths = {path: of for path, of in schema.paths.items() if table_of(of) == table}
            if paths:
                self.by_table[table] = self._group(_nest(paths))
        #: the tables whose rows the pairs need, and the space in which these are known
        self.tables = (*CONTRACT_TABLES, OWN) if OWN in self.by_table else CONTRACT_TABLES
        #: by part, how many codes it has, with "none"
        self._sizes = [1 + len(part.rows) for part in self.by_table.values()]
        if prod(self._sizes) > np.iinfo(np.int64).max:
            remedy = "limit it by --fields, or write fewer own columns"
            raise ExportError("the dataset has too many different rows for one file", remedy)

    def pairs(self, rows: RowNumbers) -> I64:
        """Return the pair of each of n intervals, by its rows."""
        pairs = np.zeros(len(rows[LOCATION]), np.int64)
        # Location code l and network code n of N: (l + 1) * N + n + 1. Both -1 is 0.
        # N = 3, for two networks and none: location 1 and network 0 are 2 * 3 + 1 = 7, and
        # divmod(7, 3) is 2, 1.
        for size, (table, part) in zip(self._sizes, self.by_table.items(), strict=True):
            pairs = pairs * size + part.codes[rows[table]] + 1
        return pairs

    def codes(self, pairs: I64) -> list[I64]:
        """Return the codes in each part of n pairs."""
        codes: list[I64] = []
        for size in reversed(self._sizes):
            pairs, code = np.divmod(pairs, size)
            codes.insert(0, code - 1)
        return codes

    def _group(self, members: Nested) -> Group:
        inner = [self._member(member) for member in members.values()]
        codes, rows = _combine([member.codes for member in inner])
        if all(name.isdigit() for name in members):
            return Group(codes, rows, inner, ARRAY)
        keys = [Leaf(np.zeros(0, np.int64), strings(pa.array([name]))) for name in members]
        # The only code of a key is 0: a row has it if it has the member.
        # Members 3 -1 of a row become 0 3 -1 -1: key, value, no key, no value.
        both = np.stack([np.minimum(rows, 0), rows], axis=2).reshape(len(rows), 2 * len(inner))
        return Group(codes, both, [*chain(*zip(keys, inner, strict=True))], MAP)

    def _member(self, member: Nested | Field) -> Member:
        return self._leaf(member) if isinstance(member, Field) else self._group(member)

    def _leaf(self, of: Field) -> Leaf:
        column = self._tables.column(of)
        column = _encoded_lists(column) if pa.types.is_list(column.type) else column
        column = column.dictionary_encode()
        codes: I64 = column.indices.cast(pa.int64()).fill_null(-1).to_numpy()
        if of.table in (COUNTRY, ZONE):
            codes = codes[self._tables.values(LOCATION, of.table).to_numpy()]
        values = column.dictionary
        if of.type == "bool" and self._schema.only_true:
            # The code -1 takes the last entry, false: it stays -1.
            codes = np.where(np.array([*values.to_pylist(), False], bool)[codes], codes, -1)
        words = self._schema.words.get(of.path)
        if words:
            values = pa.array([words.get(word, word) for word in values.to_pylist()], pa.string())
        try:
            return Leaf(codes, ENCODERS[of.type](values))
        except OverflowError as error:
            remedy = "leave the column out, or declare it as real"
            raise ExportError(f"{of.path}: {error}", remedy) from None


def _nest(paths: Mapping[str, Field]) -> Nested:
    """Return the members that paths such as ``city.names.en`` name."""
    members: dict[str, Nested | Field] = {}
    for path, field in paths.items():
        *groups, last = path.split(".")
        at = members
        for name in groups:
            at = at.setdefault(name, {})  # type: ignore[assignment]
        at[last] = field
    return members


def _encoded_lists(column: pa.Array) -> pa.DictionaryArray:
    """Return a column of lists as a dictionary: Arrow encodes no lists; an empty one is null."""
    values = [tuple(texts or ()) for texts in column.to_pylist()]
    numbers = {texts: at for at, texts in enumerate(filter(None, dict.fromkeys(values)))}
    codes = pa.array(map(numbers.get, values), pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(list(numbers), column.type))


def _combine(columns: Sequence[I64]) -> tuple[I64, I64]:
    """Number the distinct combinations of codes of rows; return numbers and combinations.

    The number is -1 where all codes are.
    """
    numbers, firsts = factorize(columns)
    rows = np.stack([codes[firsts] for codes in columns], axis=1)
    is_known = (rows >= 0).any(axis=1)
    renumbered = np.where(is_known, np.cumsum(is_known) - 1, -1)
    return renumbered[numbers], rows[is_known]
