"""Arrow columns as texts, whole columns at a time: CSV cells and JSON values.

Strategy: one table for cells and one for JSON maps types to renderers. A dictionary is rendered
once, and its texts are taken by index. All texts are large_binary: bytes that are not UTF-8 pass
through, and a chunk can exceed 2 GiB.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.files.joined_texts import join
from geolookup.tables.locate import is_text

Render = Callable[[pa.Array], pa.Array]
_BYTES = pa.large_binary()


def cell_texts(array: pa.Array) -> pa.Array:
    """Return the texts of cells; null stays null, lists and structs are JSON, bytes are hex."""
    return _render(array, _AS_CELLS)


def repeating_texts(array: pa.Array) -> pa.Array:
    """Return ``cell_texts``, as a dictionary of texts if values are likely to repeat."""
    if pa.types.is_float64(array.type):
        array = array.dictionary_encode()  # each number becomes a text once
    if not pa.types.is_dictionary(array.type) or len(array.dictionary) > len(array):
        return cell_texts(array)
    texts = cell_texts(array.dictionary)
    return pa.DictionaryArray.from_arrays(array.indices, texts)


def json_texts(array: pa.Array) -> pa.Array:
    """Return values as JSON texts; null stays null, times are strings, bytes are hex strings."""
    return _render(array, _AS_JSON)


def _render(array: pa.Array, table: _Table) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        return _render(array.storage, table)
    if pa.types.is_dictionary(array.type):
        # A slice may refer to few values of a large dictionary: its rows are rendered instead.
        if len(array.dictionary) > len(array):
            return _render(array.dictionary_decode(), table)
        return _render(array.dictionary, table).take(array.indices)
    for holds, render in table:
        if holds(array.type):
            return render(array)
    return _one_by_one(array)


def _text(array: pa.Array) -> pa.Array:
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    return array.cast(pa.large_string()).cast(_BYTES)


def _cast(array: pa.Array) -> pa.Array:
    return array.cast(pa.large_string()).cast(_BYTES)


def _time(array: pa.Array) -> pa.Array:
    """Return dates and times as texts; for times with a zone, Arrow takes 20 times as long."""
    if getattr(array.type, "tz", None) != "UTC":
        return _cast(array)
    texts = _cast(array.cast(pa.timestamp(array.type.unit)))
    if pc.any(pc.starts_with(texts, b"<")).as_py():  # "<value out of range: ...>"
        return _cast(array)
    return pc.if_else(texts.is_valid(), join(texts, b"Z"), pa.scalar(None, _BYTES))


def _hex(array: pa.Array) -> pa.Array:
    """Return bytes as hexadecimal digits; one by one, since Arrow has no function for it."""
    values = (None if value is None else value.hex().encode() for value in array.to_pylist())
    return pa.array(values, _BYTES)


def _finite(array: pa.Array) -> pa.Array:
    """Return numbers as in JSON: NaN and infinity are null."""
    values = array.cast(pa.float64())
    return _cast(pc.if_else(pc.is_finite(values), array, pa.scalar(None, array.type)))


def quoted_json(texts: pa.Array) -> pa.Array:
    """Return JSON strings of texts; only those with characters to escape go one by one."""
    quoted = pc.if_else(pc.is_valid(texts), join(b'"', texts, b'"'), pa.scalar(None, _BYTES))
    special = pc.fill_null(pc.match_substring_regex(texts, r'["\\\x00-\x1f]'), False)
    if not pc.any(special).as_py():
        return quoted
    escaped = [
        json.dumps(text.decode("utf-8", "replace"), ensure_ascii=False).encode()
        for text in texts.filter(special).to_pylist()
    ]
    return pc.replace_with_mask(quoted, special, pa.array(escaped, _BYTES))


def _as_json_string(render: Render) -> Render:
    return lambda array: quoted_json(render(array))


def _list(array: pa.Array) -> pa.Array:
    """Return lists as JSON arrays; the values of all lists are rendered at once."""
    lists = array if pa.types.is_list(array.type) else array.cast(pa.list_(array.type.value_type))
    if lists.offset or lists.null_count:  # a slice, or values under nulls, in ``values``
        lists = pa.concat_arrays([pc.take(lists, pa.array(range(len(lists)), pa.int64()))])
    values = json_texts(lists.values).fill_null(b"null").cast(pa.binary())
    texts = pa.ListArray.from_arrays(lists.offsets, values, mask=lists.is_null())
    # binary_join takes lists of binary, not of large_binary.
    inner = pc.binary_join(texts, pa.scalar(b",", pa.binary())).cast(_BYTES)
    return pc.if_else(array.is_valid(), join(b"[", inner, b"]"), pa.scalar(None, _BYTES))


def _struct(array: pa.Array) -> pa.Array:
    parts: list[Any] = []
    for at, field in enumerate(array.type):
        parts += [b"," if at else b"{", json.dumps(field.name).encode() + b":"]
        # {"a":1,"b":null}: the names once, the values by row.
        parts.append(json_texts(pc.struct_field(array, [at])).fill_null(b"null"))
    texts = join(*parts, b"}") if parts else join(pa.array([b"{}"] * len(array), _BYTES))
    return pc.if_else(array.is_valid(), texts, pa.scalar(None, _BYTES))


def _one_by_one(array: pa.Array) -> pa.Array:
    values = (
        None if value is None else json.dumps(value, ensure_ascii=False, default=str).encode()
        for value in array.to_pylist()
    )
    return pa.array(values, _BYTES)


def is_bytes(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of bytes."""
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def is_list(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of lists."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind))


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind))


def _duration(array: pa.Array) -> pa.Array:
    # The number of its unit, such as microseconds.
    return _cast(array.cast(pa.int64()))


_Table = tuple[tuple[Callable[[pa.DataType], bool], Render], ...]
_NESTED: _Table = ((is_list, _list), (pa.types.is_struct, _struct))
_PLAIN: _Table = ((_is_number, _cast), (pa.types.is_duration, _duration))
_AS_CELLS: _Table = (
    (is_text, _text),
    *_PLAIN,
    (pa.types.is_floating, _cast),
    (_is_time, _time),
    (pa.types.is_null, _cast),
    (is_bytes, _hex),
    *_NESTED,
)
_AS_JSON: _Table = (
    (is_text, _as_json_string(_text)),
    *_PLAIN,
    (pa.types.is_floating, _finite),
    (_is_time, _as_json_string(_time)),
    (pa.types.is_null, _cast),
    (is_bytes, _as_json_string(_hex)),
    *_NESTED,
)
