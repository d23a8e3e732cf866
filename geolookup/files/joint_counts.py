"""Counts of requests by country and network together, and by one more property.

Strategy: a country and a network are one number, and with the property a key of 63 bits. Equal keys
of a batch are one row with a count; rows wait until there are as many as merged ones. Memory is 16
bytes for each combination that occurs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.tables.row_tables import row_tables
from geolookup.tables.take import of_rows
from geolookup.tables.times import Int64

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State

#: Values of a property, at most: minutes of ten thousand years.
SPAN = 1 << 33
#: Networks that are told apart; more than the registries have assigned.
_NETWORKS = 1 << 20
_WAITING = 1 << 16


class Pairs:
    """The pairs of a country and a network of intervals, as numbers; 0 is unknown in both."""

    def __init__(self, state: State) -> None:
        self._state = state
        tables = row_tables(state.dataset)
        code, asn = of_rows(("country_code", "asn"))
        self._country_of, self.countries = numbered(tables.by_row(code))
        self._network_of, self.networks = numbered(tables.by_row(asn))
        self._network_of[self._network_of >= _NETWORKS] = 0

    def of(self, intervals: NDArray[np.int32]) -> Int64:
        """Return the pairs of n interval ids from 0 on."""
        rows = {table: np.empty(len(intervals), np.uint32) for table in (LOCATION, NETWORK)}
        self._state.take_rows(intervals, *rows.values())
        return self._country_of[rows[LOCATION]] * _NETWORKS + self._network_of[rows[NETWORK]]

    def split(self, pairs: Int64) -> tuple[Int64, Int64]:
        """Return the numbers of the countries and networks: 1 is the first of its list."""
        countries, networks = np.divmod(pairs, _NETWORKS)
        return countries, networks


def numbered(column: pa.Array) -> tuple[Int64, list[object]]:
    """Return a number for each row, 0 for null, and the values from number 1 on."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    numbers: Int64 = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy() + 1
    return numbers, encoded.dictionary.to_pylist()


class JointCounts:
    """Counts by pair and by a property of 0 to ``SPAN`` - 1."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._waiting: list[tuple[Int64, Int64]] = []
        self._count_waiting = 0

    def add(self, pairs: Int64, values: Int64) -> None:
        """Count n rows."""
        keys, counts = np.unique(pairs * SPAN + values, return_counts=True)
        self._waiting.append((keys, counts))
        self._count_waiting += len(keys)
        if self._count_waiting > max(_WAITING, len(self._keys)):
            self._merge()

    def rows(self) -> tuple[Int64, Int64, Int64]:
        """Return the pairs, values and counts of the combinations that occur."""
        self._merge()
        pairs, values = np.divmod(self._keys, SPAN)
        return pairs, values, self._counts

    def divide(self, divisor: int) -> None:
        """Divide the values: combinations that become equal are one."""
        pairs, values, counts = self.rows()
        self._waiting = [(pairs * SPAN + values // divisor, counts)]
        self._keys, self._counts = self._keys[:0], self._counts[:0]
        self._merge()

    def _merge(self) -> None:
        parts = [(self._keys, self._counts), *self._waiting]
        keys, counts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        self._keys, group = np.unique(keys, return_inverse=True)
        # A sum of float64 is exact up to 2^53.
        self._counts = np.bincount(group, counts, len(self._keys)).astype(np.int64)
        self._waiting, self._count_waiting = [], 0
