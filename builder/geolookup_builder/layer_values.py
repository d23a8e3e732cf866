"""The distinct values of one layer over a whole build, numbered while sources are read.

Strategy: a batch of rows is reduced to its distinct value tuples at once, and
the rows keep one 32-bit number. Equal tuples of different batches have
different numbers until the build is merged; then the used ones are taken out
and interned for good (``intern``), so that nothing grows with the rows but
one number a layer. Sources are read one after another, so a number says which
source it came from, however the layers are merged (``provenance``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup_builder.factorize import factorize
from geolookup_builder.schema import LAYERS
from geolookup_builder.values import value_type

Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]
#: The number of "nothing known".
NOTHING = 0


@dataclass(frozen=True, slots=True)
class Column:
    """One field of a batch: a code a row (-1 for null) into cleaned values."""

    codes: Codes
    values: pa.Array


@dataclass(frozen=True, slots=True)
class Tuples:
    """Value tuples of one layer: per field a code a tuple (-1 for null) into distinct values."""

    fields: Mapping[str, Column]

    def take(self, rows: NDArray[np.integer]) -> Tuples:
        """Return the tuples at ``rows``."""
        return Tuples(
            {name: Column(each.codes[rows], each.values) for name, each in self.fields.items()}
        )

    def replaced(self, name: str, values: pa.Array) -> Tuples:
        """Return the tuples with other values of one field, one a tuple."""
        encoded = values.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Tuples({**self.fields, name: Column(codes, encoded.dictionary)})

    def codes(self, *names: str) -> list[Codes]:
        """Return the codes of the named fields, of all by default."""
        return [self.fields[name].codes for name in names or self.fields]

    def values(self, name: str) -> pa.Array:
        """Return a field's value in each tuple."""
        column = self.fields[name]
        return column.values.take(pa.array(column.codes, mask=column.codes < 0))


@dataclass(slots=True)
class LayerPool:
    """Value tuples of one layer; number 0 means that nothing is known."""

    layer: str
    size: int = 1
    parts: dict[str, list[Column]] = field(default_factory=dict)
    begins: list[int] = field(default_factory=list)  # the size as each source began

    def begin_source(self) -> None:
        """Count the numbers from here on to the recipe's next source."""
        self.begins.append(self.size)

    def sources(self, numbers: Codes) -> NDArray[np.uint8]:
        """Return the position, from 1, of the source that each number is of; 0 for NOTHING."""
        return np.searchsorted(self.begins, numbers, side="right").astype(np.uint8)

    def add(self, columns: Mapping[str, Column], blank: Bools) -> Codes:
        """Return a number for each row; rows that are ``blank`` or all null get NOTHING."""
        known = np.zeros(len(blank), bool)
        for column in columns.values():
            known |= column.codes >= 0
        rows = np.flatnonzero(known & ~blank)
        numbers = np.full(len(blank), NOTHING, np.int32)
        if len(rows):
            codes, first = factorize([column.codes[rows] for column in columns.values()])
            numbers[rows] = codes + np.int32(self.size)
            self.size += len(first)
            self._keep(columns, rows[first])
        return numbers

    def _keep(self, columns: Mapping[str, Column], rows: NDArray[np.int64]) -> None:
        for name in LAYERS[self.layer]:
            if name in columns:
                part = Column(columns[name].codes[rows], columns[name].values)
            else:
                part = _nulls(len(rows), name)
            self.parts.setdefault(name, []).append(part)

    def tuples(self) -> Tuples:
        """Return every tuple, the one at i being number i; number 0 is all null."""
        return Tuples(
            {
                name: _joined([_nulls(1, name), *self.parts.get(name, [])])
                for name in LAYERS[self.layer]
            }
        )

    def in_use(self, numbers: NDArray[np.integer]) -> tuple[Tuples, Codes]:
        """Return the tuples that ``numbers`` use, the unknown one first; and each one's tuple.

        Equal tuples are one.
        """
        used, places = _places(numbers)
        taken = self.tuples().take(used)
        same, first = factorize(taken.codes())
        return taken.take(first), same[places]


def _places(numbers: NDArray[np.integer]) -> tuple[NDArray[np.int64], Codes]:
    """Return the distinct numbers (NOTHING always), and the place of each among them."""
    flags = np.zeros(int(numbers.max(initial=NOTHING)) + 1, bool)
    flags[numbers] = True
    flags[NOTHING] = True
    place = np.cumsum(flags, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(flags), place[numbers]


def _nulls(size: int, name: str) -> Column:
    return Column(np.full(size, -1, np.int32), pa.nulls(0, value_type(name)))


def _joined(parts: list[Column]) -> Column:
    """Join columns whose values may repeat, in one part and between parts."""
    encoded = pa.concat_arrays([part.values for part in parts]).dictionary_encode()
    # One more entry, so that the code -1 stays what it is.
    renumbered = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    codes, begin = [], 0
    for part in parts:
        of_part = np.append(renumbered[begin : begin + len(part.values)], -1).astype(np.int32)
        codes.append(of_part[part.codes])
        begin += len(part.values)
    return Column(np.concatenate(codes), encoded.dictionary)
