"""Files with a row a line: lists of prefixes, feeds, statistics. One pattern splits each line.

The named groups of the pattern are the columns of the file. A line that does not match it is a row
without a range, which is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.delimited import batches
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Planner, Reading
from geolookup_builder.sources.reading.products import Fields, Header, Product
from geolookup_builder.sources.reading.reader import SourceTable, one_table
from geolookup_builder.sources.reading.text import LINE, Layout, line_parts


@dataclass(frozen=True)
class LineReading(Reading):
    """How lines are read: split by a pattern, each part then changed by ``clean``."""

    pattern: str
    clean: Callable[[pa.Array], pa.Array]

    def meaning(self, rows: pa.RecordBatch) -> tuple[ParsedRanges, Fields]:
        """Return the range of each row, and its fields."""
        used = {name for offers in self.values.values() for o in offers for name in o.columns}
        parts = line_parts(rows, self.pattern)
        columns = {name: self.clean(parts[name]) for name in (*self.ranges, *used)}
        columns |= {name: columns[name].cast(pa.string()).dictionary_encode() for name in used}
        # Without a used column a batch would have no rows.
        columns[LINE] = rows.column(LINE)
        return Reading.meaning(self, pa.RecordBatch.from_pydict(columns))


def plan_lines(
    planner: Planner,
    label: str,
    product: Product,
    pattern: str,
    layout: Layout,
    clean: Callable[[pa.Array], pa.Array] = lambda part: part,
) -> LineReading:
    """Return how the lines of a file are read."""
    names = tuple(re.compile(pattern).groupindex)
    reading = planner.plan(Header(label, names), product)
    layout = replace(layout, offered=reading.layout.offered)
    return LineReading(
        product, layout, reading.ranges, reading.values, reading.parse, pattern, clean
    )


def line_table(
    spec: SourceSpec,
    suffixes: tuple[str, ...],
    plan: Callable[[Planner], Reading],
    prepare: Callable[[Member], Member] = lambda member: member,
) -> Iterator[SourceTable]:
    """Yield the one table of a source whose files are all read alike.

    ``prepare`` is called for every file before a row is read: it can refuse a file.
    """
    planner = Planner(spec)
    reading = plan(planner)
    planner.check()
    return one_table(
        spec,
        suffixes,
        lambda member: batches(prepare(member), reading.layout, reading.meaning),
    )
