"""The distinct values of one layer over a whole build, numbered while sources are read.

Each batch of rows is reduced to its distinct value tuples; a row keeps one 32-bit number
for each layer. Equal tuples of different batches have different numbers until ``intern``
merges those in use. So memory grows by one number per row and layer. Sources are read in
sequence, so a number also identifies its source (``provenance``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.schema import Schema
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import Bools
from geolookup.dataset.runs import Codes, factorize
from geolookup.parallel import in_order, threads_for
from geolookup_builder.memory import release
from geolookup_builder.values import value_type

#: The number of the tuple in which every field is unknown.
UNKNOWN = 0


@dataclass(frozen=True, slots=True)
class Column:
    """One field of a batch: for each row a code (-1 for null) into distinct cleaned values."""

    codes: Codes
    values: pa.Array

    @classmethod
    def of(cls, codes: Codes, values: pa.Array) -> Column:
        """Return a column of values that may repeat or be null: "de" and "DE" are one country."""
        encoded = values.dictionary_encode()
        of_value = without_nulls(encoded.indices, -1).to_numpy()
        # One more entry: the code -1 maps to -1.
        return cls(np.append(of_value, np.int32(-1))[codes], encoded.dictionary)

    @property
    def nbytes(self) -> int:
        """The bytes of the codes and of the values."""
        return self.codes.nbytes + int(self.values.nbytes)

    def decoded(self) -> pa.Array:
        """Return the value of each row."""
        if not len(self.values):
            return pa.nulls(len(self.codes), self.values.type)
        return self.values.take(pa.array(self.codes, mask=self.codes < 0))


@dataclass(frozen=True, slots=True)
class Tuples:
    """Value tuples of one layer: by field, a code for each tuple (-1 for null) into values."""

    fields: Mapping[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.fields.values())).codes)

    def take(self, rows: NDArray[np.integer] | slice) -> Tuples:
        """Return the tuples at ``rows``."""
        columns = self.fields.items()
        return Tuples({name: Column(column.codes[rows], column.values) for name, column in columns})

    def replace(self, name: str, values: pa.Array) -> Tuples:
        """Return the tuples with new values of one field, one for each tuple."""
        return Tuples(
            {**self.fields, name: Column.of(np.arange(len(values), dtype=np.int32), values)}
        )

    def keep(self, names: frozenset[str]) -> Tuples:
        """Return the tuples with only these fields; the others are null."""
        nulls = {name: _nulls(len(self), of.values.type) for name, of in self.fields.items()}
        return Tuples({**nulls, **{name: self.fields[name] for name in nulls if name in names}})

    def is_known(self) -> Bools:
        """Mark the tuples with a value."""
        marks: Bools = np.logical_or.reduce([codes >= 0 for codes in self.codes()])
        return marks

    def codes(self, *names: str) -> list[Codes]:
        """Return the codes of the named fields, by default of all fields."""
        return [self.fields[name].codes for name in names or self.fields]

    def values(self, name: str) -> pa.Array:
        """Return a field's value in each tuple."""
        return self.fields[name].decoded()


#: The distinct tuples of a layer in a batch of rows, in order of first appearance; before them,
#: for each row the index of its tuple, -1 for unknown.
Distinct = tuple[Codes, Tuples]


def distinct(columns: Mapping[str, Column], is_nulled: Bools) -> Distinct:
    """Number the distinct tuples of rows; those ``is_nulled`` or null in all fields are unknown."""
    tuples = Tuples(columns)
    is_known = tuples.is_known() & ~is_nulled
    rows = slice(None) if is_known.all() else np.flatnonzero(is_known)
    known, numbers = tuples.take(rows), np.full(len(is_nulled), -1, np.int32)
    numbers[rows], first = factorize(known.codes())
    return numbers, known.take(first)


