"""The intervals of one source table, and the counts of its rows and addresses.

Each family is flattened (``flatten``) and loses the space that lookups never search (``clip``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geolookup.dataset.intervals import I64, Bools
from geolookup_builder import clip
from geolookup_builder.flatten import Intervals, flatten
from geolookup_builder.gather import Gathered
from geolookup_builder.layer_values import UNKNOWN
from geolookup_builder.layers import Layered, hide, of_source
from geolookup_builder.report import SourceReport


@dataclass(frozen=True, slots=True)
class TableIntervals:
    """The intervals of one family in a table, and what the build report counts of its rows."""

    deciding: Intervals  # owned by the row's position in the table; -1: a gap
    layered: Layered
    counts: clip.Clipped
    clipped: I64  # positions of the rows with private addresses
    owning: Bools  # by position: whether the row owns an interval, hidden space included
    known: Bools  # by position: whether the row has a value


def intervals_of(rows: Gathered, family: int, size: int) -> TableIntervals:
    """Flatten one family's rows of a table of ``size``; remove space that lookups never search.

    Arrays are released as soon as nothing needs them: here a build takes the most memory.
    """
    counts, flat = clip.count(rows.ranges, family), flatten(rows.ranges, family)
    position, numbers = rows.position, rows.numbers
    del rows
    owning, known = np.zeros(size, bool), np.zeros(size, bool)
    owning[position[flat.owner[flat.owner >= 0]]] = True
    for each in numbers.values():
        known[position[each != UNKNOWN]] = True
    intervals = hide(flat, clip.hidden(family))
    del flat
    layered = of_source(intervals, numbers)
    # One more entry, so that the owner -1 (a gap) maps to -1.
    deciding = Intervals(intervals.starts, np.append(position, -1)[intervals.owner])
    return TableIntervals(deciding, layered, counts, position[counts.private], owning, known)


def count(families: Sequence[TableIntervals], report: SourceReport) -> None:
    """Add the counts of a table's rows and addresses to the build report."""
    used, clipped, owning, known = (np.zeros(report.read, bool) for _ in range(4))
    for each in families:
        owners = each.deciding.owner
        used[owners[owners >= 0]] = True
        clipped[each.clipped] = True
        owning |= each.owning
        known |= each.known
        report.addresses_clipped += each.counts.addresses
        report.rows_excluded += each.counts.excluded_rows
        report.addresses_excluded += each.counts.excluded_addresses
    report.used, report.rows_clipped = int(used.sum()), int(clipped.sum())
    report.known = bool((used & known).any())
    accepted = report.read - report.rejected.total()
    report.covered = max(0, accepted - int(owning.sum()) - report.duplicates)
