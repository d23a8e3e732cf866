"""The rows of one family in a source table, as runs that are sorted by first address.

Of a row only its range, its position and one number for each layer are kept. Runs are in memory or
in files (``columns``). They are taken in bands of the address space: a band has the rows that begin
in it, one slice of each run, and the rows before that reach into it. A run is released after the
last band that it has rows of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, Addresses, concat, empty
from geolookup.dataset.runs import Codes
from geolookup_builder.bands import BAND, Band, bands, work
from geolookup_builder.columns import Columns
from geolookup_builder.flatten import Ranges, may_decide_beyond
from geolookup_builder.folding import mapped_keys
from geolookup_builder.layer_values import UNKNOWN

#: Joins the parts of a column.
Combine = Callable[[Sequence[NDArray[Any]]], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a family: ranges and layer numbers."""

    ranges: Ranges
    numbers: dict[str, Codes]

    def __len__(self) -> int:
        return len(self.ranges)

    def __getitem__(self, rows: slice | I64) -> Rows:
        numbers = {layer: codes[rows] for layer, codes in self.numbers.items()}
        return Rows(self.ranges[rows], numbers)

    @property
    def nbytes(self) -> int:
        """The bytes of all columns."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> list[NDArray[np.integer]]:
        """Return all columns."""
        return [*self.ranges.columns(), *self.numbers.values()]

    def in_order(self) -> Rows:
        """Return the rows by first address."""
        first = self.ranges.first
        # Most files are sorted: nothing is copied.
        return self[first.order()] if (first[1:] < first[:-1]).any() else self


def joined(family: int, parts: Sequence[Rows], layers: Collection[str]) -> Rows:
    """Return the rows of all parts; all have keys if some have."""
    parts = [part for part in parts if len(part)]
    if len(parts) == 1 and parts[0].numbers.keys() >= {*layers}:
        return parts[0]
    none = Ranges(empty(family), empty(family), np.empty(0, np.uint32))
    return _combined([Rows(none, {}), *parts], layers, np.concatenate)


def written(parts: Sequence[Rows], layers: Collection[str], columns: Columns) -> Rows:
    """Return the rows of all parts as one run in files, written column by column."""
    order = concat([part.ranges.first for part in parts]).order()

    def write(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        in_order = np.concatenate(values)[order]
        column = columns.column(in_order.dtype)
        column.append(in_order)
        return column.finish()

    return _combined(parts, layers, write)


def _combined(parts: Sequence[Rows], layers: Collection[str], combine: Combine) -> Rows:
    def combined(columns: Sequence[Sequence[NDArray[Any]]]) -> list[NDArray[Any]]:
        return [combine(of_parts) for of_parts in zip(*columns, strict=True)]

    of_ranges = [part.ranges for part in parts]
    keys = None
    if any(ranges.keys is not None for ranges in of_ranges):
        keys = tuple(combined([ranges.keys or mapped_keys(ranges) for ranges in of_ranges]))
    ranges = Ranges(
        Addresses(*combined([ranges.first.columns() for ranges in of_ranges])),
        Addresses(*combined([ranges.last.columns() for ranges in of_ranges])),
        combine([ranges.position for ranges in of_ranges]),
        keys,
    )
    return Rows(ranges, {layer: combine([_numbers(p, layer) for p in parts]) for layer in layers})


def _numbers(rows: Rows, layer: str) -> Codes:
    """Return the numbers of a layer; a layer that a file lacks is unknown in its rows."""
    codes = rows.numbers.get(layer)
    return np.broadcast_to(np.int32(UNKNOWN), len(rows)) if codes is None else codes


class RowBands:
    """The rows of a family, taken band by band, in ascending order of the bands."""

    def __init__(
        self, family: int, runs: Sequence[Rows], layers: Collection[str], base: Addresses
    ) -> None:
        self._family, self._runs, self._layers = family, [*runs], layers
        self._reaching: list[Rows] = []  # from earlier bands
        per_row, per_interval = work(family, len(layers))
        self._weighted = [*((run.ranges.first, per_row) for run in runs), (base, per_interval)]

    @property
    def work(self) -> int:
        """The bytes that the work on all rows takes, above a partition with the starts ``base``."""
        return sum(len(addresses) * weight for addresses, weight in self._weighted)

    def divide(self, most: int) -> list[Band]:
        """Return bands of the rows whose work takes at most so many bytes."""
        weighted, self._weighted = self._weighted, []
        return bands(self._family, weighted, min(most, BAND))

    def take(self, band: Band) -> Rows:
        """Return the rows of a band."""
        parts, runs, self._runs = self._reaching, self._runs, []
        for run in runs:
            end = band.stop(run.ranges.first)
            parts.append(run[:end])
            if end < len(run):
                self._runs.append(run[end:])
        del runs
        rows = joined(self._family, parts, self._layers)
        self._reaching = [] if band.end is None else [_reaching(rows, band)]
        return rows


def _reaching(rows: Rows, band: Band) -> Rows:
    """Return the rows of a band that may decide an address after it."""
    beyond = rows[np.flatnonzero(band.goes_beyond(rows.ranges.last))]
    return beyond[may_decide_beyond(beyond.ranges)] if len(beyond) else beyond
