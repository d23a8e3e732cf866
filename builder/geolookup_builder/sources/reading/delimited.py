"""Delimited text to batches, by Arrow's CSV reader: what all readers of text share.

Strategy: blocks of rows are cut by Arrow, every field dictionary-encoded, so
that no cell becomes a Python object; a reader says by a ``Layout`` how the
file is cut, and by a function what the columns mean.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal

import pyarrow as pa
import pyarrow.csv as pacsv

from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.sources.reading.ahead import ahead
from geolookup_builder.sources.reading.damage import QuoteCount, arrow_failure, check_quotes
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.locate import locate
from geolookup_builder.sources.reading.mask import masked
from geolookup_builder.sources.reading.reader import Batch, RowNumbers
from geolookup_builder.sources.reading.record_lines import record_lines

BLOCK_BYTES = 16 << 20
_LONGEST_RECORD = 1 << 16  # characters; the standard reader stops at twice as many
_ENCODED = pa.dictionary(pa.int32(), pa.string())
#: What the columns of some rows mean: their ranges and fields.
Meaning = Callable[[pa.RecordBatch], tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]]


def batches(member: Member, layout: Layout, meaning: Meaning) -> Iterator[Batch]:
    """Yield the rows of a member; BuildError where it is not of the layout."""
    found = partial(locate, layout=layout), partial(record_lines, layout=layout)
    numbers = RowNumbers(member, *found)
    if not layout.header or first_record(member, layout)[1]:
        yield from _rows(member, layout, meaning, numbers)
    if not numbers.delivered:  # so that the rows that were skipped are known of
        yield Batch(numbers, 0, from_networks(pa.array([], pa.large_string())), {})


def first_record(member: Member, layout: Layout) -> tuple[list[str], bool]:
    """Return the cells of the first line that is a row, and whether more follows it."""
    with member.open() as stream:
        text = io.TextIOWrapper(masked(stream, layout), "utf-8-sig", errors="replace", newline="")
        line = text.readline(_LONGEST_RECORD)
        while layout.mask is not None and line and not line.strip("\r\n"):
            line = text.readline(_LONGEST_RECORD)  # a masked line
        text.detach()
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    reader = csv.reader([line], delimiter=layout.delimiter, quoting=quoting)
    return next(reader, []), line.endswith(("\r", "\n"))


def _rows(member: Member, layout: Layout, meaning: Meaning, numbers: RowNumbers) -> Iterator[Batch]:
    with member.open() as stream:
        counted, reader = QuoteCount(masked(stream, layout)), None
        try:
            reader = _open(counted, layout, numbers)
            with ahead(reader) as following:
                for rows in following:
                    yield Batch(numbers, numbers.delivered, *meaning(rows))
                    numbers.delivered += len(rows)
        except pa.ArrowInvalid as error:
            raise arrow_failure(member, error, layout.not_utf8) from error
        finally:
            if reader is not None:
                reader.close()
    if layout.quoted:
        check_quotes(member, counted.count, layout.delimiter)


def _open(stream: object, layout: Layout, numbers: RowNumbers) -> pacsv.CSVStreamingReader:
    def skip(row: pacsv.InvalidRow) -> str:
        numbers.skipped.append(row.number - layout.header)  # Arrow counts a header as row 1
        return "skip"

    used = [name for name in layout.names if name in layout.texts | layout.wanted]
    types = {name: pa.large_string() if name in layout.texts else _ENCODED for name in used}
    names = None if layout.header else list(layout.names)
    return pacsv.open_csv(
        stream,
        pacsv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, column_names=names),
        pacsv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quoted else False,
            newlines_in_values=layout.quoted,
            invalid_row_handler=skip,
        ),
        pacsv.ConvertOptions(
            column_types=types, include_columns=used, null_values=[""], strings_can_be_null=True
        ),
    )
