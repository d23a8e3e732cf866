"""Which of several rows for one range decides; routes of a routing table to rows.

In the compiler the later of equal ranges decides. A format that prefers another row gives the
values of that row to all rows of the range: no row is removed, and the report counts duplicates.

A prefix of a routing table becomes one row, with the origin that most routes have.

A table has a route for each peer that announces the prefix. Of origins with equally many routes
the least AS number is taken. The origin of a route is the last AS of its path; prepending repeats
it. A set there has several AS and no origin, unless it has one (RFC 6811, section 2; RFC 9774). An
AS number that IANA reserves is passed over: behind it is a customer whose provider originates the
route on the Internet. Of default routes there is no origin.

    3356 15169 15169    15169
    3356 {64500,15169}  15169: 64500 is reserved
    3356 {174,15169}    none
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import I64, Addresses, Bools
from geolookup.dataset.runs import run_starts
from geolookup_builder.ranges import ParsedRanges, concatenate
from geolookup_builder.sources.reading.dictionary_columns import mark
from geolookup_builder.sources.reading.reader import Batch, RecordNumbers
from geolookup_builder.sources.reading.vendor_files import AsNames, as_fields

#: No AS; RFC 7607 reserves it.
NONE = 0
#: First and last of IANA's special-purpose AS numbers: reserved (RFC 7607, 6793, 7300),
#: documentation (RFC 5398) and private use (RFC 6996).
SPECIAL = ((0, 0), (23456, 23456), (64496, 131071), (4_200_000_000, 4_294_967_295))
# The last AS number of a path, also as a set of one: "3356 15169", "3356 {15169}".
_LAST = r"(?:^|\s)\{?(?P<origin>[0-9]{1,10})\}?\s*$"
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
# "3356 {64500,15169} x" has the parts "3356", "{64500,15169}" and "x". A set ends before the next
# brace: in "{{{{" no brace is read twice.
_PARTS = re.compile(rf"\{{[^{{}}]*\}}|{_NUMBER.pattern}|\S")
#: Digits of the greatest AS number; ``int`` refuses a text of thousands.
_DIGITS = 10
_MAX = (1 << 32) - 1
_DEFAULT_ROUTE = "default route"
Path = Sequence[int | Sequence[int]]


@dataclass(frozen=True, slots=True)
class Routes:
    """Routes, or groups of equal ones: range, origin, how many, and the record of the first."""

    ranges: ParsedRanges
    origin: NDArray[np.uint32]
    count: I64
    record: I64

    def __len__(self) -> int:
        return len(self.origin)

    def __getitem__(self, rows: I64 | Bools) -> Routes:
        return Routes(
            self.ranges.take(rows), self.origin[rows], self.count[rows], self.record[rows]
        )


class RouteNumbers(RecordNumbers):
    """The record numbers of rows that are groups of records."""

    def assign(self, records: I64) -> None:
        """Give each row its record."""
        self._records = records
        self.delivered = len(records)

    def of(self, rows: I64) -> I64:
        """Return the record numbers of delivered rows."""
        return self._records[rows]


def rows(routes: Iterator[Routes], numbers: RouteNumbers, names: AsNames | None) -> Iterator[Batch]:
    """Yield one batch with a row for each prefix, and those for rejected routes behind them."""
    parts = [_group(part) for part in routes if len(part)]
    groups = _join(parts)
    is_rejected = groups.ranges.family == 0
    winners = _most_frequent(_group(groups[~is_rejected]))
    result = _join([winners, groups[is_rejected]])
    numbers.assign(result.record)
    asn = without_default_routes(result.ranges, _column(result.origin))
    yield Batch(numbers, 0, result.ranges, as_fields(asn, names))


def _join(parts: list[Routes]) -> Routes:
    if not parts:
        parts = [empty()]
    return Routes(
        concatenate([part.ranges for part in parts]),
        np.concatenate([part.origin for part in parts]),
        np.concatenate([part.count for part in parts]),
        np.concatenate([part.record for part in parts]),
    )


def empty() -> Routes:
    """Return no routes."""
    none, byte = np.empty(0, np.uint64), np.empty(0, np.uint8)
    ends = Addresses(none, none)
    ranges = ParsedRanges(byte, ends, ends, byte)
    counts = np.empty(0, np.int64)
    return Routes(ranges, np.empty(0, np.uint32), counts, counts)


def _group(routes: Routes) -> Routes:
    """Return routes of equal range and origin as one, in order of range; rejects unmerged."""
    keys = _range_keys(routes.ranges)
    # Rejected routes stay one row each: their record is part of the key.
    rejected = np.where(routes.ranges.family == 0, routes.record, 0)
    order = np.lexsort((routes.record, routes.origin, rejected, *reversed(keys)))
    begins = _begins(order, *keys, rejected, routes.origin)
    if not len(order):
        return routes
    first = order[begins]
    # Sums from each begin up to the next.
    count = np.add.reduceat(routes.count[order], begins)
    groups = routes[first]
    return Routes(groups.ranges, groups.origin, count, groups.record)


def _most_frequent(groups: Routes) -> Routes:
    """Return, of the groups of each range, the one with most routes; one with an origin first."""
    keys = _range_keys(groups.ranges)
    without = groups.origin == NONE
    # Of each range: with an origin first, then most routes, then the least AS number.
    order = np.lexsort((groups.origin, -groups.count, without, *reversed(keys)))
    return groups[order[_begins(order, *keys)]]


def _range_keys(ranges: ParsedRanges) -> list[NDArray[np.generic]]:
    ends = [*ranges.first.halves(), *ranges.last.halves()]
    # Family, first address (high, low), last address (high, low).
    return [ranges.family, ends[1], ends[0], ends[3], ends[2]]


def _begins(order: I64, *keys: NDArray[np.generic]) -> I64:
    """Return where a group begins in rows that are sorted by the keys."""
    return np.flatnonzero(run_starts(*(key[order] for key in keys)))


def _column(origins: NDArray[np.uint32]) -> pa.DictionaryArray:
    """Return origins as texts; null if there is none."""
    encoded = pa.array(origins, mask=origins == NONE).dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices, encoded.dictionary.cast(pa.string()))


def origin(path: Path) -> int:
    """Return the origin of a path, whose sets are sequences; NONE if it has no one origin."""
    if path and isinstance(path[-1], int) and not _is_special(path[-1]):  # of most routes
        return path[-1]
    for part in reversed(path):
        # A private AS number at the end is passed over; a set of several has no origin.
        members = {part} if isinstance(part, int) else set(part)
        public = members if len(members) > 1 else {asn for asn in members if not _is_special(asn)}
        if public:
            return public.pop() if len(public) == 1 else NONE
    return NONE


@lru_cache(1 << 17)
def _is_special(asn: int) -> bool:
    return asn > _MAX or any(first <= asn <= last for first, last in SPECIAL)


def origins(paths: pa.Array) -> NDArray[np.uint32]:
    """Return the origins of distinct paths, as text with sets in braces; NONE if none."""
    last = pc.struct_field(pc.extract_regex(paths, _LAST), "origin")
    numbers = np.asarray(pc.fill_null(last.cast(pa.uint64()), 0))
    numbers = np.where(numbers > _MAX, 0, numbers).astype(np.uint32)
    # Few, and paths that the pattern does not match.
    others = np.flatnonzero(_are_special(numbers))
    texts = paths.take(pa.array(others)).to_pylist()
    numbers[others] = [origin(_parse_path(text or "")) for text in texts]
    return numbers


def _are_special(numbers: NDArray[Any]) -> Bools:
    special: Bools = np.zeros(len(numbers), bool)
    for first, last in SPECIAL:
        special |= (numbers >= first) & (numbers <= last)
    return special


def _parse_path(text: str) -> Path:
    """Return the parts of a path; anything but a number or a set is an empty set."""
    parts = _PARTS.findall(text)
    return [
        _number(part) if _NUMBER.fullmatch(part) else [*map(_number, _NUMBER.findall(part))]
        for part in parts
    ]


def _number(text: str) -> int:
    """Return an AS number in digits, or in two halves (asdot, RFC 5396)."""
    high, _, low = text.rpartition(".")
    if max(len(high), len(low)) > _DIGITS:
        return _MAX + 1
    # "1.10" is 65536 + 10 (RFC 5396).
    return (int(high or 0) << 16) + int(low)


def without_default_routes(ranges: ParsedRanges, asn: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the AS numbers of ranges, with default routes' invalid.

    A default route says nothing about an address; the compiler nulls and counts invalid values.
    """
    defaults = _default_routes(ranges)
    return mark(asn, pa.array(defaults), _DEFAULT_ROUTE) if defaults.any() else asn


