"""Logs of web servers (Apache, nginx, IIS, CloudFront): a line is a row, its fields are columns.

Strategy: the first lines show the format, by the shape of whole lines. Arrow splits all lines of a
block at their quotes, or tabs or blanks, and patterns match the short texts between quotes. The
pattern of a whole line splits the lines with other quotes. It takes twice as long. A malformed line
is a row of nulls with its text in the last column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import partial
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
from geolookup.files.lines import Lines, line_blocks_of
from geolookup.files.row_streams import Block, ReadOptions, Rows, check_columns
from geolookup.files.text_blocks import TextError
from geolookup.files.timestamps import date_seconds

# No text is matched in two ways, so that RE2 reads each byte once.
# An address, or a list of them with commas: %{X-Forwarded-For}i.
_IP = r"(?P<ip>[^ ,]+(?:, ?[^ ,]+)*)"
# Runs without quote and backslash, between them escapes as \" and \\.
_QUOTED = r'"(?P<{}>[^"\\]*(?:\\.[^"\\]*)*)"'
_HOST, _REST = "(?P<host>[^ ,]+) ", "(?: (?P<rest>.*))?"
_BEGIN = rf"{_IP} (?P<ident>[^ ]+) (?P<user>[^ ]+) \[(?P<time>[^\[\]]*)\] "
_NUMBERS = r" (?P<status>[0-9]{3}|-) (?P<size>[0-9]{1,18}|-)"
_COMMON = (_BEGIN, "request", _NUMBERS + _REST)
_COMBINED = (_BEGIN, "request", f"{_NUMBERS} ", "referer", " ", "user_agent", _REST)
#: By the name of the format: the patterns of the texts around quotes, and the fields in quotes.
_PARTS = {
    "combined": _COMBINED,
    "vhost_combined": (_HOST + _BEGIN, *_COMBINED[1:]),
    "clf": _COMMON,
    "vhost_clf": (_HOST + _BEGIN, *_COMMON[1:]),
}


def _whole(parts: tuple[str, ...]) -> str:
    texts = (_QUOTED.format(part) if at % 2 else part for at, part in enumerate(parts))
    return f"(?s)^{''.join(texts)}$"


#: The patterns of whole lines; a combined line is a common line too.
SHAPES = {name: _whole(parts) for name, parts in _PARTS.items()}
#: The name of lines that begin with an address, and their pattern.
LINES, _LINE = "lines", r"(?s)^(?P<line>(?P<ip>[^ \t]*).*)$"
#: The text of a line that is not of the format.
_MALFORMED = "malformed"
#: The fields that ``ReadOptions.log_fields`` may add.
TIME, STATUS = LOG_FIELDS = ("time", "status")
_BYTES, _TEXT = pa.large_binary(), pa.large_string()
_SECONDS = pa.timestamp("s", "UTC")
_TYPES = {TIME: _SECONDS, STATUS: pa.int16(), "size": pa.int64()}
_NULL = pa.scalar(None, _BYTES)
#: Lines that show the format.
_SAMPLE = 100
#: The line that names the fields of the W3C extended format, and our names of some.
_FIELDS, _DIRECTIVE = b"#Fields:", b"#"
_W3C_NAMES = {"c-ip": "ip", "sc-status": STATUS}
#: The forms of fields of the W3C extended format that are numbers.
_W3C_FORMS = {STATUS: "^([0-9]{1,3}|-)$", "size": "^([0-9]{1,18}|-)$"}
_GROUP = re.compile(r"\(\?P<(\w+)>")
_Fields = dict[str, pa.Array]
#: A function from n lines and the names of fields to these fields, null in malformed lines. It may
#: return further ones.
_Split = Callable[[pa.Array, Container[str]], _Fields]


def read_log(stream: InputStream, options: ReadOptions, shape: str | None = None) -> Rows:
    """Return the fields of each line as columns; ``shape`` is one of SHAPES, None: any format.

    Of LINES that begin with an address the columns are ``ip`` and ``line``. Raises TableFileError
    if none of the first lines is of a known format or begins with an address.
    """
    blocks = line_blocks_of(stream, options.name)
    first = next(blocks, (1, b""))
    sample = Lines.of(first[1], first[0]).texts[:_SAMPLE]
    header = next((line for line in sample.to_pylist() if line.startswith(_FIELDS)), None)
    split: _Split
    if shape is None and header is not None:
        names, split = _w3c(header)
    else:
        shape, header = shape or _shape_of(sample, options.name), None
        pattern = _LINE if shape == LINES else SHAPES[shape]
        names = _GROUP.findall(pattern)
        split = _split_line if shape == LINES else partial(_split_shape, shape)
    columns = names if shape == LINES else [*names, _MALFORMED]
    check_columns(options, columns)
    if options.others == "dropped":
        more = [name for name in options.log_fields if name in columns]
        columns = list(dict.fromkeys([*options.keys, *more]))
    schema = pa.schema([(name, _TYPES.get(name, _TEXT)) for name in columns])
    # The time of a line shows whether it is malformed.
    parser = _Parser(split, {*columns, names[0], TIME, "date"}, names[0], schema, header)
    blocks = chain([first] if first[1] else [], blocks)
    return Rows(schema, blocks, parser.parse, is_log=shape != LINES)


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


def _match(pattern: str, texts: pa.Array, names: Container[str]) -> pa.StructArray:
    """Return the groups with these names of a pattern in n texts; null if it does not match."""
    # RE2 is faster with few groups.
    some = _GROUP.sub(lambda group: group[0] if group[1] in names else "(?:", pattern)
    return pc.extract_regex(texts, some)


def _members(groups: pa.StructArray) -> _Fields:
    return {group.name: pc.struct_field(groups, group.name) for group in groups.type}


def _split_at(
    mark: str, count: int, texts: pa.Array, max_splits: int | None = None
) -> tuple[list[pa.Array], Bools]:
    """Return the pieces between marks of the texts that have so many, and which texts these are."""
    lists = pc.split_pattern(texts, mark, max_splits=max_splits)
    is_whole = pc.equal(pc.list_value_length(lists), count)
    flat = lists.filter(is_whole).flatten()
    pieces = [flat.take(pa.array(np.arange(at, len(flat), count))) for at in range(count)]
    return pieces, np.asarray(is_whole)


def _fields_by_line(fields: _Fields, is_whole: Bools, usual: Bools) -> tuple[_Fields, Bools]:
    """Return fields of whole lines as fields of n lines, and the lines that are not usual: null."""
    others = ~is_whole
    others[is_whole] = ~usual
    if not others.any():
        return fields, others
    at = pa.array(np.cumsum(is_whole) - 1, mask=others)
    return {name: field.take(at) for name, field in fields.items()}, others


def _split_shape(shape: str, texts: pa.Array, names: Container[str]) -> _Fields:
    """Return fields of a shape: of usual lines by their quotes, of the others by its pattern."""
    # 8.8.8.8 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 2326 "-" "curl/8.5.0"
    #                                        0 1              2          3 4 5          6
    parts = _PARTS[shape]
    pieces, is_whole = _split_at('"', len(parts), texts, len(parts) - 1)
    fields, usual = _Fields(), np.ones(len(pieces[0]), bool)
    for at, (part, piece) in enumerate(zip(parts, pieces, strict=True)):
        if at % 2:
            fields |= {part: piece} if part in names else {}
            usual &= ~np.asarray(pc.ends_with(piece, b"\\"))  # else the quote may be escaped
        else:
            groups = _match(f"(?s)^{part}$", piece, names)
            fields |= _members(groups)
            usual &= np.asarray(groups.is_valid())
    fields, others = _fields_by_line(fields, is_whole, usual)
    if not others.any():
        return fields
    mask = pa.array(others)
    groups = _members(_match(SHAPES[shape], texts.filter(mask), names))
    return {name: pc.replace_with_mask(fields[name], mask, groups[name]) for name in fields}


def _split_line(texts: pa.Array, names: Container[str]) -> _Fields:
    return _members(_match(_LINE, texts, names))


def _w3c(header: bytes) -> tuple[list[str], _Split]:
    """Return the fields that a header of the W3C extended format names, and what splits lines."""
    words = header.removeprefix(_FIELDS).decode("utf-8", "replace").split()
    # Old versions of IIS write the date only before the lines.
    ours = _W3C_NAMES if "date" in words else {**_W3C_NAMES, TIME: "time of day"}
    names = [ours.get(name, name) for name in words]

    def split(texts: pa.Array, _names: Container[str]) -> _Fields:
        # CloudFront writes tabs, IIS blanks.
        has_tab = pc.match_substring(texts[:_SAMPLE], "\t")
        mark = "\t" if has_tab.true_count * 2 > len(has_tab) else " "
        pieces, is_whole = _split_at(mark, len(names), texts)
        fields = dict(zip(names, pieces, strict=True))
        usual = np.ones(len(pieces[0]), bool)
        for name in fields.keys() & _W3C_FORMS:
            usual &= np.asarray(pc.match_substring_regex(fields[name], _W3C_FORMS[name]))
        return _fields_by_line(fields, is_whole, usual)[0]

    return names, split


@dataclass(frozen=True, slots=True)
class _Parser:
    """Parses blocks of lines."""

    split: _Split
    names: Container[str]  # of the fields that are read
    first: str  # the name of a field that only malformed lines lack
    schema: pa.Schema
    header: bytes | None  # of the W3C extended format: the line that names the fields

    def parse(self, numbered: tuple[int, bytes]) -> Block:
        """Return the rows of a block, given with the number of its first line."""
        lines = Lines.of(numbered[1], numbered[0])
        if self.header is not None:
            lines = _records(lines, self.header)
        fields = self.split(lines.texts, self.names)
        wrong, times = fields[self.first].is_null(), None
        if TIME in fields:
            wrong, times = _times_of(fields, wrong)

        def column(field: pa.Field) -> pa.Array:
            if field.type == _SECONDS:
                return times
            if field.name == _MALFORMED:
                return _typed(pc.if_else(wrong, lines.texts, _NULL), field)
            text = fields[field.name]
            absent = b"" if field.name == "rest" else b"-"
            is_absent = pc.or_(wrong, pc.equal(text, absent)) if field.name != "ip" else wrong
            return _typed(pc.if_else(is_absent, _NULL, text), field)

        batch = pa.record_batch([*map(column, self.schema)], schema=self.schema)
        return Block(batch, lines.numbers, lines.numbers[np.asarray(wrong)])


def _records(lines: Lines, fields: bytes) -> Lines:
    """Return the lines that are no directives; TextError for one that names other fields."""
    is_directive = pc.starts_with(lines.texts, _DIRECTIVE)
    rows = np.asarray(is_directive)
    directives = lines.texts.filter(is_directive).to_pylist()
    for number, line in zip(lines.numbers[rows], directives, strict=True):
        if line.startswith(_FIELDS) and line != fields:
            raise TextError("the fields change", "split the file before it", int(number))
    return Lines(lines.texts.filter(pc.invert(is_directive)), lines.numbers[~rows])


def _times_of(fields: _Fields, wrong: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return which lines are malformed, also by their time, and the instants of lines."""
    if "date" not in fields:
        times = _times(fields[TIME].view(_TEXT))
        return times.is_null(), times
    times = _times(join(fields["date"], b" ", fields[TIME], b"Z").view(_TEXT))
    is_dated = pc.not_equal(fields["date"], b"-").fill_null(False)
    return pc.or_(wrong, pc.and_(times.is_null(), is_dated)), times


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


def _typed(column: pa.Array, field: pa.Field) -> pa.Array:
    """Return bytes as a column of its type."""
    try:
        return column.cast(_TEXT).cast(field.type)
    except pa.ArrowInvalid:
        # Bytes that are not UTF-8 are escaped, as by nginx.
        texts = (text and text.decode("utf-8", "backslashreplace") for text in column.to_pylist())
        return pa.array(texts, _TEXT)
