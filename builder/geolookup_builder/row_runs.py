"""The rows of one family in a source table: in memory, or as sorted runs in files.

Of a row only its range, its position and one number for each layer are kept. Rows that do not fit
in memory are sorted by their first address, a run at a time, and written column by column. Then
they are read in bands of the address space: a band has the rows that begin in it, one slice of
each run, and the rows before that reach into it. In memory, the batches of a sorted file are such
runs: each is released after the last band that it has rows of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, Addresses, concat, empty
from geolookup.dataset.runs import Codes
from geolookup_builder.bands import Band, bands, work
from geolookup_builder.flatten import Ranges, may_decide_beyond
from geolookup_builder.folding import mapped_keys
from geolookup_builder.layer_values import UNKNOWN
from geolookup_builder.spill import Spill

Positions = NDArray[np.integer[Any]]
#: Returns the final number of each number of a layer.
Renumber = Callable[[Codes], Codes]


@dataclass(frozen=True, slots=True)
class GatheredRows:
    """Rows of a family: ranges, layer numbers, and each row's position in its source."""

    ranges: Ranges
    numbers: dict[str, Codes]
    position: Positions

    def __len__(self) -> int:
        return len(self.position)

    def __getitem__(self, rows: slice | I64) -> GatheredRows:
        numbers = {layer: codes[rows] for layer, codes in self.numbers.items()}
        return GatheredRows(self.ranges[rows], numbers, self.position[rows])

    @property
    def nbytes(self) -> int:
        """The bytes of all columns."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> list[NDArray[np.integer]]:
        """Return all columns."""
        return [
            *self.ranges.first.columns(),
            *self.ranges.last.columns(),
            *(self.ranges.keys or ()),
            *self.numbers.values(),
            self.position,
        ]


class FamilyRows:
    """Rows of one family; ``layers`` are the layers of any batch.

    The parts that are folded from IPv6 have keys, the specificity of the range as stated.
    """

    def __init__(self, family: int) -> None:
        self.family = family
        self.layers: dict[str, None] = {}
        self.runs: list[GatheredRows] = []  # sorted by first address, in files
        self.nbytes = 0  # of the rows in memory
        self._batches: list[GatheredRows] = []  # in row order

    def add(self, rows: GatheredRows) -> None:
        """Add rows; a layer that this or an earlier file lacks is unknown in its rows."""
        self.layers |= dict.fromkeys(rows.numbers)
        if len(rows):
            self._batches.append(rows)
            self.nbytes += rows.nbytes

    def __len__(self) -> int:
        return sum(map(len, chain(self.runs, self._batches)))

    def write_run(self, spill: Spill, renumber: Mapping[str, Renumber]) -> None:
        """Write the rows in memory as a sorted run, with final numbers."""
        batches, self._batches, self.nbytes = self._batches, [], 0
        if not batches:
            return
        order = concat([batch.ranges.first for batch in batches]).order()

        def write(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
            values = np.concatenate([*parts])[order]
            column = spill.column(values.dtype)
            column.append(values)
            return column.finish()

        def write_ends(ends: Sequence[Addresses]) -> Addresses:
            low = write(part.low for part in ends)
            highs = [part.high for part in ends if part.high is not None]
            return Addresses(low, write(highs) if highs else None)

        keys = [batch.ranges.keys for batch in batches if batch.ranges.keys is not None]
        ranges = Ranges(
            write_ends([batch.ranges.first for batch in batches]),
            write_ends([batch.ranges.last for batch in batches]),
            tuple(write(parts) for parts in zip(*keys, strict=True)) if keys else None,
        )
        numbers = {
            layer: write(renumber[layer](_numbers(batch, layer)) for batch in batches)
            for layer in self.layers
        }
        self.runs.append(GatheredRows(ranges, numbers, write(b.position for b in batches)))

    def renumber(self, renumber: Mapping[str, Renumber]) -> None:
        """Replace the numbers of the rows in memory by final ones."""
        for rows in self._batches:
            for layer, codes in rows.numbers.items():
                rows.numbers[layer] = renumber[layer](codes)

    @property
    def is_sorted(self) -> bool:
        """Whether each batch in memory is sorted by first address, as in most files."""
        return all(
            not (first[1:] < first[:-1]).any()
            for first in (batch.ranges.first for batch in self._batches)
        )

    def take_runs(self) -> list[GatheredRows]:
        """Return all rows as sorted runs; those in memory are not kept here."""
        batches, self._batches, self.nbytes = self._batches, [], 0
        return [*self.runs, *batches]

    def join(self) -> GatheredRows:
        """Return the rows in memory, joined."""
        self._batches = [join(self.family, self._batches, self.layers)]
        return self._batches[0]

    def release(self) -> None:
        """Release the rows in memory."""
        self._batches, self.nbytes = [], 0

    def remove_runs(self, spill: Spill) -> None:
        """Remove the files of the runs."""
        for run in self.runs:
            spill.remove(*run.columns())
        self.runs = []


class RowBands:
    """The rows of a family, taken band by band, in ascending order of the bands."""

    def __init__(self, family: int, stores: Sequence[FamilyRows], *, keep: bool) -> None:
        self.family, self._stores, self._keep = family, stores, keep
        self.layers = tuple(dict.fromkeys(chain.from_iterable(store.layers for store in stores)))
        self.bands = [Band(family)]
        self._runs: list[GatheredRows] = []  # without the rows of earlier bands
        self._reaching: list[GatheredRows] = []  # from earlier bands

    def work(self, base: Addresses | None) -> int:
        """Return the bytes that the work on all rows takes, above a partition of these starts."""
        per_row, per_interval = work(self.family, len(self.layers))
        return per_row * sum(map(len, self._stores)) + per_interval * (
            0 if base is None else len(base)
        )

    def divide(self, base: Addresses | None, most: int) -> None:
        """Divide the rows into bands whose work takes at most so many bytes.

        There is one band if the rows in memory are not sorted, or are needed later.
        """
        if self._keep or not all(store.is_sorted for store in self._stores):
            return
        self._runs = [*chain.from_iterable(store.take_runs() for store in self._stores)]
        per_row, per_interval = work(self.family, len(self.layers))
        weighted = [(run.ranges.first, per_row) for run in self._runs]
        weighted += [] if base is None else [(base, per_interval)]
        self.bands = bands(self.family, weighted, most)

    def take(self, band: Band) -> GatheredRows:
        """Return the rows of a band, in row order."""
        parts = [*self._reaching, *(store.join() for store in self._stores)]
        for store in () if self._keep else self._stores:
            store.release()
        runs, self._runs = self._runs, []
        for run in runs:
            end = band.stop(run.ranges.first)
            parts.append(run[:end])
            if end < len(run):
                self._runs.append(run[end:])
        del runs
        rows = join(self.family, parts, self.layers)
        self._reaching = [] if band.end is None else [_reaching(rows, band)]
        return rows


def join(family: int, parts: Sequence[GatheredRows], layers: Iterable[str]) -> GatheredRows:
    """Return the rows of all parts, in row order; all have keys if some have."""
    parts = [part for part in parts if len(part)]
    if len(parts) == 1 and parts[0].numbers.keys() >= {*layers} and ascend(parts[0].position):
        return parts[0]
    first = concat([empty(family), *(part.ranges.first for part in parts)])
    last = concat([empty(family), *(part.ranges.last for part in parts)])
    keys = None
    if any(part.ranges.keys is not None for part in parts):
        of_parts = (part.ranges.keys or mapped_keys(part.ranges) for part in parts)
        keys = tuple(np.concatenate(of_key) for of_key in zip(*of_parts, strict=True))
    numbers = {
        layer: np.concatenate([np.empty(0, np.int32), *(_numbers(part, layer) for part in parts)])
        for layer in layers
    }
    position = np.concatenate([np.empty(0, np.int64), *(part.position for part in parts)])
    rows = GatheredRows(Ranges(first, last, keys), numbers, position)
    return rows if ascend(position) else rows[np.argsort(position)]


def ascend(positions: Positions) -> bool:
    """Return whether positions ascend, as in most files."""
    return bool(np.all(positions[:-1] < positions[1:]))


def _reaching(rows: GatheredRows, band: Band) -> GatheredRows:
    """Return the rows of a band that may decide an address after it."""
    beyond = rows[np.flatnonzero(band.goes_beyond(rows.ranges.last))]
    return beyond[may_decide_beyond(beyond.ranges)] if len(beyond) else beyond


def _numbers(rows: GatheredRows, layer: str) -> Codes:
    codes = rows.numbers.get(layer)
    return np.broadcast_to(np.int32(UNKNOWN), len(rows)) if codes is None else codes
