"""Delimited text to batches, by Arrow's CSV reader: what all text formats share.

Arrow parses blocks of rows and dictionary-encodes every field, so that no cell
becomes a Python object. A format gives a ``Layout`` and a function that says
what the columns mean. Threads parse blocks of whole records independently; text
in which the end of a record is uncertain is parsed in sequence.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import pyarrow as pa
import pyarrow.csv as pacsv

from geolookup.parallel import in_order
from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.sources.reading.damage import QuoteCount, arrow_failure, check_quotes
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.positions import find_rejects, first_lines
from geolookup_builder.sources.reading.reader import Batch, Meaning, RecordNumbers
from geolookup_builder.sources.reading.recognition import check_text
from geolookup_builder.sources.reading.record_blocks import RecordBlocks
from geolookup_builder.sources.reading.text import Layout, masked

BLOCK_BYTES = 8 << 20
_MAX_RECORD = 1 << 16  # characters; the standard CSV reader stops at twice as many
_ENCODED = pa.dictionary(pa.int32(), pa.string())


def batches(member: Member, layout: Layout, meaning: Meaning) -> Iterator[Batch]:
    """Yield the rows of a member; BuildError where it is not of the layout."""
    check_text(member)
    numbers = RecordNumbers(
        member, partial(find_rejects, layout=layout), partial(first_lines, layout=layout)
    )
    if not layout.header or first_record(member, layout)[1]:
        yield from _rows(member, layout, meaning, numbers)
    if not numbers.delivered:  # an empty batch, which carries the skipped records
        yield Batch(numbers, 0, from_networks(pa.array([], pa.large_string())), {})


def first_record(member: Member, layout: Layout) -> tuple[list[str], bool]:
    """Return the cells of the first line that is not masked, and whether it ends with a newline."""
    check_text(member)
    with member.open() as stream:
        text = io.TextIOWrapper(masked(stream, layout), "utf-8-sig", errors="replace", newline="")
        line = text.readline(_MAX_RECORD)
        while layout.mask is not None and line and not line.strip("\r\n"):
            line = text.readline(_MAX_RECORD)
        text.detach()
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    reader = csv.reader([line], delimiter=layout.delimiter, quoting=quoting)
    return next(reader, []), line.endswith(("\r", "\n"))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Parsed rows and what they mean; ``skipped`` counts the records of the text from 1."""

    ranges: ParsedRanges
    fields: Mapping[str, pa.DictionaryArray]
    skipped: list[int]


def _rows(
    member: Member, layout: Layout, meaning: Meaning, numbers: RecordNumbers
) -> Iterator[Batch]:
    with member.open() as stream:
        blocks = RecordBlocks(masked(stream, layout), layout, BLOCK_BYTES)
        quotes = 0
        try:
            numbered = enumerate(blocks)
            with in_order(partial(_parsed, layout=layout, meaning=meaning), numbered) as parsed:
                yield from _delivered(parsed, numbers)
            if blocks.rest is not None:
                counted = QuoteCount(blocks.rest)
                yield from _streamed(counted, layout, meaning, numbers)
                quotes = counted.count
        except pa.ArrowInvalid as error:
            raise arrow_failure(member, error, layout.not_utf8) from error
    if layout.quoted:
        check_quotes(member, quotes + blocks.quotes, layout.delimiter)


def _delivered(parsed: Iterator[_Rows], numbers: RecordNumbers) -> Iterator[Batch]:
    for rows in parsed:
        passed = numbers.delivered + len(numbers.skipped)
        numbers.skipped.extend(passed + record for record in rows.skipped)
        batch = Batch(numbers, numbers.delivered, rows.ranges, rows.fields)
        numbers.delivered += len(batch)
        yield batch


def _parsed(numbered: tuple[int, memoryview], layout: Layout, meaning: Meaning) -> _Rows:
    """Parse a block; the first one begins with the header, if the layout has one."""
    number, block = numbered
    read, parse, convert, skipped = _options(layout, header=layout.header and not number)
    read.block_size = len(block) + 1  # all of it at once
    table = pacsv.read_csv(pa.py_buffer(block), read, parse, convert)
    rows = pa.RecordBatch.from_arrays(
        [column.combine_chunks() for column in table.columns], schema=table.schema
    )
    return _Rows(*meaning(rows), skipped)


def _streamed(
    stream: object, layout: Layout, meaning: Meaning, numbers: RecordNumbers
) -> Iterator[Batch]:
    """Parse the rest, which is not split; threads find the meaning of the rows before."""
    header = layout.header and not numbers.delivered and not numbers.skipped
    read, parse, convert, skipped = _options(layout, header=header)
    read.block_size = 2 * BLOCK_BYTES  # which no record may exceed
    passed = numbers.delivered + len(numbers.skipped)
    with pacsv.open_csv(stream, read, parse, convert) as reader, in_order(meaning, reader) as found:
        for ranges, fields in found:
            yield Batch(numbers, numbers.delivered, ranges, fields)
            numbers.delivered += len(ranges.family)
    numbers.skipped.extend(passed + record for record in skipped)


def _options(
    layout: Layout, *, header: bool
) -> tuple[pacsv.ReadOptions, pacsv.ParseOptions, pacsv.ConvertOptions, list[int]]:
    """Return Arrow's options, and the list that gets the numbers of the skipped records."""
    skipped: list[int] = []

    def skip(row: pacsv.InvalidRow) -> str:
        skipped.append(row.number - header)  # Arrow counts a header as row 1
        return "skip"

    used = [name for name in layout.names if name in layout.texts | layout.wanted]
    types = {name: pa.large_string() if name in layout.texts else _ENCODED for name in used}
    names = None if header else list(layout.names)
    return (
        pacsv.ReadOptions(use_threads=False, column_names=names),
        pacsv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quoted else False,
            newlines_in_values=layout.quoted,
            invalid_row_handler=skip,
        ),
        pacsv.ConvertOptions(
            column_types=types, include_columns=used, null_values=[""], strings_can_be_null=True
        ),
        skipped,
    )
