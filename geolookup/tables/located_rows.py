"""The rows of a block after generations located them: row numbers of the joint tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.tables.enrich import refuse
from geolookup.tables.locate import AddressIntervals
from geolookup.tables.row_blocks import Block
from geolookup.tables.times import Instants

#: The interval id of a row that no generation answers: less than all of the kernel.
_NO_GENERATION = -3


@dataclass(frozen=True, slots=True)
class Part:
    """Some located rows, in row order."""

    addresses: pa.Array
    intervals: AddressIntervals
    instants: Instants | None
    rows: Mapping[str, NDArray[np.uint32]]
    known: pa.Array | None


@dataclass(frozen=True, slots=True)
class LocatedRows:
    """A block, and columns in row order that generations fill in."""

    block: Block
    ids: NDArray[np.int32]  # interval ids of the row's generation
    families: NDArray[np.uint8]  # empty if no field needs them
    rows: Mapping[str, NDArray[np.uint32]]  # of the joint tables
    known: NDArray[np.bool_] | None  # see ``take.is_known``

    @classmethod
    def nothing(
        cls, block: Block, tables: Iterable[str], *, has_families: bool, add_known: bool
    ) -> LocatedRows:
        """Return a block without located rows: all are unknown."""
        count = len(block.order)
        return cls(
            block,
            np.full(count, _NO_GENERATION, np.int32),
            np.zeros(count if has_families else 0, np.uint8),
            {table: np.zeros(count, np.uint32) for table in tables},
            np.zeros(count, bool) if add_known else None,
        )

    def refuse(self) -> None:
        """Raise the error of the first address that is malformed or private."""
        numbers = range(self.block.begin, self.block.begin + len(self.ids))
        refuse(self.block.addresses, AddressIntervals(self.ids, self.families), numbers)

    def parts(self) -> Iterator[Part]:
        """Yield the parts that the block was made from, in row order."""
        begin = 0
        for length in self.block.lengths:
            at = slice(begin, begin + length)
            ids, instants = self.ids[at], self.block.instants
            known = self.known
            yield Part(
                self.block.addresses[at],
                AddressIntervals(ids, self.families[at]),
                None if instants is None else instants.slice(begin, length),
                {table: rows[at] for table, rows in self.rows.items()},
                None if known is None else pa.array(known[at], mask=ids == _NO_GENERATION),
            )
            begin += length
