"""Typed rows, of Parquet files or of tables in memory, to batches; row numbers replace lines.

Threads find the meaning of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial

import pyarrow as pa

from geolookup.parallel import in_order
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import (
    Batch,
    Meaning,
    RecordNumbers,
    Reject,
)
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.typed_columns import Steps, as_columns, unread_leaves

BATCH_ROWS = 1 << 17
#: The steps to the columns of a layout, and the rows with these columns.
SteppedRows = tuple[Mapping[str, Steps], Iterator[pa.RecordBatch]]
#: Opens a member for the columns of a layout.
OpenRows = Callable[[Member, Layout], AbstractContextManager[SteppedRows]]


def batches(
    member: Member, schema: pa.Schema, layout: Layout, meaning: Meaning, open_rows: OpenRows
) -> Iterator[Batch]:
    """Yield the rows of a member."""
    find_rejects = partial(_find_rejects, layout=layout, open_rows=open_rows)
    unread = unread_leaves(schema, layout)
    numbers = RecordNumbers(member, find_rejects, unread, layout.offered)
    with open_rows(member, layout) as (steps, rows):
        interpret = partial(_interpret, layout=layout, steps=steps, meaning=meaning)
        with in_order(interpret, rows) as results:
            for ranges, fields in results:
                yield numbers.batch(ranges, fields)


def _interpret(
    rows: pa.RecordBatch, layout: Layout, steps: Mapping[str, Steps], meaning: Meaning
) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    return meaning(as_columns(rows, layout, steps))


def _find_rejects(
    member: Member, reasons: dict[int, str], *, layout: Layout, open_rows: OpenRows
) -> Iterator[Reject]:
    """Yield the rows with these numbers (from 1): the number as line, the range as text."""
    start = 0
    ranges = Layout(layout.names, layout.texts, frozenset())
    with open_rows(member, ranges) as (steps, batches_of_rows):
        for rows in batches_of_rows:
            columns = as_columns(rows, ranges, steps)
            # Numbers count from 1 over the member; ``start`` rows are before this batch.
            for number in sorted(record for record in reasons if 0 < record - start <= len(rows)):
                cells = [
                    _cell_text(columns.column(name)[number - start - 1].as_py())
                    for name in layout.names
                    if name in layout.texts
                ]
                yield Reject(member.label, number, reasons[number], ",".join(cells))
            start += len(rows)


def _cell_text(cell: object) -> str:
    if isinstance(cell, bytes):
        return cell.hex()
    return "" if cell is None else str(cell)
