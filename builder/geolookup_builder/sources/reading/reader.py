"""The interface between source formats and the compiler.

A ``SourceFormat`` reads a source into tables, a table is a series of batches, a batch
holds ranges and dictionary-encoded fields. Record numbers lead from a row back
to its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.stated_dates import StatedDate
from geolookup_builder.vendor_columns import offered_type

if TYPE_CHECKING:
    from geolookup_builder.sources.reading.products import Product
#: Of the text of a rejected record, if it is an object that may be long.
REJECT_CHARACTERS = 1 << 10


@dataclass(frozen=True, slots=True)
class Reject:
    """One rejected row, as the file of rejects states it."""

    file: str
    line: int
    reason: str
    text: str


#: Yields the rejected records (number: reason) of a member, in file order.
FindRejects = Callable[[Member, dict[int, str]], Iterator[Reject]]


@dataclass(slots=True)
class RecordNumbers:
    """The record numbers of a member's rows; the first record, after any header, is 1.

    A reader delivers only rows with the right number of cells; ``skipped`` are the records that
    have another. ``unread`` are the columns that nothing reads, ``offered`` the own columns that a
    recipe can declare for the file. ``product`` is the product that decides the meaning
    of the columns, unless a table of the source does.
    """

    member: Member
    find_rejects: FindRejects
    unread: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    product: str = ""
    skipped: list[int] = field(default_factory=list)
    delivered: int = 0

    def of(self, rows: I64) -> I64:
        """Return the record numbers of delivered rows, counted from 0 over the member."""
        # Records 3 and 4 are skipped: as rows from 0, less the skipped ones before, 2 and 2.
        skipped = np.array(sorted(self.skipped), np.int64) - 1
        before = np.searchsorted(skipped - np.arange(len(skipped)), rows, side="right")
        # Rows 0, 1 and 2 have 0, 0 and 2 skipped ones before them: records 1, 2 and 5.
        return rows + before + 1

    def batch(self, ranges: ParsedRanges, fields: Mapping[str, pa.DictionaryArray]) -> Batch:
        """Return the next rows of the member as a batch, and count them."""
        rows = Batch(self, self.delivered, ranges, fields)
        self.delivered += len(rows)
        return rows


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of one member: a range and the stated fields of each."""

    numbers: RecordNumbers
    start: int  # of the first row, among the delivered rows of the member
    ranges: ParsedRanges
    fields: Mapping[str, pa.DictionaryArray]

    def __len__(self) -> int:
        return len(self.ranges.family)


@dataclass(frozen=True, slots=True)
class SourceTable:
    """One table of a source; several tables count as that many consecutive sources.

    ``note`` is printed in the build report: what of the source was ignored, and why. ``emptied``
    are the cells that batches empty, counted by word; who reads the table takes them.
    """

    name: str
    batches: Iterator[Batch]
    note: str = ""
    emptied: list[Mapping[str, int]] = field(default_factory=list)


#: The meaning of a record batch: the range of each row, and its fields.
Meaning = Callable[[pa.RecordBatch], tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]]


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """A source format: its name in recipes, its own options, its reader and its detector.

    ``detect`` says whether a file is of the format, for ``auto``; None and a BuildError mean no.
    ``stated_date`` reads the date of the data that a file states. ``products`` are what
    its files may be, unless a recipe states that.
    """

    name: str
    options: frozenset[str]
    read: Callable[[SourceSpec], Iterator[SourceTable]]
    detect: Callable[[Opening], Detection | None] = lambda _opening: None
    stated_date: StatedDate = lambda _member: None
    products: tuple[Product, ...] = ()

    @property
    def offers(self) -> frozenset[str]:
        """The own columns that files of the format may have, as ``vendor_columns`` names them."""
        names = (name for product in self.products for name in product.values)
        return frozenset(filter(offered_type, names))

    @property
    def all_options(self) -> frozenset[str]:
        """The options, and ``columns`` if it can map own columns."""
        return self.options | {"columns"} if self.offers else self.options
