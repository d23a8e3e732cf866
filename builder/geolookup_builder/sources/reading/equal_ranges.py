"""Rows that state the same range, for formats in which not the later one decides.

In the compiler the later of equal ranges decides. A format that prefers another row gives the
values of that row to all rows of the range: no row is removed, and the report counts duplicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64
from geolookup_builder.flatten import changes
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.reader import Batch


def deciding(ranges: ParsedRanges, rank: I64) -> I64:
    """Return, for each row, the last row of the same range with the greatest rank."""
    ends = ranges.last.low, ranges.last.high, ranges.first.low, ranges.first.high
    keys = [each for each in ends if each is not None] + [ranges.family]
    order = np.lexsort((rank, *keys))
    if not len(order):
        return order
    begins = changes(*(each[order] for each in keys))
    last = np.append(np.flatnonzero(begins)[1:], len(order)) - 1
    rows = np.empty(len(order), np.int64)
    rows[order] = order[last][np.cumsum(begins) - 1]
    return rows


def with_values_of(batches: Sequence[Batch], rows: I64) -> list[Batch]:
    """Return batches, none of them empty, with the fields of other rows, numbered over all."""
    columns = {
        name: _joined([each.fields[name] for each in batches]).take(pa.array(rows))
        for name in batches[0].fields
    }
    begins = np.cumsum([0, *map(len, batches[:-1])]).tolist()
    return [
        replace(each, fields={n: c.slice(begin, len(each)) for n, c in columns.items()})
        for each, begin in zip(batches, begins, strict=True)
    ]


def _joined(columns: list[pa.DictionaryArray]) -> pa.DictionaryArray:
    return pa.chunked_array(columns).unify_dictionaries().combine_chunks()
