"""Ranges of addresses as columns, adjacent ranges joined, and the values of fields in them.

Strategy: fields of countries and zones are taken once for each location, texts as a dictionary: a
batch of ranges only takes indices. Rows with the same values are represented by the
first of them. Then equal values are equal row numbers, and a number a table and range are all
codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import Field
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Addresses, Bools, concat
from geolookup.dataset.public_ranges import RangeBatch, RowNumbers
from geolookup.dataset.runs import run_starts
from geolookup.tables.row_tables import first_equal_rows, row_tables, table_of

I32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Spans:
    """n ranges of one family in address order, disjoint, both ends included.

    The ends have 128 bits, also of IPv4. ``codes`` are columns of the shape (n,), one for each
    table that keeps ranges apart: the number of the value.
    """

    family: int
    first: Addresses
    last: Addresses
    codes: tuple[I32, ...] = ()

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: Any) -> Spans:
        """Return some of the ranges, by number, by mask or by slice."""
        codes = tuple(column[rows] for column in self.codes)
        return Spans(self.family, self.first[rows], self.last[rows], codes)


def join(batches: Iterable[Spans]) -> Iterator[Spans]:
    """Yield the ranges in batches, adjacent ranges of equal codes joined.

    The given batches are in address order, IPv4 first; a range may continue in the next batch.
    """
    pending: Spans | None = None
    for batch in batches:
        if pending is not None and pending.family == batch.family:
            batch = _concatenate(pending, batch)
        elif pending is not None:
            yield pending
        whole = _join(batch)
        # The last range may continue in the next batch.
        if len(whole) > 1:
            yield whole.take(slice(None, -1))
        pending = whole.take(slice(-1, None))
    if pending is not None and len(pending):
        yield pending


def _join(spans: Spans) -> Spans:
    # A range begins after a gap, or where a code differs from the range before.
    marks = run_starts(*spans.codes, size=len(spans))
    marks[1:] |= ~spans.first[1:].equals(spans.last[:-1].successor())
    begins = np.flatnonzero(marks)
    if len(begins) == len(spans):
        return spans
    # A range ends where the next one begins: ranges 0-2 and 3-4 have the begins 0 3, the ends 2 4.
    ends = np.append(begins[1:], len(spans)) - 1
    codes = tuple(column[begins] for column in spans.codes)
    return Spans(spans.family, spans.first[begins], spans.last[ends], codes)


def _concatenate(one: Spans, other: Spans) -> Spans:
    first, last = concat([one.first, other.first]), concat([one.last, other.last])
    codes = tuple(np.concatenate(pair) for pair in zip(one.codes, other.codes, strict=True))
    return Spans(one.family, first, last, codes)


class FieldColumns:
    """The values of some fields: an array by field, by row of its large table."""

    def __init__(self, dataset: Dataset, fields: Sequence[Field]) -> None:
        """Raise DatasetError if the tables of the dataset are damaged."""
        row_values = row_tables(dataset)
        self._fields = fields
        #: by name of a field's column
        self.by_row = {field.name: row_values.by_row(field) for field in fields}
        self.schema = pa.schema([(name, column.type) for name, column in self.by_row.items()])
        #: by table and row, the first row with the same values; 0 if all are null
        self._first_equal = first_equal_rows(dataset, fields)
        #: the tables of the codes, in their order
        self.tables = tuple(self._first_equal)

    def has_any(self, rows: RowNumbers) -> Bools:
        """Return for n ranges whether any of the fields is known."""
        # Row 0 of a table is "unknown", and so are rows that equal it in these fields.
        is_known: Bools = np.logical_or.reduce([codes != 0 for codes in self._codes(rows)])
        return is_known

    def _codes(self, rows: RowNumbers) -> tuple[I32, ...]:
        return tuple(first[rows[table]] for table, first in self._first_equal.items())

    def spans(self, ranges: RangeBatch) -> Spans:
        """Return n ranges whose codes are, by table, the first rows with the same values."""
        first = Addresses(ranges.first_low, ranges.first_high)
        last = Addresses(ranges.last_low, ranges.last_high)
        return Spans(ranges.family, first, last, self._codes(ranges.rows))

    def take(self, codes: Sequence[I32]) -> list[pa.Array]:
        """Return a column a field for n ranges, given by the codes of each table."""
        rows = self.by_table(codes)
        return [self.by_row[field.name].take(rows[table_of(field)]) for field in self._fields]

    def by_table(self, codes: Sequence[I32]) -> dict[str, pa.Array]:
        """Return the codes of n ranges by table."""
        return {table: pa.array(column) for table, column in zip(self.tables, codes, strict=True)}
