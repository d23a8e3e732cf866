"""Logs of web servers (Apache, nginx, IIS, CloudFront): a line is a row, its fields are columns.

Strategy: the first lines show the format, by the shape of whole lines. Arrow splits the lines of a
block; threads split several blocks at a time. A malformed line is a row of nulls with its text in
the last column. Its number is stored for the closing message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.cleaning import node_address
from geolookup.contract.localtime import EARLIEST, LATEST
from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
from geolookup.files.lines import Lines, lines_of
from geolookup.files.row_streams import (
    MalformedLines,
    ReadOptions,
    RowNumbers,
    Rows,
    check_columns,
    explained_batches,
)
from geolookup.files.text_blocks import TextError
from geolookup.files.timestamps import date_seconds
from geolookup.parallel import in_order
from geolookup.tables.times import Bools

# No text is matched in two ways, so that RE2 reads each byte once.
# An address, or a list of them with commas: %{X-Forwarded-For}i.
_IP = r"(?P<ip>[^ ,]+(?:, ?[^ ,]+)*)"
# Runs without quote and backslash, between them escapes as \" and \\.
_ESCAPES = r'(?:\\.[^"\\]*)*'
_QUOTED = r'"(?P<{}>[^"\\]*' + _ESCAPES + ')"'
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
_STATUS = "^([0-9]{1,3}|-)$"
_W3C_NAMES = {"c-ip": "ip", "sc-status": STATUS}
_NO_LINES = Lines(pa.array([], _BYTES), np.zeros(0, np.int64))
#: A function from n lines to their fields as bytes, and whether each line is malformed.
_Split = Callable[[pa.Array], tuple[dict[str, pa.Array], Bools]]


def read_log(stream: InputStream, options: ReadOptions, shape: str | None = None) -> Rows:
    """Return the fields of each line as columns; ``shape`` is one of SHAPES, None: any format.

    Of LINES that begin with an address the columns are ``ip`` and ``line``. Raises TableFileError
    if none of the first lines is of a known format or begins with an address.
    """
    blocks = lines_of(stream.plain, options.name)
    first = next(blocks, _NO_LINES)
    sample, blocks = first.texts[:_SAMPLE], chain([first], blocks)
    fields = next((line for line in sample.to_pylist() if line.startswith(_FIELDS)), None)
    if shape is None and fields is not None:
        return _w3c(blocks, fields, options)
    shape = shape or _shape_of(sample, options.name)
    if shape == LINES:
        rows = _rows(blocks, _selected(["ip", "line"], options), _begin, options)
        return replace(rows, malformed=None)
    names = [*re.findall(r"\?P<(\w+)>", SHAPES[shape]), _MALFORMED]
    selected = _selected(names, options)
    # RE2 is faster with fewer groups.
    groups = re.compile(rf"\?P<(?!(?:{'|'.join([*selected, TIME])})>)\w+>")
    return _rows(blocks, selected, _splitter(groups.sub("?:", SHAPES[shape])), options)


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


def _rows(blocks: Iterator[Lines], names: list[str], split: _Split, options: ReadOptions) -> Rows:
    schema = pa.schema([(name, _TYPES.get(name, _TEXT)) for name in names])
    numbers, malformed = RowNumbers(), MalformedLines()

    def make_batch(lines: Lines) -> tuple[Lines, Bools, pa.RecordBatch]:
        columns, wrong = split(lines.texts)
        columns = {name: _without(column, wrong) for name, column in columns.items()}
        columns[_MALFORMED] = pc.if_else(pa.array(wrong), lines.texts, pa.scalar(None, _BYTES))
        arrays = [_typed(columns[column.name], column) for column in schema]
        return lines, wrong, pa.record_batch(arrays, schema=schema)

    def batches() -> Iterator[pa.RecordBatch]:
        with in_order(make_batch, blocks) as results:
            for lines, wrong, batch in results:
                numbers.add(lines.numbers)
                malformed.add(lines.numbers[wrong])
                yield batch

    explained = explained_batches(batches(), options.name, "a log")
    return Rows(schema, explained, numbers=numbers, malformed=malformed)


def _splitter(pattern: str) -> _Split:
    """Return a function that splits lines by the groups of a pattern."""
    is_whole = all(f"?P<{name}>" in pattern for name in ("user_agent", "rest"))
    # Without escapes, and without other quotes than those around the fields.
    plain = pattern.replace(_ESCAPES, "").replace("[^ ", '[^ "').replace(r"[^\[", r'[^"\[')

    def split(lines: pa.Array) -> tuple[dict[str, pa.Array], Bools]:
        columns: dict[str, pa.Array] = {}
        if is_whole:
            is_plain = np.asarray(pc.match_substring_regex(lines, plain))
            columns = _split_plain(_without(lines, ~is_plain), "?P<host>" in pattern)
            lines = _without(lines, is_plain)
        if not columns or lines.null_count < len(lines):
            parts = pc.extract_regex(lines, pattern)
            others = {field.name: pc.struct_field(parts, field.name) for field in parts.type}
            columns = {
                name: pc.coalesce(columns.get(name, one), one) for name, one in others.items()
            }
        # Many lines have the time of the line before.
        times = columns[TIME].cast(_TEXT, safe=False).dictionary_encode()
        texts = pc.replace_substring(times.dictionary, "] ", "")
        seconds, valid, has_offset = date_seconds(texts)
        valid &= has_offset & (seconds >= EARLIEST) & (seconds < LATEST)
        at = times.indices.fill_null(-1).to_numpy()
        wrong = ~np.append(valid, False)[at]  # the last item is of malformed lines
        columns[TIME] = pa.array(np.append(seconds, 0)[at]).cast(_SECONDS)
        return columns, wrong

    return split


def _split_plain(lines: pa.Array, has_host: bool) -> dict[str, pa.Array]:
    """Return the fields of combined lines without backslashes: three times as fast as a pattern."""
    # host 8.8.8.8 - joe [10/Oct/2000:13:55:36 -0700] "GET /" 200 5 "referer" "agent" rest
    head, request, numbers, referer, _, agent, rest = _cells(lines, b'"', 7)
    who, time = _cells(head, b" [", 2, reverse=True)
    client, ident, user = _cells(who, b" ", 3, reverse=True)
    _, status, size, _ = _cells(numbers, b" ", 4)
    host, client = _cells(client, b" ", 2) if has_host else (client, client)
    rest = pc.replace_substring_regex(rest, b"^ ", b"")
    columns = {"ip": client, "ident": ident, "user": user, "time": time, "request": request}
    columns |= {"status": status, "size": size, "referer": referer, "user_agent": agent}
    return {**columns, "rest": rest, "host": host}


def _cells(texts: pa.Array, mark: bytes, count: int, *, reverse: bool = False) -> list[pa.Array]:
    cells = pc.split_pattern(texts, mark, max_splits=count - 1, reverse=reverse)
    return [pc.list_element(cells, at) for at in range(count)]


def _begin(lines: pa.Array) -> tuple[dict[str, pa.Array], Bools]:
    addresses = pc.replace_substring_regex(lines, rb"(?s)[ \t].*", b"")
    return {"ip": addresses, "line": lines}, np.zeros(len(lines), bool)


def _without(column: pa.Array, rows: Bools) -> pa.Array:
    """Return a column with nulls in some rows."""
    return (
        pc.if_else(pa.array(rows), pa.scalar(None, column.type), column) if rows.any() else column
    )


def _typed(column: pa.Array, field: pa.Field) -> pa.Array:
    """Return bytes as a column of its type; a dash, and an absent rest, are null."""
    if column.type == field.type:
        return column
    if field.name != "ip":
        absent = b"" if field.name == "rest" else b"-"
        column = _without(column, np.asarray(pc.equal(column, absent).fill_null(False)))
    try:
        return column.cast(_TEXT).cast(field.type)
    except pa.ArrowInvalid:
        # Bytes that are not UTF-8 are escaped, as by nginx.
        texts = (text and text.decode("utf-8", "backslashreplace") for text in column.to_pylist())
        return pa.array(texts, _TEXT)


def _w3c(blocks: Iterator[Lines], fields: bytes, options: ReadOptions) -> Rows:
    """Return the rows of the W3C extended format; ``fields`` is the line that names the fields."""
    fields = fields.removeprefix(_FIELDS)
    words = fields.decode("utf-8", "replace").split()
    # Old versions of IIS write the date only before the lines.
    ours = _W3C_NAMES if "date" in words else {**_W3C_NAMES, TIME: "time of day"}
    names = [ours.get(name, name) for name in words]

    def records() -> Iterator[Lines]:
        for lines in blocks:
            is_directive = np.asarray(pc.starts_with(lines.texts, b"#"))
            for at in np.flatnonzero(is_directive).tolist():
                line = lines.texts[at].as_py()
                if line.startswith(_FIELDS) and line.removeprefix(_FIELDS) != fields:
                    number = int(lines.numbers[at])
                    raise TextError("the fields change", "split the file before it", number)
            rest = pa.array(~is_directive)
            yield Lines(lines.texts.filter(rest), lines.numbers[~is_directive])

    def split(lines: pa.Array) -> tuple[dict[str, pa.Array], Bools]:
        # IIS writes blanks, CloudFront tabs.
        has_tabs = np.asarray(pc.match_substring(lines, b"\t")).sum() * 2 > len(lines)
        cells = pc.split_pattern(lines, b"\t" if has_tabs else b" ")
        wrong = np.asarray(pc.list_value_length(cells)) != len(names)
        flat = cells.filter(pa.array(~wrong)).flatten()
        first = (np.cumsum(~wrong) - 1) * len(names)
        columns = {
            name: flat.take(pa.array(first + at, mask=wrong)) for at, name in enumerate(names)
        }
        if {"date", TIME} <= {*names}:
            blank = pa.scalar(b" ", _BYTES)
            texts = pc.binary_join_element_wise(columns["date"], columns[TIME], blank)
            texts = texts.cast(_TEXT, safe=False)
            times = pc.strptime(texts, "%Y-%m-%d %H:%M:%S", "s", error_is_null=True)
            columns[TIME] = times.cast(_SECONDS)
            is_absent = pc.equal(columns["date"], b"-")
            wrong |= np.asarray(pc.and_not(times.is_null(), is_absent).fill_null(False))
        if STATUS in columns:
            wrong |= ~np.asarray(
                pc.match_substring_regex(columns[STATUS], _STATUS).fill_null(False)
            )
        return columns, wrong

    return _rows(records(), _selected([*names, _MALFORMED], options), split, options)
