"""Blocks of rows, divided by generation: rows in, columns of each generation out, in row order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.tables.enrich import parts_of
from geolookup.tables.generations import Generations, RowsWithoutGeneration
from geolookup.tables.inputs import Inputs
from geolookup.tables.locate import CHUNK
from geolookup.tables.times import Instants, instants_of

#: A block ends at this number of rows or of bytes of addresses, whichever comes first.
#: A generation has 20,000 rows of a block if there are 52 of them.
ROWS, _BYTES = 1 << 20, 1 << 28
_CELL_BITS = 14  # of the number of equal cells of time between the first and the last begin
_Rows = NDArray[np.int64]
#: Addresses, and their rows in the block.
RowsOfRank = tuple[pa.Array, _Rows | slice]


class GenerationRanks:
    """Which generation answers an instant: ``rank`` 0 is the newest one."""

    def __init__(self, generations: Generations) -> None:
        newest_first = [name for name in reversed(generations.by_period) if name is not None]
        #: the generations by rank
        self.by_rank = list(dict.fromkeys(newest_first))
        count = len(self.by_rank)
        ranks = {name: rank for rank, name in enumerate(self.by_rank)}
        self._begins = np.array(generations.begins, np.int64)
        before, pruned, self._no_instant = count, count + 1, count + 2
        # The smallest type: then numpy sorts by radix.
        kind = np.min_scalar_type(self._no_instant)
        by_period = [pruned if name is None else ranks[name] for name in generations.by_period]
        self._groups = np.array([before, *by_period], kind)
        span = int(self._begins[-1] - self._begins[0])
        self._shift = max(span.bit_length() - _CELL_BITS, 0)
        # The first second of each cell; the last one has no end.
        cells = self._begins[0] + (np.arange((span >> self._shift) + 2) << self._shift)
        self._of_cells = np.searchsorted(self._begins, cells, side="right")
        # A cell of seconds 8 to 15 with a begin at 10: the period is known but for one comparison.
        self._comparisons = int(np.diff(self._of_cells).max())
        self._ends = np.append(self._begins, np.iinfo(np.int64).max)

    def groups(self, instants: Instants) -> NDArray[np.unsignedinteger]:
        """Return the rank of each row; from ``len(by_rank)`` on: before, pruned, no instant."""
        groups = self._groups[self._periods(instants.seconds)]
        if not instants.is_valid.all():
            groups[~instants.is_valid] = self._no_instant
        return groups

    def _periods(self, seconds: _Rows) -> NDArray[np.intp]:
        """Return the number of begins up to each second: its period from 1, or 0 before them.

        A binary search mispredicts branches: for random seconds it takes five times as long.
        """
        cells = (seconds - self._begins[0]) >> self._shift
        np.clip(cells, -1, len(self._of_cells) - 1, out=cells)
        # Cell -1 is the last item: 0, before the first begin.
        periods: NDArray[np.intp] = np.append(self._of_cells, 0)[cells]
        for _ in range(self._comparisons):
            periods += seconds >= self._ends[periods]
        return periods


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of a table, sorted by generation; rows of one generation keep their order."""

    begin: int  # the number of the first row, for messages
    addresses: pa.Array
    instants: Instants | None
    order: _Rows  # row numbers, by rank
    bounds: Sequence[int]  # of the rows of a rank in ``order``: before, pruned, no instant last
    lengths: Sequence[int]  # of the parts that the block was made from

    def ranks(self) -> list[int]:
        """Return the ranks that have rows."""
        return [rank for rank in range(self._count) if self.bounds[rank] < self.bounds[rank + 1]]

    @property
    def _count(self) -> int:
        return len(self.bounds) - 4

    def parts(self, rank: int) -> Iterator[RowsOfRank]:
        """Yield the addresses and rows of a rank, at most CHUNK rows at a time."""
        rows = self.order[self.bounds[rank] : self.bounds[rank + 1]]
        is_only = len(rows) == len(self.order)  # then they are in row order
        for at in range(0, len(rows), CHUNK):
            if is_only:
                yield self.addresses.slice(at, CHUNK), slice(at, at + CHUNK)
            else:
                part = rows[at : at + CHUNK]
                yield self.addresses.take(pa.array(part)), part

    def without_generation(self) -> RowsWithoutGeneration:
        """Return the counts of rows that have no rank."""
        return RowsWithoutGeneration(*np.diff(self.bounds[-4:]).tolist())


@dataclass(frozen=True, slots=True)
class Slices:
    """The inputs of a block, before its rows are sorted."""

    begin: int
    addresses: list[pa.Array]
    instants: list[pa.Array] | None
    as_of: list[pa.Array]
    same_instants: bool  # whether ``instants`` are ``as_of``


def block_of(ranks: GenerationRanks, rows: Slices) -> Block:
    """Return a block; ValueError or TypeError for an invalid instant."""
    as_of = _instants(rows.as_of, rows.begin)
    if rows.instants is None:
        instants = None
    else:
        same = rows.same_instants
        instants = as_of if same else _instants(rows.instants, rows.begin)
    groups = ranks.groups(as_of)
    counts = np.bincount(groups, minlength=len(ranks.by_rank) + 3)
    bounds = [0, *np.cumsum(counts).tolist()]
    order = np.argsort(groups, kind="stable")
    lengths = [len(part) for part in rows.addresses]
    return Block(rows.begin, _joined(rows.addresses), instants, order, bounds, lengths)


def _instants(parts: list[pa.Array], begin: int) -> Instants:
    results = []
    for part in parts:
        results.append(instants_of(part, begin))
        begin += len(part)
    if len(results) == 1:
        return results[0]
    return Instants(
        np.concatenate([result.seconds for result in results]),
        np.concatenate([result.is_valid for result in results]),
    )


def _joined(parts: list[pa.Array]) -> pa.Array:
    """Return addresses as one array whose rows Arrow can take."""
    kind = parts[0].type
    if pa.types.is_string_view(kind):
        parts = [part.cast(pa.large_string()) for part in parts]
    elif pa.types.is_binary_view(kind):
        parts = [part.cast(pa.large_binary()) for part in parts]
    elif pa.types.is_dictionary(kind) and len(parts) > 1:
        first = parts[0].dictionary
        # Joined dictionaries can have more values than the type of the indices has numbers.
        if not all(part.dictionary.equals(first) for part in parts[1:]):
            parts = [part.dictionary_decode() for part in parts]
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def slices_of(columns: Iterable[Inputs]) -> Iterator[Slices]:
    """Collect the rows of a sequence of Arrow columns into blocks."""
    begin = 0
    waiting: list[Inputs] = []
    rows = size = 0
    for part in parts_of(columns):
        waiting.append(part)
        rows += len(part.addresses)
        size += part.addresses.nbytes
        if rows >= ROWS or size >= _BYTES:
            yield _slices(begin, waiting)
            begin += rows
            waiting, rows, size = [], 0, 0
    if waiting:
        yield _slices(begin, waiting)


def _slices(begin: int, of_block: list[Inputs]) -> Slices:
    first = of_block[0]
    return Slices(
        begin,
        [part.addresses for part in of_block],
        None if first.instants is None else [part.instants for part in of_block],
        [part.as_of for part in of_block],
        first.instants is first.as_of,
    )
