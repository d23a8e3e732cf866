"""The intervals of one source table, and the counts of its rows and addresses.

Each family is flattened (``flatten``). Then it loses the space that lookups never search: one in
6to4 or NAT64 space uses the IPv4 address that the address carries. ``gather`` has folded
IPv4-mapped ranges into IPv4 before. Special-purpose space is kept for private layers only:
own columns with ``private = true``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.special import CARRIES_IPV4, PRIVATE, Range, ranges_of
from geolookup.dataset.intervals import Addresses, Bools, clamp, cut_at
from geolookup.parallel import alongside
from geolookup_builder import layers
from geolookup_builder.build_report import SourceReport
from geolookup_builder.columns import ROW, Columns, JoinedIntervals, Partition
from geolookup_builder.flatten import EXCLUDED, Rows, duplicates, flatten
from geolookup_builder.gather import SourceRows
from geolookup_builder.layer_values import UNKNOWN
from geolookup_builder.layers import Band, cut, hide, of_rows, underlay_bands

#: Marks of a row, a bit each: it owns an interval, hidden space included; it owns one
#: that lookups search; it has an address in special-purpose space; it has a value.
_OWNER, _USED, _SPECIAL, _VALUE = (np.uint8(1 << bit) for bit in range(4))


def flatten_table(
    rows: SourceRows,
    partitions: dict[int, Partition],
    columns: Columns,
    *,
    with_rows: bool = False,
) -> dict[int, Partition]:
    """Flatten the rows of a table, and overlay them below ``partitions``, in place.

    Counts the rows in their report. Returns the deciding rows by family, if asked for.
    """
    families = rows.families(partitions)
    counts = {family: _Counts(np.zeros(rows.report.read, np.uint8)) for family in families}
    owners = dict[int, Partition]()

    def flatten_family(family: int) -> None:
        of_family, base = families[family], partitions[family]
        deciding = JoinedIntervals(columns)

        def below(band: Band) -> Partition:
            part = of_family.take(band)
            of_band = _layers_of(part, band, counts[family], rows.schema.private_layers)
            position = of_band.numbers.pop(ROW)
            if with_rows:
                deciding.append(Partition(of_band.starts, {ROW: position}))
            return of_band

        of_bands = of_family.divide(base.starts, min(columns.budget.band, layers.BAND))
        partitions[family] = underlay_bands(base, of_bands, below, columns)
        if with_rows:
            owners[family] = deciding.finish()

    with alongside(partial(flatten_family, 6), rows.report.read) as ipv6:
        flatten_family(4)
        ipv6()
    _count([*counts.values()], rows.stated, rows.report, rows.schema.private_layers)
    return owners


@dataclass(slots=True)
class _Counts:
    """The counts of one family's rows in a table, added up band by band."""

    marks: NDArray[np.uint8]  # by position in the table
    rows: Counter[str] = field(default_factory=Counter)
    addresses: Counter[str] = field(default_factory=Counter)

    def add_rows(self, rows: Rows) -> None:
        """Count duplicates, clipped (private) addresses, and excluded rows and addresses.

        ``_count`` counts the clipped rows, because a row that is partly folded has ranges of both
        families.
        """
        family = rows.first.family
        self.rows["duplicate"] += duplicates(rows)
        is_special, addresses = _inside(rows, ranges_of(family, PRIVATE))
        self.marks[rows.position[is_special]] |= _SPECIAL
        self.addresses["special"] += addresses
        is_excluded, addresses = _inside(rows, EXCLUDED if family == 6 else ())
        self.rows["excluded"] += int(np.count_nonzero(is_excluded))
        self.addresses["excluded"] += addresses
        for codes in rows.numbers.values():
            self.marks[rows.position[codes != UNKNOWN]] |= _VALUE


def _inside(rows: Rows, blocks: Sequence[Range]) -> tuple[Bools, int]:
    """Mark the rows with an address in a block, and count these addresses; no blocks adjoin."""
    starts, within = cut_at(rows.first.family, blocks)
    # Of two neighbours in the partition one is in a block: a range that leaves its interval has
    # an address in a block.
    begin, end = starts.search(rows.first) - 1, starts.search(rows.last) - 1
    inside: Bools = within[begin] | (begin != end)
    total, firsts, lasts = 0, rows.first[inside], rows.last[inside]
    for block in blocks if len(firsts) else ():
        begins, ends = (Addresses.of(firsts.family, [bound]) for bound in block)
        here = ~(lasts < begins) & ~(ends < firsts)
        inner_first, inner_last = (clamp(bounds[here], *block) for bounds in (firsts, lasts))
        # Last less first, and one more address of each range.
        total += inner_last.minus(inner_first).total() + len(inner_last)
    return inside, total


def _layers_of(rows: Rows, band: Band, counts: _Counts, private: Collection[str]) -> Partition:
    """Flatten the rows of a band, and count them; remove space that lookups never search.

    ``private`` are the layers that are known in special-purpose space too. ROW is a layer too:
    1 + the position of the deciding row. Arrays are released as soon as nothing needs them: here a
    build takes the most memory.
    """
    # Rows that begin before the band are counted there.
    counts.add_rows(rows[np.flatnonzero(band.begins(rows.first))] if band.begin else rows)
    family, position, numbers = band.family, rows.position, rows.numbers
    owners = hide(flatten(rows, family), band.outside)
    del rows
    own = owners.numbers[ROW]
    counts.marks[position[own[own > 0] - 1]] |= _OWNER
    owners, special = cut(hide(owners, ranges_of(family, CARRIES_IPV4)), ranges_of(family, PRIVATE))
    in_special = {layer: numbers[layer] for layer in private if layer in numbers}
    public = {layer: codes for layer, codes in numbers.items() if layer not in private}
    (in_special or public)[ROW] = position.astype(np.int64) + 1  # type: ignore[assignment]
    numbers = of_rows(owners, in_special)
    owners.numbers[ROW][special] = 0
    numbers |= of_rows(owners, public)
    used = numbers[ROW]
    counts.marks[used[used > 0] - 1] |= _USED
    return band.crop(Partition(owners.starts, numbers))


def _count(
    families: Sequence[_Counts],
    layers: Collection[str],
    report: SourceReport,
    private: Collection[str],
) -> None:
    """Add the counts of a table's rows and addresses to the build report."""
    marks = np.bitwise_or.reduce([family.marks for family in families])
    for family in families:
        report.rows.update(family.rows)
        report.addresses.update(family.addresses)
    addresses = report.addresses.pop("special")
    report.used, special, owners = (
        int(np.count_nonzero(marks & mark)) for mark in (_USED, _SPECIAL, _OWNER)
    )
    report.private_layers = tuple(layer for layer in private if layer in layers)
    if report.private_layers:
        report.rows["private"], report.addresses["private"] = special, addresses
    if len(layers) > len(report.private_layers) or not layers:
        report.rows["clipped"], report.addresses["clipped"] = special, addresses
    used_value = _USED | _VALUE
    report.has_value = bool((marks & used_value == used_value).any())
    valid_rows = report.read - report.rejected.total()
    # Accepted rows that own nothing; duplicates among them have a count of their own.
    report.rows["covered"] = max(0, valid_rows - owners - report.rows["duplicate"])
