"""Files with a row a line: lists of prefixes, feeds, statistics. One pattern splits each line.

The named groups of the pattern are the columns of the file. A line that does not match it is a row
without a range, which is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa

from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.delimited import batches
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Planner, Reading
from geolookup_builder.sources.reading.products import Header, Product
from geolookup_builder.sources.reading.reader import SourceTable, one_table
from geolookup_builder.sources.reading.text import Layout, line_parts


def plan_lines(
    planner: Planner,
    label: str,
    *,
    product: Product,
    pattern: str,
    lines: Layout,
    clean: Callable[[pa.Array], pa.Array] = lambda part: part,
) -> Reading:
    """Return how lines are read: split by a pattern, each part then changed by ``clean``."""
    reading = planner.plan(Header(label, tuple(re.compile(pattern).groupindex)), product)
    ranges, fields = reading.ranges, reading.layout.fields

    def split(rows: pa.RecordBatch) -> pa.RecordBatch:
        parts = {name: clean(part) for name, part in line_parts(rows, pattern).items()}
        cells = {name: parts[name].cast(pa.string()).dictionary_encode() for name in fields}
        return pa.RecordBatch.from_pydict({**cells, **{name: parts[name] for name in ranges}})

    layout = replace(lines, offered=reading.layout.offered)
    return replace(reading, layout=layout, prepare=split)


def line_table(
    spec: SourceSpec,
    suffixes: tuple[str, ...],
    plan: Callable[[Planner, str], Reading],
    prepare: Callable[[Member], Member] = lambda member: member,
) -> Iterator[SourceTable]:
    """Yield the one table of a source whose files are all read alike.

    ``prepare`` is called for every file before a row is read: it can refuse a file.
    """
    planner = Planner(spec)
    reading = plan(planner, spec.path)
    planner.check()
    return one_table(
        spec,
        suffixes,
        lambda member: batches(prepare(member), reading.layout, reading.meaning),
    )
