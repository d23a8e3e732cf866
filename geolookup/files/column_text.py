"""Arrow columns as texts, whole columns at a time: cells of CSV and values of JSON.

All texts are large_binary: bytes that are not UTF-8 pass through, and a chunk can exceed 2 GiB. A
dictionary is rendered once, and its texts are taken by index.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.tables.locate import is_text

_BYTES = pa.large_binary()
#: Values that show whether they repeat.
_SAMPLE = 256
_NULL = pa.scalar(None, _BYTES)


def join(*parts: pa.Array | bytes, delimiter: bytes = b"") -> pa.Array:
    """Return columns of texts, and texts of all rows, joined row by row; a null part is empty."""
    texts = (pa.scalar(part, _BYTES) if isinstance(part, bytes) else part for part in parts)
    return pc.binary_join_element_wise(
        *texts, pa.scalar(delimiter, _BYTES), null_handling="replace", null_replacement=b""
    )


def bytes_of(texts: pa.Array) -> pa.Buffer:
    """Return the texts of a column without nulls as one buffer, without a copy."""
    # Texts 1 and 2 of "abc", whose offsets are 0 1 2 3, are the bytes from 1 to 3.
    _, offsets, data = texts.buffers()
    # An array without items may lack the buffers.
    bounds = np.frombuffer(offsets or bytes(8), np.int64, len(texts) + 1, texts.offset * 8)
    return (data or pa.py_buffer(b"")).slice(bounds[0], bounds[-1] - bounds[0])


class TextSink:
    """Writes rows as lines.

    ``tails`` returns the ends of lines, of new columns. ``lines`` returns whole lines, of the other
    columns and these ends; None: there are no new columns.
    """

    def __init__(
        self,
        stream: Any,
        tails: Callable[[list[pa.Array]], pa.Array],
        lines: Callable[[list[pa.Array], pa.Array | None], pa.Array],
    ) -> None:
        self._stream, self._tails, self._lines = stream, tails, lines

    def render(
        self,
        batch: pa.RecordBatch,
        new: pa.RecordBatch | None = None,
        rows: pa.Array | None = None,
    ) -> pa.Buffer:
        """Return the lines of a batch with new columns.

        ``rows`` are the rows in ``new`` of the rows of the batch; None: the same rows.
        """
        tails = None if new is None else self._tails(new.columns)
        if tails is not None and rows is not None:
            tails = tails.take(rows)
        return bytes_of(self._lines(batch.columns, tails))

    def write(self, rendered: pa.Buffer) -> None:
        """Write lines."""
        self._stream.write(rendered)

    def close(self) -> None:
        """Do nothing: every row is written."""


def joined_cells(columns: Sequence[pa.Array], delimiter: str, end: bytes = b"") -> pa.Array:
    """Return n rows of CSV, each with ``end``; null is an empty cell, an empty text ``""``."""
    mark, ends = delimiter.encode(), [b""] * (len(columns) - 1) + [end]
    pairs = zip(columns, ends, strict=bool(columns))
    return join(*(_cells(column, mark, end) for column, end in pairs), delimiter=mark)


def header_line(names: Sequence[str], delimiter: str) -> bytes:
    """Return names as a line of CSV."""
    return bytes(joined_cells([pa.array([name]) for name in names], delimiter, b"\n")[0].as_py())


def _cells(column: pa.Array, mark: bytes, end: bytes) -> pa.Array:
    if any(holds(column.type) for holds in _RENDERED_ONCE):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type) and len(column.dictionary) <= len(column):
        texts = _quoted(cell_texts(column.dictionary), mark)
        # The last text is of rows without a value.
        texts = join(pa.concat_arrays([texts, pa.array([b""], _BYTES)]), end)
        return texts.take(column.indices.cast(pa.int64()).fill_null(len(texts) - 1))
    texts = cell_texts(column)
    texts = texts if _is_plain(column.type) else _quoted(texts, mark)
    return join(texts, end) if end else texts


def _quoted(texts: pa.Array, mark: bytes) -> pa.Array:
    """Return texts in quotes if they must be."""
    data = bytes_of(texts).to_pybytes()
    special = [byte for byte in (b'"', b"\n", b"\r", mark) if byte in data]
    if not special and pc.min(pc.binary_length(texts)).as_py() != 0:
        return texts
    if len(texts[:_SAMPLE].unique()) < _SAMPLE // 2:
        encoded = texts.dictionary_encode()
        return _in_quotes(encoded.dictionary, special).take(encoded.indices)
    return _in_quotes(texts, special)


def _in_quotes(texts: pa.Array, special: list[bytes]) -> pa.Array:
    """Return texts in quotes if they are empty or have a special byte."""
    must = pc.equal(texts, b"")
    for byte in special:
        must = pc.or_(must, pc.match_substring(texts, byte))
    must = must.fill_null(False)
    quoted = join(b'"', pc.replace_substring(texts.filter(must), b'"', b'""'), b'"')
    return pc.replace_with_mask(texts, must, quoted)


def cell_texts(array: pa.Array) -> pa.Array:
    """Return the texts of cells; null stays null, lists and structs are JSON, bytes are hex."""
    return _render(array, is_json=False)


def json_texts(array: pa.Array) -> pa.Array:
    """Return values as JSON texts; null stays null, times are strings, bytes are hex strings."""
    return _render(array, is_json=True)


def joined_members(names: Sequence[str], columns: Sequence[pa.Array]) -> pa.Array:
    """Return n rows as texts: the members of their objects, and commas."""
    parts: list[Any] = []
    for name, column in zip(names, columns, strict=True):
        key = json.dumps(name, ensure_ascii=False).encode()
        parts += [b"," + key + b":", json_texts(column).fill_null(b"null")]
    # [1:]: without the first comma.
    return join(parts[0][1:], *parts[1:])


def _render(array: pa.Array, *, is_json: bool) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        return _render(array.storage, is_json=is_json)
    if pa.types.is_dictionary(array.type):
        # A slice may refer to few values of a large dictionary: its rows are rendered instead.
        if len(array.dictionary) > len(array):
            return _render(array.dictionary_decode(), is_json=is_json)
        return _render(array.dictionary, is_json=is_json).take(array.indices)
    for holds, render, is_string in _RENDERERS:
        if holds(array.type):
            texts = render(array)
            return quoted_json(texts) if is_string and is_json else texts
    if pa.types.is_floating(array.type):  # NaN and infinity are null in JSON
        is_finite = pc.is_finite(array.cast(pa.float64()))
        array = pc.if_else(is_finite, array, pa.scalar(None, array.type)) if is_json else array
        return _cast(array)
    values = (
        None if value is None else json.dumps(value, ensure_ascii=False, default=str).encode()
        for value in array.to_pylist()
    )
    return pa.array(values, _BYTES)


def _cast(array: pa.Array) -> pa.Array:
    return array.cast(pa.large_string()).cast(_BYTES)


def _time(array: pa.Array) -> pa.Array:
    """Return dates and times as texts; for times with a zone, Arrow takes 20 times as long."""
    if getattr(array.type, "tz", None) != "UTC":
        return _cast(array)
    texts = _cast(array.cast(pa.timestamp(array.type.unit)))
    if pc.any(pc.starts_with(texts, b"<")).as_py():  # "<value out of range: ...>"
        return _cast(array)
    return pc.if_else(texts.is_valid(), join(texts, b"Z"), _NULL)


def _hex(array: pa.Array) -> pa.Array:
    """Return bytes as hexadecimal digits; one by one, since Arrow has no function for it."""
    return pa.array((value and value.hex() for value in array.to_pylist()), _BYTES)


def quoted_json(texts: pa.Array) -> pa.Array:
    """Return JSON strings of texts; only those with characters to escape go one by one."""
    quoted = pc.if_else(pc.is_valid(texts), join(b'"', texts, b'"'), _NULL)
    special = pc.fill_null(pc.match_substring_regex(texts, r'["\\\x00-\x1f]'), False)
    if not pc.any(special).as_py():
        return quoted
    escaped = [
        json.dumps(text.decode("utf-8", "replace"), ensure_ascii=False).encode()
        for text in texts.filter(special).to_pylist()
    ]
    return pc.replace_with_mask(quoted, special, pa.array(escaped, _BYTES))


def _list(array: pa.Array) -> pa.Array:
    """Return lists as JSON arrays; the values of all lists are rendered at once."""
    values = json_texts(pc.list_flatten(array)).fill_null(b"null").cast(pa.binary())
    lengths = pc.list_value_length(array).fill_null(0).to_numpy()
    offsets = pa.array(np.append(0, np.cumsum(lengths)), pa.int32())
    texts = pa.ListArray.from_arrays(offsets, values)
    # binary_join takes lists of binary, not of large_binary.
    inner = pc.binary_join(texts, pa.scalar(b",", pa.binary())).cast(_BYTES)
    return pc.if_else(array.is_valid(), join(b"[", inner, b"]"), _NULL)


def _struct(array: pa.Array) -> pa.Array:
    # {"a":1,"b":null}: the names once, the values by row.
    values = [pc.struct_field(array, [at]) for at in range(array.type.num_fields)]
    inner = joined_members([field.name for field in array.type], values) if values else b""
    empty = pa.array([b""] * len(array), _BYTES)
    return pc.if_else(array.is_valid(), join(b"{", inner, b"}", empty), _NULL)


def _one_of(*tests: Callable[[pa.DataType], bool]) -> Callable[[pa.DataType], bool]:
    return lambda kind: any(test(kind) for test in tests)


_t = pa.types
#: Whether an Arrow type is one of bytes, of lists, of values whose text is also JSON, of times.
is_bytes = _one_of(_t.is_binary, _t.is_large_binary, _t.is_binary_view, _t.is_fixed_size_binary)
is_list = _one_of(_t.is_list, _t.is_large_list, _t.is_fixed_size_list)
_is_plain = _one_of(_t.is_integer, _t.is_boolean, _t.is_decimal, _t.is_null)
_is_time = _one_of(_t.is_timestamp, _t.is_date, _t.is_time)

#: Types of which values repeat, or whose texts take longer than to find equal values.
_RENDERED_ONCE = (_t.is_float64, _t.is_uint32, _t.is_int16, _t.is_timestamp)
#: Types, their renderers, and whether the texts are strings of JSON.
_RENDERERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], pa.Array], bool], ...]
_RENDERERS = (
    (is_text, _cast, True),
    (_is_plain, _cast, False),
    # The number of its unit, such as microseconds.
    (_t.is_duration, lambda array: _cast(array.cast(pa.int64())), False),
    (_is_time, _time, True),
    (is_bytes, _hex, True),
    (is_list, _list, False),
    (_t.is_struct, _struct, False),
)
