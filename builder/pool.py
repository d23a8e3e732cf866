"""The distinct values of one layer over a whole build, numbered while sources are read.

Strategy: a batch of rows is reduced to its distinct value tuples at once, and
the rows keep one 32-bit number. Equal tuples of different batches have
different numbers until the build is merged; then the used ones are taken out
and interned for good (``intern``), so that nothing grows with the rows but
one number a layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from builder.factorize import factorize
from builder.schema import LAYERS
from builder.values import value_type

Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]
#: The number of "nothing known".
NOTHING = 0


@dataclass(frozen=True, slots=True)
class Column:
    """One field of a batch: a code a row (-1 for null) into cleaned values."""

    codes: Codes
    values: pa.Array


@dataclass(slots=True)
class LayerPool:
    """Value tuples of one layer; number 0 means that nothing is known."""

    layer: str
    size: int = 1
    parts: list[pa.Table] = field(default_factory=list)

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
            self.parts.append(self._tuples(columns, rows[first]))
        return numbers

    def _tuples(self, columns: Mapping[str, Column], rows: NDArray[np.int64]) -> pa.Table:
        taken = {}
        for name in LAYERS[self.layer]:
            if name in columns:
                codes = columns[name].codes[rows]
                taken[name] = columns[name].values.take(pa.array(codes, mask=codes < 0))
            else:
                taken[name] = pa.nulls(len(rows), value_type(name))
        return pa.table(taken)

    def table(self) -> pa.Table:
        """Return every tuple, row i being number i; row 0 is all null."""
        nothing = {name: pa.nulls(1, value_type(name)) for name in LAYERS[self.layer]}
        return pa.concat_tables([pa.table(nothing), *self.parts]).combine_chunks()
