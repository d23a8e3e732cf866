"""Delimited text to batches, by Arrow's CSV reader, for all text formats.

Arrow parses blocks of whole records in threads and dictionary-encodes every field: no cell becomes
a Python object. A format gives a ``Layout`` and a function for the meaning of the columns.

Reading a file notes only the numbers of rejected records. ``find_rejects`` reads their lines and
texts in a second pass over the blocks. Tables that rows refer to are read whole, once.
"""

from __future__ import annotations

import io
import re
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, repeat
from typing import IO, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError
from geolookup.files.text_blocks import TextError, record_blocks
from geolookup.parallel import in_order
from geolookup_builder.ranges import WRONG_CELL_COUNT, from_networks
from geolookup_builder.sources.reading.dictionary_columns import trim
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Reading
from geolookup_builder.sources.reading.reader import Batch, RecordNumbers, Reject
from geolookup_builder.sources.reading.sniffing import TEXT, check_kind
from geolookup_builder.sources.reading.text import (
    Layout,
    check_utf8,
    csv_records,
    mask_lines,
    unlimited_cells,
)

_T = TypeVar("_T")
_CHUNK = 1 << 20
BLOCK_BYTES = 4 << 20
_MAX_HEADER = 1 << 16  # bytes; the standard CSV reader stops at twice as many
_FIRST_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)?")
_ENCODED = pa.dictionary(pa.int32(), pa.string())
_NO_KEY = -2


def batches(member: Member, reading: Reading) -> Iterator[Batch]:
    """Yield the rows of a member; BuildError if it is not of the layout."""
    check_kind(member, TEXT)
    layout, counts = reading.layout, list[int]()
    find = partial(find_rejects, layout=layout, counts=counts)
    numbers = RecordNumbers(member, find, layout.unread, layout.offered)
    for (ranges, fields), skipped in _parts(member, layout, reading.meaning, counts):
        numbers.skipped += skipped
        yield numbers.batch(ranges, fields)
    if not numbers.delivered:  # an empty batch carries the skipped records
        yield numbers.batch(from_networks(pa.array([], pa.large_string())), {})


def header_names(member: Member, layout: Layout) -> tuple[str, ...]:
    """Return the names in the first line of a member, without the blanks around them."""
    check_kind(member, TEXT)
    with member.open() as stream:
        blocks = record_blocks(stream, _CHUNK, layout.delimiter, quoted=False)
        line = _header(next(blocks, (1, b""))[1])[:_MAX_HEADER].decode("utf-8", "replace")
    records = csv_records([line], layout.delimiter, quoted=layout.quoted)
    return tuple(cell.strip() for _, _, cells in records for cell in cells)


def _header(block: bytes) -> bytes:
    """Return the first line of a block, with its line break."""
    match = _FIRST_LINE.match(block)
    return match[0] if match else b""


