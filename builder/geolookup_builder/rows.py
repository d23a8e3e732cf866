"""The rows of one family in a source table: ranges and layer numbers, as columns.

Of a row only its range, its position and one number for each layer are kept. IPv6 ranges in
IPv4-mapped space are folded: the part inside becomes an IPv4 row with the specificity of the range
as stated, so narrower IPv4 rows decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.special import CARRIES_IPV4, ranges_of
from geolookup.dataset.intervals import I64, Addresses, Bools, clamp, empty
from geolookup.dataset.runs import Codes
from geolookup_builder.layer_values import UNKNOWN

#: Sort keys of specificity, most significant first; the row with the least key decides.
Keys = tuple[NDArray[np.integer], ...]
Positions = NDArray[np.integer[Any]]
#: Joins the parts of a column.
Combine = Callable[[Sequence[NDArray[Any]]], NDArray[Any]]
#: IPv4-mapped space is folded into IPv4; NAT64 and 6to4 space is excluded.
FOLDED, *EXCLUDED = ranges_of(6, CARRIES_IPV4)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one family; both ends of a range are included."""

    first: Addresses
    last: Addresses
    position: Positions  # in the source: of equal ranges the later one decides
    numbers: dict[str, Codes] = field(default_factory=dict)
    keys: Keys | None = None  # None: specificity by the range itself

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, rows: slice | I64 | Bools) -> Rows:
        return self.with_columns(column[rows] for column in self.columns())

    @property
    def nbytes(self) -> int:
        """The bytes of all columns."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> list[NDArray[Any]]:
        """Return all columns."""
        ends = *self.first.columns(), *self.last.columns()
        return [*ends, self.position, *self.numbers.values(), *(self.keys or ())]

    def with_columns(self, columns: Iterable[NDArray[Any]]) -> Rows:
        """Return rows of the same layers with other columns, in the order of ``columns``."""
        further, halves = iter(columns), len(self.first.columns())
        first, last = (Addresses(*islice(further, halves)) for _ in range(2))
        position, numbers = next(further), {layer: next(further) for layer in self.numbers}
        return Rows(first, last, position, numbers, tuple(further) or None)

    def in_order(self) -> Rows:
        """Return the rows by first address."""
        # Most files are sorted: nothing is copied.
        return self[self.first.order()] if (self.first[1:] < self.first[:-1]).any() else self


def none(family: int) -> Rows:
    """Return no rows."""
    return Rows(empty(family), empty(family), np.empty(0, np.uint32))


def combined(parts: Sequence[Rows], layers: Collection[str], combine: Combine) -> Rows:
    """Return the rows of all parts: all have keys if some have, and every layer."""
    has_keys = any(part.keys is not None for part in parts)
    alike = [
        replace(
            part,
            keys=part.keys or mapped_keys(part) if has_keys else None,
            numbers={layer: _numbers(part, layer) for layer in layers},
        )
        for part in parts
    ]
    columns = zip(*(part.columns() for part in alike), strict=True)
    return alike[0].with_columns(combine(of_parts) for of_parts in columns)


def _numbers(rows: Rows, layer: str) -> Codes:
    """Return the numbers of a layer; a layer that a file lacks is unknown in its rows."""
    codes = rows.numbers.get(layer)
    return np.broadcast_to(np.int32(UNKNOWN), len(rows)) if codes is None else codes


def stated_keys(first: Addresses, last: Addresses) -> Keys:
    """Return sort keys that put the smaller range first, of equal sizes the later start."""
    size = last.minus(first)
    if first.high is None or size.high is None:
        # The complement reverses the order of unsigned integers: later starts come first.
        return size.low, ~first.low
    return size.high, size.low, ~first.high, ~first.low


def mapped_keys(rows: Rows) -> Keys:
    """Return the specificity of IPv4 rows on the scale of stated IPv6 ranges."""
    # 8.8.8.8 becomes ::ffff:8.8.8.8.
    high, prefix = np.zeros(len(rows), np.uint64), np.uint64(FOLDED[0])
    return stated_keys(*(Addresses(ends.low | prefix, high) for ends in (rows.first, rows.last)))


def fold(rows: Rows) -> tuple[Rows, Rows]:
    """Return the IPv4 rows of IPv6 rows in IPv4-mapped space, and the rows not wholly inside."""
    begin, end = (Addresses.of(6, [bound]) for bound in FOLDED)
    is_outside = (rows.first < begin) | (end < rows.last)
    reaches = np.flatnonzero(~(rows.last < begin) & ~(end < rows.first))
    if not len(reaches):
        return none(4), rows
    wide = rows[reaches]
    # ::fffe:ffff:0 - ::ffff:8.8.8.8 becomes 0.0.0.0 - 8.8.8.8. It stays an IPv6 row too.
    first, last = (_from_mapped(clamp(ends, *FOLDED)) for ends in (wide.first, wide.last))
    is_cut = is_outside[reaches].any()
    folded = replace(
        wide, first=first, last=last, keys=stated_keys(wide.first, wide.last) if is_cut else None
    )
    return folded, rows[is_outside]


def _from_mapped(ends: Addresses) -> Addresses:
    return Addresses((ends.low & np.uint64(0xFFFF_FFFF)).astype(np.uint32))
