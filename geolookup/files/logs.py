"""Logs of web servers (Apache, nginx, IIS, CloudFront): a line is a row, its fields are columns.

Strategy: the first lines show the format, by the shape of whole lines. The bounds of fields follow
from the blanks and quotes of a line; ``log_fields`` finds them for usual lines. A pattern splits
the other lines. A malformed line is a row of nulls with its text in the last column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.cleaning import node_address
from geolookup.contract.localtime import EARLIEST, LATEST
from geolookup.dataset.intervals import Bools
from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
from geolookup.files.column_text import join
from geolookup.files.lines import Lines, bytes_in, cut, line_blocks_of
from geolookup.files.log_fields import Span, fields_of
from geolookup.files.row_streams import Block, ReadOptions, Rows, check_columns
from geolookup.files.text_blocks import TextError
from geolookup.files.timestamps import date_seconds

# No text is matched in two ways, so that RE2 reads each byte once.
# An address, or a list of them with commas: %{X-Forwarded-For}i.
_IP = r"(?P<ip>[^ ,]+(?:, ?[^ ,]+)*)"
# Runs without quote and backslash, between them escapes as \" and \\.
_QUOTED = r'"(?P<{}>[^"\\]*(?:\\.[^"\\]*)*)"'
_COMMON = (
    rf"{_IP} (?P<ident>[^ ]+) (?P<user>[^ ]+) \[(?P<time>[^\[\]]*)\] {_QUOTED.format('request')} "
    r"(?P<status>[0-9]{3}|-) (?P<size>[0-9]{1,18}|-)"
)
_AGENT = f" {_QUOTED.format('referer')} {_QUOTED.format('user_agent')}"
_HOST, _REST = "(?P<host>[^ ,]+) ", "(?: (?P<rest>.*))?"
#: The patterns of lines by the name of the format; a combined line is a common line too.
SHAPES = {
    name: f"(?s)^{shape}{_REST}$"
    for name, shape in (
        ("combined", _COMMON + _AGENT),
        ("vhost_combined", _HOST + _COMMON + _AGENT),
        ("clf", _COMMON),
        ("vhost_clf", _HOST + _COMMON),
    )
}
#: The name of lines that begin with an address.
LINES = "lines"
#: The text of a line that is not of the format.
_MALFORMED = "malformed"
#: The fields that ``ReadOptions.log_fields`` may add.
TIME, STATUS = LOG_FIELDS = ("time", "status")
_BYTES, _TEXT = pa.large_binary(), pa.large_string()
_SECONDS = pa.timestamp("s", "UTC")
_TYPES = {TIME: _SECONDS, STATUS: pa.int16(), "size": pa.int64()}
#: Lines that show the format.
_SAMPLE = 100
#: The line that names the fields of the W3C extended format, and our names of some.
_FIELDS = b"#Fields:"
_DIRECTIVE, _TAB, _BLANK, _DASH = b"#\t -"
_STATUS = "^([0-9]{1,3}|-)$"
_W3C_NAMES = {"c-ip": "ip", "sc-status": STATUS}
#: A function from n lines to the bounds of their fields, their instants, and whether each line is
#: malformed.
_Split = Callable[[Lines], tuple[dict[str, Span], pa.Array | None, Bools]]


def read_log(stream: InputStream, options: ReadOptions, shape: str | None = None) -> Rows:
    """Return the fields of each line as columns; ``shape`` is one of SHAPES, None: any format.

    Of LINES that begin with an address the columns are ``ip`` and ``line``. Raises TableFileError
    if none of the first lines is of a known format or begins with an address.
    """
    blocks = line_blocks_of(stream, options.name)
    first = next(blocks, (1, b""))
    sample = Lines.of(first[1], first[0])[:_SAMPLE].texts
    blocks = chain([first] if first[1] else [], blocks)
    fields = next((line for line in sample.to_pylist() if line.startswith(_FIELDS)), None)
    if shape is None and fields is not None:
        return _w3c(blocks, fields, options)
    shape = shape or _shape_of(sample, options.name)
    if shape == LINES:
        rows = _rows(blocks, _selected(["ip", "line"], options), _begin)
        rows.is_log = False
        return rows
    names = [*re.findall(r"\?P<(\w+)>", SHAPES[shape]), _MALFORMED]
    selected = _selected(names, options)
    # A match within a block: "^" is the beginning of the block.
    pattern = re.compile(SHAPES[shape].replace("^", "", 1).encode())
    return _rows(blocks, selected, _splitter(pattern))


def _shape_of(sample: pa.Array, name: str) -> str:
    """Return the name of the shape of lines, LINES if they only begin with an address."""
    matches = {
        shape: pc.sum(pc.match_substring_regex(sample, pattern)).as_py() or 0
        for shape, pattern in SHAPES.items()
    }
    most = max(matches.values())
    if most or not len(sample):
        # A combined line is a common line too: combined needs half as many.
        return next(shape for shape, count in matches.items() if count * 2 >= most)
    texts = [line.decode("latin-1") for line in sample.to_pylist()]
    if any(node_address(re.split(r"[\s,]", text)[0]) for text in texts):
        return LINES
    remedy = "annotate and grep find addresses in any text"
    if texts[0].startswith("{"):
        remedy = "pass --input-format jsonl and --ip-column, such as request.remote_ip"
    problem = "no line begins with an address or is of a known log format"
    raise TableFileError(name, problem, remedy)


def _selected(names: list[str], options: ReadOptions) -> list[str]:
    """Return the names of the columns to read; TableFileError for an unknown column."""
    check_columns(options, names)
    if options.others != "dropped":
        return names
    more = [name for name in options.log_fields if name in names]
    return list(dict.fromkeys([*options.keys, *more]))


def _rows(
    blocks: Iterator[tuple[int, bytes]],
    names: list[str],
    split: _Split,
    of_block: Callable[[Lines], Lines] = lambda lines: lines,
) -> Rows:
    """Return rows of the columns; ``of_block`` returns the lines of a block that are rows."""
    schema = pa.schema([(name, _TYPES.get(name, _TEXT)) for name in names])

    def parse(numbered: tuple[int, bytes]) -> Block:
        lines = of_block(Lines.of(numbered[1], numbered[0]))
        spans, times, wrong = split(lines)

        def column(field: pa.Field) -> pa.Array:
            if field.type == _SECONDS:
                return times
            if field.name == _MALFORMED:
                return _typed(cut(lines.block, lines.starts, lines.ends, ~wrong), field)
            span = spans[field.name]
            return _typed(cut(lines.block, *span, wrong | _is_absent(lines, span, field)), field)

        batch = pa.record_batch([column(field) for field in schema], schema=schema)
        return Block(batch, lines.numbers, lines.numbers[wrong])

    return Rows(schema, blocks, parse, is_log=True)


def _splitter(pattern: re.Pattern[bytes]) -> _Split:
    """Return a function that splits lines by the groups of a pattern."""

    def split(lines: Lines) -> tuple[dict[str, Span], pa.Array, Bools]:
        spans, wrong = fields_of(lines, pattern)
        times = _times(cut(lines.block, *spans[TIME], wrong, _TEXT))
        return spans, times, np.asarray(times.is_null())

    return split


def _times(texts: pa.Array) -> pa.Array:
    """Return the instants of n times with an offset; null for any other text.

    Many lines have the time of the line before, and times of one minute are read once.
    """
    encoded = texts.dictionary_encode()
    texts = encoded.dictionary
    minutes, further = texts, pa.scalar(0, pa.int64())
    # 10/Oct/2000:13:55:36 -0700
    if pc.all(pc.match_substring_regex(texts, "^[^ ]{17}:[0-5][0-9] ")).as_py():
        minutes = pc.binary_replace_slice(texts.cast(_BYTES), 17, 20, b"").cast(_TEXT)
        further = pc.utf8_slice_codeunits(texts, 18, 20).cast(pa.int64())
    minutes = minutes.dictionary_encode()
    seconds, valid, has_offset = date_seconds(minutes.dictionary)
    valid &= has_offset & (seconds >= EARLIEST) & (seconds < LATEST)
    instants = pc.add(pa.array(seconds, mask=~valid).take(minutes.indices), further)
    return instants.cast(_SECONDS).take(encoded.indices)


def _is_absent(lines: Lines, span: Span, field: pa.Field) -> Bools:
    """Return whether fields are a dash, or an empty rest; an address is never absent."""
    is_absent: Bools = span[0] == span[1] if field.name == "rest" else _is_dash(lines, span)
    return np.zeros_like(is_absent) if field.name == "ip" else is_absent


def _is_dash(lines: Lines, span: Span) -> Bools:
    starts, ends = span
    data = bytes_in(lines.block)
    is_dash: Bools = (ends == starts + 1) & (data[np.minimum(starts, len(data) - 1)] == _DASH)
    return is_dash


def _begin(lines: Lines) -> tuple[dict[str, Span], None, Bools]:
    """Return the text before the first blank or tab of each line, and the line."""
    data = bytes_in(lines.block)
    blanks = np.append(np.flatnonzero((data == _BLANK) | (data == _TAB)), len(data))
    ends = np.minimum(blanks[np.searchsorted(blanks, lines.starts)], lines.ends)
    spans = {"ip": (lines.starts, ends), "line": (lines.starts, lines.ends)}
    return spans, None, np.zeros(len(ends), bool)


def _typed(column: pa.Array, field: pa.Field) -> pa.Array:
    """Return bytes as a column of its type."""
    if column.type == field.type:
        return column
    try:
        return column.cast(_TEXT).cast(field.type)
    except pa.ArrowInvalid:
        # Bytes that are not UTF-8 are escaped, as by nginx.
        texts = (text and text.decode("utf-8", "backslashreplace") for text in column.to_pylist())
        return pa.array(texts, _TEXT)


def _w3c(blocks: Iterator[tuple[int, bytes]], fields: bytes, options: ReadOptions) -> Rows:
    """Return the rows of the W3C extended format; ``fields`` is the line that names the fields."""
    fields = fields.removeprefix(_FIELDS)
    words = fields.decode("utf-8", "replace").split()
    # Old versions of IIS write the date only before the lines.
    ours = _W3C_NAMES if "date" in words else {**_W3C_NAMES, TIME: "time of day"}
    names = [ours.get(name, name) for name in words]
    selected = _selected([*names, _MALFORMED], options)

    def records(lines: Lines) -> Lines:
        is_directive = bytes_in(lines.block)[lines.starts] == _DIRECTIVE
        directives = lines[is_directive]
        for number, line in zip(directives.numbers, directives.texts.to_pylist(), strict=True):
            if line.startswith(_FIELDS) and line.removeprefix(_FIELDS) != fields:
                raise TextError("the fields change", "split the file before it", int(number))
        return lines[~is_directive]

    def split(lines: Lines) -> tuple[dict[str, Span], pa.Array, Bools]:
        spans, wrong = _between_blanks(lines, names)
        times = None
        if {"date", TIME} <= {*names}:
            date, time = (cut(lines.block, *spans[name], wrong) for name in ("date", TIME))
            times = _times(join(date, b" ", time, b"Z").cast(_TEXT, safe=False))
            wrong |= np.asarray(times.is_null()) & ~_is_dash(lines, spans["date"])
        if STATUS in names:
            statuses = cut(lines.block, *spans[STATUS], wrong)
            is_status = pc.match_substring_regex(statuses, _STATUS).fill_null(False)
            wrong |= ~np.asarray(is_status)
        if times is not None:
            times = pc.if_else(pa.array(wrong), pa.scalar(None, _SECONDS), times)
        return spans, times, wrong

    return _rows(blocks, selected, split, records)


def _between_blanks(lines: Lines, names: list[str]) -> tuple[dict[str, Span], Bools]:
    """Return the fields with these names between tabs or blanks, and which lines have others."""
    data = bytes_in(lines.block)
    for separator in (_TAB, _BLANK):  # CloudFront writes tabs, IIS blanks
        marks = np.flatnonzero(data == separator)
        first, last = (np.searchsorted(marks, places) for places in (lines.starts, lines.ends))
        if np.count_nonzero(first < last) * 2 > len(first):
            break
    wrong = last - first != len(names) - 1
    marks = np.append(marks, np.zeros(len(names), np.int64))
    bounds = [lines.starts - 1, *(marks[first + at] for at in range(len(names) - 1)), lines.ends]
    spans = {
        name: (np.where(wrong, lines.starts, start + 1), np.where(wrong, lines.starts, end))
        for name, start, end in zip(names, bounds, bounds[1:], strict=False)
    }
    return spans, wrong