def _blocks(stream: IO[bytes], layout: Layout) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole records, after any header, each with the number of its first line."""
    for line, block in record_blocks(stream, BLOCK_BYTES, layout.delimiter, quoted=layout.quoted):
        if line > 1 or not layout.header:
            yield line, block
            continue
        header = _header(block)
        check_utf8(line, header, layout.not_utf8)
        if rows := block[len(header) :]:
            yield line + 1, rows


def find_rejects(
    member: Member, reasons: Mapping[int, str], *, layout: Layout, counts: Sequence[int] = ()
) -> Iterator[Reject]:
    """Yield the records whose numbers are in ``reasons``, in file order, with line and text.

    The first record, after a header if there is one, is 1. ``counts`` are the records of each
    block, as far as they are known: blocks without a wanted record are then not parsed.
    """
    wanted, record, line = sorted(reasons), 0, 1 + layout.header
    with member.open() as stream, unlimited_cells():
        blocks = zip(_blocks(stream, layout), chain(counts, repeat(None)), strict=False)
        for (_, block), count in blocks:
            if not wanted or record >= wanted[-1]:
                return
            if count is not None and bisect(wanted, record) == bisect(wanted, record + count):
                record += count
                line += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
                continue
            text = mask_lines(block, layout).decode("utf-8", "replace")
            lines = io.StringIO(text, newline="").readlines()
            for begin, end, _ in csv_records(lines, layout.delimiter, quoted=layout.quoted):
                record += 1
                if record in reasons:
                    text = "".join(lines[begin:end]).rstrip("\r\n")
                    yield Reject(member.label, line + begin, reasons[record], text)
            line += len(lines)


def _parts(
    member: Member, layout: Layout, meaning: Callable[[pa.RecordBatch], _T], counts: list[int]
) -> Iterator[tuple[_T, list[int]]]:
    """Yield the meaning of each block and the numbers of its skipped records; threads parse.

    ``counts`` gets the number of records of each block.
    """
    parse = partial(_parse_block, layout=layout, meaning=meaning)
    with member.open() as stream, in_order(parse, _blocks(stream, layout)) as parts:
        for part, rows, skipped in parts:
            before = sum(counts)  # records of a block count from 1
            counts.append(rows + len(skipped))
            yield part, [before + record for record in skipped]


def _parse_block(
    numbered_block: tuple[int, bytes], layout: Layout, meaning: Callable[[pa.RecordBatch], _T]
) -> tuple[_T, int, list[int]]:
    """Return the meaning of a block, its number of rows, and the skipped records, from 1."""
    line, block = numbered_block[0], mask_lines(numbered_block[1], layout)
    check_utf8(line, block, layout.not_utf8)
    skipped = list[int]()

    def skip(row: pacsv.InvalidRow) -> str:
        skipped.append(row.number)
        return "skip"

    read = pacsv.ReadOptions(
        use_threads=False,
        block_size=len(block) + 1,  # all of it at once
        column_names=list(layout.names),
    )
    parse = pacsv.ParseOptions(
        delimiter=layout.delimiter,
        quote_char='"' if layout.quoted else False,
        newlines_in_values=layout.quoted,
        invalid_row_handler=skip,
    )
    read_names = [name for name in layout.names if name in layout.texts | layout.fields]
    types = {n: pa.large_string() if n in layout.texts else _ENCODED for n in read_names}
    convert = pacsv.ConvertOptions(
        column_types=types, include_columns=[*types], null_values=[""], strings_can_be_null=True
    )
    try:
        table = pacsv.read_csv(pa.py_buffer(block), read, parse, convert)
    except pa.ArrowInvalid as error:
        problem = f"not CSV ({str(error).splitlines()[0]})"
        raise TextError(problem, "check that the file is whole") from error
    columns = [column.combine_chunks() for column in table.columns]
    # Ranges lose the blanks around them when they are parsed.
    cells = [trim(c) if isinstance(c, pa.DictionaryArray) else c for c in columns]
    return meaning(pa.RecordBatch.from_arrays(cells, names=read_names)), len(table), skipped


@dataclass(frozen=True)
class KeyedTable:
    """A table that rows refer to by a key, a whole number; of equal keys the first row is used."""

    keys: pa.Array
    columns: Mapping[str, pa.Array]

    def rows(self, keys: pa.DictionaryArray) -> pa.Array:
        """Return the row of each key; null if there is none."""
        # The keys are sorted once. Arrow's ``index_in`` would hash all of them for every batch.
        order, sorted_keys = self._sorted
        numbers = _numbers(keys.dictionary).fill_null(-1).to_numpy()
        # Of equal keys the first in the order, so the first row. Beyond the last key: the last.
        at = np.minimum(np.searchsorted(sorted_keys, numbers), len(sorted_keys) - 1)
        rows = pa.array(order[at].astype(np.int32), mask=sorted_keys[at] != numbers)
        return rows.take(keys.indices)

    @cached_property
    def _sorted(self) -> tuple[I64, I64]:
        """The rows in the order of their keys, and the keys; a null key is _NO_KEY."""
        # One more key: a table without rows can be searched too.
        numbers = np.append(self.keys.fill_null(_NO_KEY).to_numpy(), _NO_KEY)
        order = np.argsort(numbers, kind="stable")
        return order, numbers[order]


def load_keyed(
    member: Member, names: tuple[str, ...], key: str, columns: tuple[str, ...]
) -> KeyedTable:
    """Read ``columns`` of a CSV with the header ``names``; columns that it lacks are null.

    Raises BuildError for a row with another number of cells: it would silently remove a value from
    many ranges.
    """
    layout = Layout(names, frozenset({key, *columns} & {*names}), frozenset())
    parts = list(_parts(member, layout, lambda rows: rows, []))
    skipped = dict.fromkeys((record for _, records in parts for record in records), "")
    for reject in find_rejects(member, skipped, layout=layout):
        remedy = "the file may be truncated: fetch it again"
        raise BuildError(member.label, WRONG_CELL_COUNT, line=reject.line, remedy=remedy)

    def texts(name: str) -> pa.Array:
        chunks = [rows.column(name).cast(pa.string()) for rows, _ in parts]
        return pc.utf8_trim_whitespace(pa.chunked_array(chunks, pa.string()).combine_chunks())

    keys = _numbers(texts(key))
    absent = pa.nulls(len(keys), pa.string())
    return KeyedTable(keys, {n: texts(n) if n in names else absent for n in columns})


def _numbers(texts: pa.Array) -> pa.Array:
    """Return texts as numbers; null for one that is not the usual text of its number ("007")."""
    is_number = pc.match_substring_regex(texts.cast(pa.string()), "^(0|[1-9][0-9]{0,17})$")
    return pc.if_else(is_number, texts, pa.scalar(None, texts.type)).cast(pa.int64())