class LayerValues:
    """The value tuples of one layer; number 0 is unknown."""

    def __init__(self, layer: str, schema: Schema) -> None:
        fields = [schema.by_source_column[name] for name in schema.stated[layer]]
        self.layer, self.table, self.size = layer, fields[0].table, 1
        #: The types of its fields, by their columns in sources.
        self.types = {field.source_column: value_type(field) for field in fields}
        self.nbytes = 0  # of the tuples and their values
        self._parts = {name: [_nulls(1, kind)] for name, kind in self.types.items()}
        self._begins = list[int]()  # the size before each source
        self._own = slice(1, None)  # the parts of the current source

    def begin_source(self) -> None:
        """Assign the following numbers to the next source: equal tuples are merged in it."""
        self._begins.append(self.size)
        self._own = slice(len(self._parts[next(iter(self.types))]), None)

    def merge_equal(self) -> Callable[[Codes], Codes]:
        """Merge equal tuples of the current source; return the function of the new numbers.

        Tuples that were merged before keep their numbers: they come first, and all differ.
        """
        begin, own = self._begins[-1], self._own
        if min(len(parts[own]) for parts in self._parts.values()) < 2:
            return lambda codes: codes  # merged, or all of one batch: nothing is equal
        self.nbytes -= self._bytes_of(own)
        for parts in self._parts.values():  # the parts of one field after the other are released
            parts[own] = [_join(parts[own])]
            release()
        tuples = Tuples({name: parts[-1] for name, parts in self._parts.items()})
        same, first = factorize(tuples.codes())
        for name, column in tuples.take(first).fields.items():
            self._parts[name][-1] = column
        self.nbytes += self._bytes_of(own)
        self.size = begin + len(first)
        # Index 0 is UNKNOWN, index 1 the first number of the source.
        numbers = np.append(np.int32(UNKNOWN), same + np.int32(begin))
        return lambda codes: numbers[np.maximum(codes - np.int32(begin - 1), UNKNOWN)]

    def _bytes_of(self, own: slice) -> int:
        return sum(part.nbytes for parts in self._parts.values() for part in parts[own])

    def source_numbers(self) -> NDArray[np.uint8]:
        """Return the source (from 1) of each number; 0 for UNKNOWN."""
        # Begins 1, 4, 4 and size 9: 1 to 3 are of source 1, none of source 2, 4 to 8 of source 3.
        sizes = np.diff([UNKNOWN, *self._begins, self.size])
        return np.repeat(np.arange(len(sizes)).astype(np.uint8), sizes)

    def add(self, batch: Distinct) -> Codes:
        """Add the tuples of a batch; return the number of each of its rows."""
        codes, tuples = batch
        numbers = np.where(codes < 0, np.int32(UNKNOWN), codes + np.int32(self.size))
        size = len(tuples)
        self.size += size
        for name, kind in self.types.items() if size else ():
            part = tuples.fields.get(name) or _nulls(size, kind)
            self._parts[name].append(part)
            self.nbytes += part.nbytes
        return numbers

    def tuples(self) -> Tuples:
        """Return all tuples in order of their numbers; number 0 is null in all fields."""
        with in_order(_join, self._parts.values(), threads_for(self.size)) as columns:
            return self._keep(Tuples(dict(zip(self.types, columns, strict=True))))

    def _keep(self, tuples: Tuples) -> Tuples:
        """Return all tuples, and keep them: joined, values of several batches are there once."""
        self._parts = {name: [column] for name, column in tuples.fields.items()}
        return tuples

    def fill_from_below(self, key: str, name: str) -> int:
        """Give tuples with a key and no name the name that a source below gives the key.

        Of several sources the first one below decides, of its tuples the first. Returns how many
        keys took a name. Example, with numbers of autonomous systems: sites.csv states 64500
        without a name, the next source 64500 twice, as A and as B: sites.csv answers A.
        """
        tuples = self.tuples()
        keys, names = tuples.codes(key, name)  # the names are changed in place
        known = np.full(len(tuples.fields[key].values) + 1, -1, np.int32)  # the last: no key
        is_filled = np.zeros(len(known), bool)
        for begin, end in reversed([*pairwise([*self._begins, self.size])]):
            of_keys, of_names = keys[begin:end], names[begin:end]
            missing = np.flatnonzero(of_names < 0)
            # Of repeated indices numpy keeps the last assignment: in reverse, the first tuple.
            stated = np.flatnonzero((of_keys >= 0) & (of_names >= 0))[::-1]
            of_names[missing] = known[of_keys[missing]]
            is_filled[of_keys[missing[of_names[missing] >= 0]]] = True
            known[of_keys[stated]] = of_names[stated]
        return int(np.count_nonzero(is_filled))

    def keep(self, names: frozenset[str]) -> Bools:
        """Make the fields but these null in all tuples; mark the numbers that have a value."""
        return self._keep(self.tuples().keep(names)).is_known()

    def of_used(self, is_used: Bools) -> tuple[Tuples, Codes]:
        """Return the distinct tuples of the marked numbers; UNKNOWN, the first, is marked.

        Also return the tuple of each number up to the last that may be marked; 0 if it is not.
        """
        of_number = np.zeros(len(is_used), np.int32)
        used = np.flatnonzero(is_used)
        tuples = self.tuples()
        tuples = tuples.take(used) if len(used) < self.size else tuples
        of_number[used], first = factorize(tuples.codes())
        # All differ: the tuples are not copied.
        return tuples if len(first) == len(used) else tuples.take(first), of_number


def _nulls(size: int, kind: pa.DataType) -> Column:
    return Column(np.full(size, -1, np.int32), pa.nulls(0, kind))


def _join(parts: list[Column]) -> Column:
    """Join columns whose values may repeat between parts."""
    if len(parts) == 1:
        return parts[0]
    if not any(len(part.values) for part in parts):  # as most fields of most sources
        return Column(np.concatenate([part.codes for part in parts]), parts[0].values)
    encoded = pa.concat_arrays([part.values for part in parts]).dictionary_encode()
    numbers = without_nulls(encoded.indices, -1).to_numpy()
    codes, begin = [], 0
    for part in parts:
        # The codes of a part count from its own values on; ``begin`` values are before them.
        # One more entry: the code -1 maps to -1.
        of_part = np.append(numbers[begin : begin + len(part.values)], np.int32(-1))
        codes.append(of_part[part.codes])
        begin += len(part.values)
    return Column(np.concatenate(codes), encoded.dictionary)