def _default_routes(ranges: ParsedRanges) -> Bools:
    defaults: Bools = np.zeros(len(ranges.family), bool)
    for family in (4, 6):
        ends = Addresses.of(6, [0, MAX[family]])
        is_whole = ranges.first.equals(ends[:1]) & ranges.last.equals(ends[1:])
        defaults |= (ranges.family == family) & is_whole
    return defaults


def deciding_rows(ranges: ParsedRanges, rank: I64) -> I64:
    """Return, for each row, the last row of the same range with the greatest rank."""
    ends = ranges.last.low, ranges.last.high, ranges.first.low, ranges.first.high
    keys = [key for key in ends if key is not None] + [ranges.family]
    # Within equal ranges by rank; ``lexsort`` is stable, so the later of equal ranks is last.
    order = np.lexsort((rank, *keys))
    begins = run_starts(*(key[order] for key in keys))
    last = np.append(np.flatnonzero(begins)[1:], len(order)) - 1
    rows = np.empty(len(order), np.int64)
    # Each row of a group gets the last row of the group.
    rows[order] = order[last[np.cumsum(begins) - 1]]
    return rows


def with_values_of(batches: Sequence[Batch], rows: I64) -> list[Batch]:
    """Return batches, none of them empty, with the fields of other rows, numbered over all."""
    columns = {
        name: _concatenate([batch.fields[name] for batch in batches]).take(pa.array(rows))
        for name in batches[0].fields
    }
    begins = np.cumsum([0, *map(len, batches[:-1])]).tolist()
    return [
        replace(batch, fields={n: c.slice(begin, len(batch)) for n, c in columns.items()})
        for batch, begin in zip(batches, begins, strict=True)
    ]


def _concatenate(columns: list[pa.DictionaryArray]) -> pa.DictionaryArray:
    return pa.chunked_array(columns).unify_dictionaries().combine_chunks()
