"""The interface between source formats and the compiler.

A ``SourceFormat`` reads a source into tables, a table is a series of batches, a batch
holds ranges and dictionary-encoded fields. Record numbers lead from a row back
to its line.

The date of the data is what a file states itself: in its metadata, its first lines or its times. It
is the date of the source unless the recipe states one. Names of files do not count: people rename
files.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import offered_type
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.sniffing import Detection, Opening

if TYPE_CHECKING:
    from geolookup_builder.sources.reading.products import Product
#: Returns the date that a member states, in ISO 8601; None if it states none.
StatedDate = Callable[[Member], str | None]
_START_BYTES = 1 << 16
#: An earlier date is a field that was never set, such as a build time of 0.
_EARLIEST = dt.date(1990, 1, 1)
#: How far the clock of the maker of a file, or its time zone, may be ahead.
CLOCKS_DIFFER = dt.timedelta(days=1)
_DAY = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?![0-9])")
_SECONDS = re.compile(r"[0-9]{9,10}")
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
        """The own columns that files of the format may have, as ``recipe.names`` has them."""
        names = (name for product in self.products for name in product.values)
        return frozenset(filter(offered_type, names))

    @property
    def all_options(self) -> frozenset[str]:
        """The options, and ``columns`` if it can map own columns."""
        return self.options | {"columns"} if self.offers else self.options


def in_first_lines(pattern: str) -> StatedDate:
    """Return a function that reads the date in the group of ``pattern``, in the first 64 KiB."""
    compiled = re.compile(pattern.encode())

    def date_of(member: Member) -> str | None:
        with member.open() as stream:
            match = compiled.search(stream.read(_START_BYTES))
        return date_in(match[1].decode("ascii", "replace").strip()) if match else None

    return date_of


def date_in(text: str) -> str | None:
    """Return the day of a text: ISO 8601, ``20261120``, Unix seconds, or as in an e-mail."""
    if _SECONDS.fullmatch(text):
        return of_seconds(int(text))
    match = _DAY.match(text)
    # "Mon, 01 Jan 2024 00:00:00 GMT" and "Thu Sep 10 23:59:49 UTC 2026", in any locale.
    parts = match.groups() if match else (parsedate(text) or ())[:3]
    with suppress(ValueError):
        return _day(dt.date(*map(int, parts))) if parts else None
    return None


def of_seconds(seconds: int) -> str | None:
    """Return the day of Unix seconds, in UTC."""
    with suppress(OverflowError, ValueError, OSError):
        return _day(dt.datetime.fromtimestamp(seconds, dt.UTC).date())
    return None


def _day(date: dt.date) -> str | None:
    """Return a day in ISO 8601; None for one that is too early, or in the future.

    A source from the future would never be too old for ``max_age``.
    """
    latest = dt.datetime.now(dt.UTC).date() + CLOCKS_DIFFER
    return date.isoformat() if _EARLIEST <= date <= latest else None


def oldest(members: Iterable[Member], stated_date: StatedDate) -> str | None:
    """Return the oldest date of the members; None if one of them has no date."""
    dates = [stated_date(member) for member in members]
    return None if None in dates else min(filter(None, dates), default=None)
