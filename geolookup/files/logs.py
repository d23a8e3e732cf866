"""Logs of web servers (Apache, nginx and others): a line is a row, its fields are columns.

Strategy: the kernel splits the lines of a block into fields; threads split several blocks at a
time. A malformed line is a row of nulls with its text in the last column. Its number is stored for
the closing message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.dataset.arrow_files import array_of
from geolookup.dataset.runs import run_starts
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
from geolookup.files.timestamps import named_month_seconds
from geolookup.kernel import copy_texts, split_log_lines
from geolookup.parallel import in_order
from geolookup.tables.times import Bools, Int64

_FIELDS = ("ip", "ident", "user", "time", "request", "status", "size", "referer", "user_agent")
#: The columns of the text after the last field, and of the text of a malformed line.
_REST_COLUMN, _MALFORMED_COLUMN = "rest", "malformed"
_TYPES = {"time": pa.timestamp("s", "UTC"), "status": pa.int16(), "size": pa.int64()}
#: Bytes of a time: 10/Oct/2000:13:55:36 -0700
COMMON_LOG_SIZE = 26
_ADDRESS, _TIME, _DASH = 0, 3, ord("-")
#: The fields that ``ReadOptions.log_fields`` may add.
TIME, STATUS = LOG_FIELDS = (_FIELDS[_TIME], "status")
#: Lines from which the format is detected.
_SAMPLE = 100
#: The columns of lines that are not split, and the text after the address in such a line.
_LINE_COLUMNS = ["ip", "line"]
_AFTER_ADDRESS = r"(?s)[ \t].*"
_NO_LINES = Lines(pa.array([], pa.large_binary()), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class _ParsedLines:
    """A block of lines, and the first byte and length of their fields; -1 for an absent field."""

    lines: Lines
    data: NDArray[np.uint8]
    parts: Int64  # (10, 2, n)
    seconds: Int64  # the Unix seconds of their times; 0 for a malformed line

    @property
    def is_malformed(self) -> Bools:
        """Whether each line is malformed."""
        is_malformed: Bools = self.parts[_ADDRESS, 1] < 0
        return is_malformed


class Log:
    """Reads the common or the combined log format; None: the format of the first lines."""

    def __init__(self, combined: bool | None) -> None:
        self._combined = combined

    def read(self, stream: InputStream, options: ReadOptions) -> Rows:
        """Return the fields of each line as columns."""
        blocks = lines_of(stream.plain, options.name)
        first = next(blocks, _NO_LINES)
        combined = _is_combined(first) if self._combined is None else self._combined
        if combined is None:
            return _whole_lines(chain([first], blocks), options)
        return _fields(chain([first], blocks), combined, options)

    def names(self, stream: InputStream, options: ReadOptions) -> list[str]:
        """Return the names of the fields."""
        return list(self.read(stream, options).schema.names)


class LogLines:
    """Reads lines that begin with an address: the address, and the whole line."""

    def read(self, stream: InputStream, options: ReadOptions) -> Rows:
        """Return two columns, ``ip`` and ``line``."""
        return _whole_lines(lines_of(stream.plain, options.name), options)

    def names(self, _stream: InputStream, _options: ReadOptions) -> list[str]:
        """Return the names of both columns."""
        return _LINE_COLUMNS


def _is_combined(lines: Lines) -> bool | None:
    """Return whether the first lines are in the combined format; None if in neither format."""
    sample = Lines(lines.texts[:_SAMPLE], lines.numbers[:_SAMPLE])
    if not len(sample.texts):
        return True
    combined, common = (np.sum(~_parse(sample, kind).is_malformed) for kind in (True, False))
    # A combined line begins like a common line: the combined format needs half of the lines.
    return bool(combined * 2 >= common) if common else None


def _fields(blocks: Iterator[Lines], combined: bool, options: ReadOptions) -> Rows:
    names = [*(_FIELDS if combined else _FIELDS[:-2]), _REST_COLUMN, _MALFORMED_COLUMN]
    selected = _columns_to_read(names, options)
    schema = pa.schema([(name, _TYPES.get(name, pa.large_string())) for name in selected])
    numbers, malformed = RowNumbers(), MalformedLines()

    def make_batch(lines: Lines) -> tuple[Lines, Bools, pa.RecordBatch]:
        parsed = _parse(lines, combined)
        columns = [_COLUMNS[name](parsed) for name in selected]
        return lines, parsed.is_malformed, pa.record_batch(columns, schema=schema)

    def batches() -> Iterator[pa.RecordBatch]:
        with in_order(make_batch, blocks) as results:
            for lines, wrong, batch in results:
                numbers.add(lines.numbers)
                malformed.add(lines.numbers[wrong])
                yield batch

    explained = explained_batches(batches(), options.name, "a log")
    return Rows(schema, explained, numbers=numbers, malformed=malformed)


def _columns_to_read(names: list[str], options: ReadOptions) -> list[str]:
    """Return the names of the columns to read; TableFileError for an unknown column."""
    check_columns(options, names)
    if options.others != "dropped":
        return names
    more = [name for name in options.log_fields if name in names]
    return list(dict.fromkeys([*options.keys, *more]))


def _parse(lines: Lines, combined: bool) -> _ParsedLines:
    """Split lines; a line with a malformed time is malformed."""
    count, texts = len(lines.texts), lines.texts
    # An offset is 8 bytes; texts.offset is where a slice begins.
    bounds = np.frombuffer(texts.buffers()[1], np.int64, count + 1, texts.offset * 8)
    data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    parts = np.empty((len(_FIELDS) + 1, 2, count), np.int64)
    split_log_lines(data, bounds[:-1], np.diff(bounds), combined, parts)
    seconds, valid = _times(data, *parts[_TIME])
    parts[:, 1, ~valid] = -1
    return _ParsedLines(lines, data, parts, seconds)


def _times(data: NDArray[np.uint8], first: Int64, size: Int64) -> tuple[Int64, Bools]:
    """Return the Unix seconds of the times of lines, and whether each is valid."""
    valid = size == COMMON_LOG_SIZE
    texts = np.empty(int(valid.sum()) * COMMON_LOG_SIZE, np.uint8)
    # All times have the same length: valid ones lie side by side, n rows of bytes.
    copy_texts(data, first, np.where(valid, size, -1), texts)
    seconds = np.zeros(len(valid), np.int64)
    # A text of the right size is valid only if it is a time.
    seconds[valid], valid[valid] = _seconds(texts.reshape(-1, COMMON_LOG_SIZE))
    return seconds, valid


def _seconds(texts: NDArray[np.uint8]) -> tuple[Int64, Bools]:
    """Return ``common_log_seconds``; equal times of consecutive lines are read once."""
    as_items = texts.view(f"S{COMMON_LOG_SIZE}").ravel()
    begins = run_starts(as_items)
    column = pa.array(as_items[begins].tolist(), pa.large_binary())
    seconds, valid = named_month_seconds(column.cast(pa.large_string(), safe=False))
    # a a b: begins 1 0 1, runs 0 0 1.
    runs = np.cumsum(begins) - 1
    return seconds[runs], valid[runs]


def _time(parsed: _ParsedLines) -> pa.Array:
    valid = ~parsed.is_malformed
    return array_of(parsed.seconds, valid).cast(_TYPES["time"])


def _bytes(parsed: _ParsedLines, field: int, *, dashes: bool = False) -> pa.Array:
    """Return the texts of a field; a dash is null unless ``dashes``."""
    first, size = parsed.parts[field].copy()
    if not dashes and len(parsed.data):
        # Absent fields have no position; the minimum keeps it inside.
        at = np.minimum(first, len(parsed.data) - 1)
        size[(size == 1) & (parsed.data[at] == _DASH)] = -1
    # Lengths 3 -1 2 -> offsets 0 3 3 5.
    offsets = np.concatenate([[0], np.cumsum(np.maximum(size, 0))])
    data = np.empty(int(offsets[-1]), np.uint8)
    copy_texts(parsed.data, first, size, data)
    valid = pa.array(size >= 0).buffers()[1]
    buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(size), buffers)


def _text(texts: pa.Array) -> pa.Array:
    """Return bytes as text; bytes that are not UTF-8 are escaped, as by nginx."""
    try:
        return texts.cast(pa.large_string())
    except pa.ArrowInvalid:
        decoded = (
            None if text is None else text.decode("utf-8", "backslashreplace")
            for text in texts.to_pylist()
        )
        return pa.array(decoded, pa.large_string())


def _number(parsed: _ParsedLines, field: int) -> pa.Array:
    return _text(_bytes(parsed, field)).cast(_TYPES[_FIELDS[field]])


def _malformed_lines(parsed: _ParsedLines) -> pa.Array:
    rows = pa.array(parsed.is_malformed)
    return _text(pc.if_else(rows, parsed.lines.texts, pa.scalar(None, pa.large_binary())))


def _text_of(field: int) -> Callable[[_ParsedLines], pa.Array]:
    return lambda parsed: _text(_bytes(parsed, field, dashes=field == _ADDRESS))


def _number_of(field: int) -> Callable[[_ParsedLines], pa.Array]:
    return lambda parsed: _number(parsed, field)


_COLUMNS: dict[str, Callable[[_ParsedLines], pa.Array]] = {
    **{name: _text_of(at) for at, name in enumerate([*_FIELDS, _REST_COLUMN])},
    **{name: _number_of(_FIELDS.index(name)) for name in ("status", "size")},
    "time": _time,
    _MALFORMED_COLUMN: _malformed_lines,
}


def _whole_lines(blocks: Iterator[Lines], options: ReadOptions) -> Rows:
    selected = _columns_to_read(_LINE_COLUMNS, options)
    schema = pa.schema([(name, pa.large_string()) for name in selected])
    numbers = RowNumbers()

    def batches() -> Iterator[pa.RecordBatch]:
        for lines in blocks:
            numbers.add(lines.numbers)
            line = _text(lines.texts)
            columns: dict[str, Any] = {"line": line}
            columns["ip"] = pc.replace_substring_regex(line, _AFTER_ADDRESS, "")
            yield pa.record_batch([columns[name] for name in selected], schema=schema)

    return Rows(schema, explained_batches(batches(), options.name, "a log"), numbers=numbers)
