"""How a text file is split into rows, and the streams that prepare it for Arrow's CSV reader.

``Layout`` states columns and punctuation. ``mask_lines`` empties the lines that are not rows,
``transcode`` converts another encoding to UTF-8. For rows of varying width, ``line_layout`` makes
each line one cell and ``line_parts`` splits it by a regular expression in Arrow: a row with too few
or too many cells is still a row.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Literal

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup.files.text_blocks import TextError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.inputs import Member

#: The column of a layout with a row a line.
LINE = "line"
#: Unit separator: no text file holds it, so every line is one cell.
_NO_DELIMITER = "\x1f"


@dataclass(frozen=True, slots=True)
class Layout:
    """A delimited file: its columns in order, and its punctuation.

    ``texts`` are the columns read as plain text (ranges, keys of joins); the other columns of
    ``fields`` are dictionary-encoded; ``lists`` are those that can hold lists, in files with lists.
    ``mask`` matches, in bytes, the lines that are not rows (comments, summaries), each with its
    line break; they are read as empty lines to keep the line numbers. Only a layout without quotes
    has one. ``not_utf8`` is the remedy for another encoding. ``offered`` are the own columns that a
    recipe can declare for the file.
    """

    names: tuple[str, ...]
    texts: frozenset[str]
    fields: frozenset[str]
    header: bool = True
    delimiter: str = ","
    quoted: bool = True
    mask: re.Pattern[bytes] | None = None
    not_utf8: str = "convert it to UTF-8"
    lists: frozenset[str] = frozenset()
    offered: tuple[str, ...] = ()

    @property
    def unread(self) -> tuple[str, ...]:
        """The columns that are not read, in order."""
        return tuple(name for name in self.names if name not in self.texts | self.fields)


def line_layout(*masked_starts: str) -> Layout:
    """Return a layout with a row a line, without blank lines and those that begin as given."""
    starts = "|".join((*masked_starts, r"[ \t\v\f]+\r?$"))
    # A byte order mark may precede the first line.
    mask = re.compile(rf"(?m)^(?:\xef\xbb\xbf)?(?:{starts})[^\n]*\n?".encode("latin-1"))
    return Layout(
        (LINE,),
        frozenset({LINE}),
        frozenset(),
        header=False,
        delimiter=_NO_DELIMITER,
        quoted=False,
        mask=mask,
    )


def line_parts(rows: pa.RecordBatch, pattern: str) -> dict[str, pa.Array]:
    """Return the named groups of ``pattern`` in each line; null if it does not match."""
    groups = pc.extract_regex(rows.column(LINE), pattern)
    return {field.name: pc.struct_field(groups, field.name) for field in groups.type}


def prefix_texts(addresses: pa.Array, lengths: pa.Array) -> pa.Array:
    """Return prefixes in CIDR text; null if the address or the length is."""
    return pc.binary_join_element_wise(addresses, lengths, pa.scalar("/", addresses.type))


def mask_lines(block: bytes, layout: Layout) -> bytes:
    """Return whole lines, with line feeds, and with those that ``layout.mask`` matches emptied."""
    if layout.mask is None:
        return block
    lines = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block
    # b"# x\n1.2.3.0/24\n" -> b"\n1.2.3.0/24\n": the second line stays the second.
    return layout.mask.sub(b"\n", lines)


def check_utf8(line: int, block: bytes, remedy: str = "convert it to UTF-8") -> None:
    """Raise TextError for a line that is not UTF-8, of a block that begins with ``line``."""
    try:
        block.decode()
    except UnicodeDecodeError as error:
        at = line + block.count(b"\n", 0, error.start)
        raise TextError("not UTF-8", remedy, at) from error


def csv_records(
    lines: Iterable[str], delimiter: str, *, quoted: bool = True
) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the cells of each record, after the lines before it and those up to its end."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    rows, begin = csv.reader(lines, delimiter=delimiter, quoting=quoting), 0
    for cells in rows:
        if cells:  # Arrow skips empty lines too
            yield begin, rows.line_num, cells
        begin = rows.line_num


@contextmanager
def unlimited_cells() -> Iterator[None]:
    """Let the standard CSV reader accept cells of any size; its global limit is restored."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def encoding_option(spec: SourceSpec) -> str | None:
    """Return the recipe's ``encoding``, checked; None if it states none."""
    name = spec.options.get("encoding")
    if name is None:
        return None
    try:
        "".encode(name)
    except (LookupError, ValueError, TypeError) as error:
        problem = f"unknown encoding {name!r}"
        remedy = 'write one such as "cp1252" or "shift_jis"'
        raise BuildError(spec.recipe, problem, remedy=remedy) from error
    return str(name)


def transcode(member: Member, encoding: str | None) -> Member:
    """Return the member as UTF-8; unchanged without a stated encoding or a byte order mark."""
    name = encoding or _marked_encoding(member)
    return replace(member, opener=partial(_in_utf8, member, name)) if name else member


def _marked_encoding(member: Member) -> str | None:
    """Return the encoding that a byte order mark states: no UTF-8 text begins with these bytes."""
    with member.open() as stream:
        mark = stream.read(4)
    # FF FE 00 00 also begins like UTF-16 (FF FE): UTF-32 is tested first.
    if mark in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        return "utf-32"
    return "utf-16" if mark[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else None


@contextmanager
def _in_utf8(member: Member, encoding: str) -> Iterator[IO[bytes]]:
    """Open a text of another encoding, decoded whole: such files are small."""
    with member.open() as stream:
        data = stream.read()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        lines = data[: error.start].decode(encoding, "ignore").count("\n") + 1
        remedy = "correct source.encoding in the recipe"
        problem = f"not {encoding} after line {lines:,}"
        raise BuildError(member.label, problem, remedy=remedy) from error
    yield io.BytesIO(text.encode())
