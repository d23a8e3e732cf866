"""Lines of text, IPv4 before IPv6: one for each range or prefix.

Strategy: what a line says of a location or a network is the same for all ranges that have it. So
the rows of these tables are rendered once, and a batch of ranges takes and joins their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa

from geolookup.export.ranges import FieldRanges, Form
from geolookup.files.column_text import bytes_of, joined


class Syntax(NamedTuple):
    """How columns become lines.

    ``texts`` makes one column of n texts from names and columns; ``separator`` joins such
    columns, ``begin`` and ``end`` are around each line.
    """

    texts: Callable[[list[str], list[pa.Array]], pa.Array]
    separator: bytes
    begin: bytes = b""
    end: bytes = b"\n"


def write_rows(syntax: Syntax, ranges: FieldRanges, form: Form, stream: Any) -> int:
    """Write a line for each row of both families; return their number."""
    segments = list(_segments(syntax, ranges))
    count = 0
    for family in ranges.families:
        for spans in ranges.spans(family):
            rows = form.rows(spans)
            codes = [pa.array(each[rows.of]) for each in spans.codes]
            parts = [syntax.texts(list(form.names), rows.columns)]
            for is_network, texts in segments:
                parts += [syntax.separator, texts.take(codes[is_network])]
            stream.write(bytes_of(joined(syntax.begin, *parts, syntax.end)))
            ranges.progress.rows(len(rows.of))
            count += len(rows.of)
    return count


def _segments(syntax: Syntax, ranges: FieldRanges) -> Iterator[tuple[bool, pa.Array]]:
    """Yield for consecutive fields of one table whether it is the networks', and a text by row."""
    columns = ranges.columns
    for is_network, names in groupby(columns.schema.names, columns.is_of_network):
        chosen = list(names)
        yield is_network, syntax.texts(chosen, [columns.by_row[each] for each in chosen])
