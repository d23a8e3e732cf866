"""Lines of text, one for each range or prefix, IPv4 first: CSV, JSON lines, and escaped cells.

Strategy: the text of a location or a network is the same for all ranges that have it. So the rows
of these tables are rendered once, and a batch of ranges takes and joins their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.files import Dataset
from geolookup.export.formats import Counts, Values
from geolookup.export.ranges import TEXT_FORMS, FieldRanges, Form, choose_form
from geolookup.files.column_text import (
    bytes_of,
    cell_texts,
    header_line,
    join,
    joined_cells,
    joined_members,
)
from geolookup.progress import Progress

#: Characters that end a cell or a line, and their escapes.
ENDS = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
#: The backslash first: the backslashes of the others are not escaped again.
_ESCAPES = {"\\": "\\\\", **ENDS}
_SPECIAL = r"[\\\t\n\r]"
_BYTES = pa.large_binary()


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
    ranges, form = FieldRanges(dataset, values, progress), choose_form(values, TEXT_FORMS)
    target.write(header_line(ranges.schema(form).names, ","))
    return {form.counted: write_rows(_CSV, ranges, form, target)}


def write_jsonl(dataset: Dataset, target: Any, values: Values, progress: Progress) -> Counts:
    """Write an object for each row, with a member for each field; see ``formats.Write``."""
    ranges, form = FieldRanges(dataset, values, progress), choose_form(values, TEXT_FORMS)
    return {form.counted: write_rows(_JSONL, ranges, form, target)}


def write_rows(syntax: Syntax, ranges: FieldRanges, form: Form, stream: Any) -> int:
    """Write a line for each row of both families; return their number."""
    segments = list(_segments(syntax, ranges))
    count = 0
    for family in ranges.families:
        for spans in ranges.spans(family):
            rows = form.rows(spans)
            codes = ranges.columns.by_table([code[rows.of] for code in spans.codes])
            parts = [syntax.texts(list(form.names), rows.columns)]
            for table, texts in segments:
                parts += [syntax.separator, texts.take(codes[table])]
            stream.write(bytes_of(join(syntax.begin, *parts, syntax.end)))
            ranges.progress.rows(len(rows.of))
            count += len(rows.of)
    return count


def _segments(syntax: Syntax, ranges: FieldRanges) -> Iterator[tuple[str, pa.Array]]:
    """Yield for consecutive fields of one table that table, and a text by row."""
    columns = ranges.columns
    # Fields in order: location location network location -> three segments, of two tables.
    for table, names in groupby(columns.schema.names, columns.table_of):
        members = list(names)
        yield table, syntax.texts(members, [columns.by_row[name] for name in members])


def escaped_cells(columns: list[pa.Array], lists: Callable[[pa.Array], pa.Array]) -> pa.Array:
    r"""Return n rows of cells with escapes and tabs, as PostgreSQL and ClickHouse read them.

    Null is ``\N``; ``lists`` makes the texts of a column of lists.
    """
    parts: list[Any] = []
    for column in columns:
        texts = lists(column) if pa.types.is_list(column.type) else escape(cell_texts(column))
        parts += [b"\t", texts.fill_null(b"\\N")]
    # [1:]: without the first tab.
    return join(*parts[1:])


def escape(texts: pa.Array) -> pa.Array:
    """Return texts with backslashes, tabs and line ends escaped."""
    special = pc.fill_null(pc.match_substring_regex(texts, _SPECIAL), False)
    if not pc.any(special).as_py():
        return texts
    matching = texts.filter(special)
    for character, replacement in _ESCAPES.items():
        matching = pc.replace_substring(matching, character.encode(), replacement.encode())
    return pc.replace_with_mask(texts, special, matching)


def list_texts(column: pa.Array, begin: str, quote: str, end: str) -> pa.Array:
    """Return lists of texts, each in quotes; a backslash precedes a quote and a backslash."""
    literals = (
        None if texts is None else begin + ",".join(_quote(text, quote) for text in texts) + end
        for texts in column.to_pylist()
    )
    return pa.array(literals, pa.large_string()).cast(_BYTES)


def _quote(text: str, quote: str) -> str:
    inner = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{inner}{quote}"
