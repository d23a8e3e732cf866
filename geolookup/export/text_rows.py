"""Lines of text, one for each range or prefix, IPv4 first: CSV and JSON lines.

Strategy: the text of a location or a network is the same for all ranges that have it. So the rows
of these tables are rendered once, and a batch of ranges takes and joins their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa

from geolookup.dataset.files import Dataset
from geolookup.export.formats import Counts, Values
from geolookup.export.ranges import TEXT_FORMS, FieldRanges
from geolookup.files.column_text import (
    bytes_of,
    header_line,
    join,
    joined_cells,
    joined_members,
)
from geolookup.progress import Progress
from geolookup.tables.row_tables import table_of


class Syntax(NamedTuple):
    """How columns become lines.

    ``texts`` makes one column of n texts from names and columns; ``separator`` joins such
    columns, ``begin`` and ``end`` are around each line.
    """

    texts: Callable[[list[str], list[pa.Array]], pa.Array]
    separator: bytes
    begin: bytes = b""
    end: bytes = b"\n"


_CSV = Syntax(lambda _names, columns: joined_cells(columns, ","), b",")
_JSONL = Syntax(joined_members, b",", b"{", b"}\n")


def write_csv(dataset: Dataset, target: Any, values: Values, progress: Progress) -> Counts:
    """Write CSV (RFC 4180): a header and the rows, null as an empty cell; see ``formats.Write``."""
    ranges = FieldRanges(dataset, values, progress, TEXT_FORMS)
    target.write(header_line(ranges.schema().names, ","))
    return write_rows(_CSV, ranges, target)


def write_jsonl(dataset: Dataset, target: Any, values: Values, progress: Progress) -> Counts:
    """Write an object for each row, with a member for each field; see ``formats.Write``."""
    ranges = FieldRanges(dataset, values, progress, TEXT_FORMS)
    return write_rows(_JSONL, ranges, target)


def write_rows(syntax: Syntax, ranges: FieldRanges, stream: Any) -> Counts:
    """Write a line for each row of both families; return their count."""
    segments = list(_segments(syntax, ranges))
    count = 0
    for family in ranges.families:
        for spans in ranges.spans(family):
            rows = ranges.form.rows(spans)
            codes = ranges.columns.by_table([code[rows.of] for code in spans.codes])
            parts = [syntax.texts(list(ranges.form.names), rows.columns)]
            for table, texts in segments:
                parts += [syntax.separator, texts.take(codes[table])]
            stream.write(bytes_of(join(syntax.begin, *parts, syntax.end)))
            ranges.progress.rows(len(rows.of))
            count += len(rows.of)
    return {ranges.form.counted: count}


def _segments(syntax: Syntax, ranges: FieldRanges) -> Iterator[tuple[str, pa.Array]]:
    """Yield for consecutive fields of one table that table, and a text by row."""
    columns = ranges.columns
    # Fields in order: location location network location -> three segments, of two tables.
    for table, fields in groupby(ranges.fields, table_of):
        names = [field.name for field in fields]
        yield table, syntax.texts(names, [columns.by_row[name] for name in names])
