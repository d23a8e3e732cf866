"""Delimited text to batches, by Arrow's CSV reader: what all text formats share.

Arrow parses blocks of rows and dictionary-encodes every field, so that no cell
becomes a Python object. A format gives a ``Layout`` and a function that says
what the columns mean. A thread reads the next batch while one is worked on:
Arrow parses without Python's global lock, so that two cores are used.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Literal, TypeVar

import pyarrow as pa
import pyarrow.csv as pacsv

from geolookup_builder.ranges import from_networks
from geolookup_builder.sources.reading.damage import QuoteCount, arrow_failure, check_quotes
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.positions import find_rejects, first_lines
from geolookup_builder.sources.reading.reader import Batch, Meaning, RecordNumbers
from geolookup_builder.sources.reading.text import Layout, masked

BLOCK_BYTES = 16 << 20
_MAX_RECORD = 1 << 16  # characters; the standard CSV reader stops at twice as many
_ENCODED = pa.dictionary(pa.int32(), pa.string())
_T = TypeVar("_T")


def batches(member: Member, layout: Layout, meaning: Meaning) -> Iterator[Batch]:
    """Yield the rows of a member; BuildError where it is not of the layout."""
    numbers = RecordNumbers(
        member, partial(find_rejects, layout=layout), partial(first_lines, layout=layout)
    )
    if not layout.header or first_record(member, layout)[1]:
        yield from _rows(member, layout, meaning, numbers)
    if not numbers.delivered:  # an empty batch, which carries the skipped records
        yield Batch(numbers, 0, from_networks(pa.array([], pa.large_string())), {})


def first_record(member: Member, layout: Layout) -> tuple[list[str], bool]:
    """Return the cells of the first line that is not masked, and whether it ends with a newline."""
    with member.open() as stream:
        text = io.TextIOWrapper(masked(stream, layout), "utf-8-sig", errors="replace", newline="")
        line = text.readline(_MAX_RECORD)
        while layout.mask is not None and line and not line.strip("\r\n"):
            line = text.readline(_MAX_RECORD)
        text.detach()
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    reader = csv.reader([line], delimiter=layout.delimiter, quoting=quoting)
    return next(reader, []), line.endswith(("\r", "\n"))


def _rows(
    member: Member, layout: Layout, meaning: Meaning, numbers: RecordNumbers
) -> Iterator[Batch]:
    with member.open() as stream:
        counted, reader = QuoteCount(masked(stream, layout)), None
        try:
            reader = _open(counted, layout, numbers)
            with prefetched(reader) as following:
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


def _open(stream: object, layout: Layout, numbers: RecordNumbers) -> pacsv.CSVStreamingReader:
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


@contextmanager
def prefetched(batches: Iterable[_T]) -> Iterator[Iterator[_T]]:
    """Give the batches in their order, each read by a thread in advance.

    An exception of the reader is raised in place of its batch. After the block
    nothing is being read.
    """
    with ThreadPoolExecutor(1) as thread:
        yield _prefetched(iter(batches), thread)


def _prefetched(batches: Iterator[_T], thread: ThreadPoolExecutor) -> Iterator[_T]:
    following = thread.submit(next, batches, None)
    while (batch := following.result()) is not None:
        following = thread.submit(next, batches, None)
        yield batch
