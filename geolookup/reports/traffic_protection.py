"""Which cells of a table of counts a page shows, if it states the sums of rows and columns too.

The last row is the rest: none of its cells is shown. Further rows can join it. A reader knows the
sums of rows and columns, so also sums of hidden cells: columns added, rows subtracted. Each such
sum that is a count of requests must be 0 or at least ``least``, as the sums of rows and columns
are. Three rules ensure this:

1. The hidden cells of a row sum to 0 or to at least ``least``.
2. In a column with hidden cells the rest has at least ``least``. Else all of the column is hidden.
3. In the columns that rule 2 hides, the rest has at least ``least`` together.

Proof: add some columns and subtract some rows, not all of the rest. The cells that remain have one
sign only if all hidden cells of the subtracted rows are in the added columns. Without a subtracted
row the sum is one of columns. With one, the added columns include all of rule 3, or a column of
rule 2: the rest has ``least`` there. Without an added column the sum is one of rows, of rule 1.

Example, ``least`` 5:  a 9 3   9 + 3 = 12 is known, and 3 is hidden, so 9 is hidden too: rule 1.
                       b 8 7   The rest has only 1 in the second column: rules 2 and 3 hide both.
                    rest 6 1   With b in the rest too, it would have 14 and 8.
"""

from __future__ import annotations

import numpy as np

from geolookup.dataset.intervals import I64, Bools


def protect(counts: I64, least: int, is_hidden: Bools | None = None) -> Bools:
    """Return which cells are shown, shape of ``counts``; ``is_hidden`` are columns without any.

    As many of the smallest rows join the rest as lets the page show the largest sum.
    """
    columns = np.zeros(counts.shape[1], bool) if is_hidden is None else is_hidden
    if least <= 1 or not counts.size:
        return _without_rest(np.ones(counts.shape, bool), np.array([len(counts) - 1]))
    smallest = np.argsort(counts[:-1].sum(axis=1), kind="stable")
    numbers = {0, *(1 << power for power in range(len(smallest).bit_length()))}
    masks = [
        _protect(counts, least, columns, np.append(smallest[:number], len(counts) - 1))
        for number in sorted(numbers)
    ]
    return max(masks, key=lambda mask: int(counts[mask].sum()))


def _protect(counts: I64, least: int, is_hidden: Bools, rest_rows: I64) -> Bools:
    remaining = counts[rest_rows].sum(axis=0)
    dropped = is_hidden.copy()
    result = _without_rest((counts >= least) & ~dropped, rest_rows)
    while True:
        before = result.copy()
        _cover_rows(result, counts, least)
        dropped |= (np.where(result, 0, counts).sum(axis=0) > 0) & (remaining < least)
        if (
            dropped.any()
            and not dropped.all()
            and (missing := least - remaining[dropped].sum()) > 0
        ):
            dropped[_column(remaining, dropped, missing)] = True
        result[:, dropped] = False
        if np.array_equal(before, result):
            return result


def _without_rest(mask: Bools, rest_rows: I64) -> Bools:
    mask[rest_rows] = False
    return mask


def _cover_rows(mask: Bools, counts: I64, least: int) -> None:
    """Hide the smallest shown cell of rows that break rule 1."""
    hidden = np.where(mask, 0, counts).sum(axis=1)
    rows = np.flatnonzero((hidden > 0) & (hidden < least) & mask.any(axis=1))
    shown = np.where(mask[rows], counts[rows], np.iinfo(np.int64).max)
    mask[rows, shown.argmin(axis=1)] = False


def _column(remaining: I64, dropped: Bools, missing: int) -> int:
    """Return a column to hide for rule 3: the rest has ``missing`` there, or the most."""
    columns = np.flatnonzero(~dropped)
    enough = columns[remaining[columns] >= missing]
    if len(enough):
        return int(enough[remaining[enough].argmin()])
    return int(columns[remaining[columns].argmax()])
