"""Writes the rows of ``geolookup.dataset.rows`` by columns: JSON texts and checksums.

Strategy: each distinct string is quoted once; the standard library quotes the few that need
escapes. Arrow writes numbers: its cast gives the shortest decimal that reads back as the same
float, without ``.0``. Then the columns are joined row by row.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.dataset.rows import SEPARATOR, UNKNOWN
from geolookup.errors import BuildError
from geolookup_builder.byte_columns import CHUNK, byte_columns

_NEEDS_ESCAPE = r'["\\\x00-\x1f]'
_SHORT = 512


def json_texts(column: pa.Array, absent: str = UNKNOWN) -> pa.Array:
    """Return the JSON text of each value (strings or numbers); ``absent`` stands for null."""
    if not pa.types.is_string(column.type):
        return _numbers(column).fill_null(absent)
    encoded = column.dictionary_encode()
    values = encoded.dictionary
    quoted = pc.binary_join_element_wise('"', values, '"', "")
    special = pc.match_substring_regex(values, _NEEDS_ESCAPE)
    if pc.any(special).as_py():
        escaped = [
            json.dumps(text, ensure_ascii=False) for text in values.filter(special).to_pylist()
        ]
        quoted = pc.replace_with_mask(quoted, special, pa.array(escaped, pa.string()))
    return quoted.take(encoded.indices).fill_null(absent)


def _numbers(column: pa.Array) -> pa.Array:
    texts = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        # Below 1e-4 Arrow writes 0.00001 and 1e-7 where Python writes 1e-05 and 1e-07.
        tiny = pc.and_(pc.less(pc.abs(column), 1e-4), pc.not_equal(column, 0.0)).fill_null(False)
        if pc.any(tiny).as_py():
            written = [json.dumps(number) for number in column.filter(tiny).to_pylist()]
            texts = pc.replace_with_mask(texts, tiny, pa.array(written, pa.string()))
    return texts


def plain_texts(values: Iterable[object]) -> pa.Array:
    """Return the JSON texts of a few values of any type, written by the standard library."""
    texts = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in values]
    return pa.array(texts, pa.string())


def json_columns(texts: list[pa.Array]) -> dict[str, pa.Array]:
    """Return the columns that a single lookup reads: the JSON texts of each row, their CRC-32."""
    joined = rows(texts)
    return {"json": joined, "json_crc32": pa.array(checksums(joined))}


def rows(columns: list[pa.Array]) -> pa.Array:
    """Join the JSON texts of each row's members."""
    texts = [column.cast(pa.large_string()) for column in columns]
    joined = pc.binary_join_element_wise(*texts, pa.scalar(SEPARATOR, pa.large_string()))
    if joined.nbytes >= 1 << 31:
        raise BuildError("dataset", "more than 2 GiB of distinct values in one table")
    return joined.cast(pa.string())


def checksums(texts: pa.Array) -> NDArray[np.uint32]:
    """Return the CRC-32 (as of ISO 3309 and zlib) of each text."""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset :][: len(texts) + 1].astype(np.int64)
    data = np.frombuffer(data or b"\0", np.uint8)
    starts, lengths = bounds[:-1], np.diff(bounds)
    sums = np.zeros(len(texts), np.uint32)
    for begin in range(0, len(texts), CHUNK):
        part = slice(begin, begin + CHUNK)
        sums[part] = _crc32(data, starts[part], np.minimum(lengths[part], _SHORT))
    for row in np.flatnonzero(lengths > _SHORT):
        sums[row] = zlib.crc32(data[starts[row] : starts[row] + lengths[row]].tobytes())
    return sums


def _crc32(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint32]:
    crc = np.full(len(starts), 0xFFFF_FFFF, np.uint32)
    for at, column in enumerate(byte_columns(data, starts, lengths)):
        following = _CRC_TABLE[(crc ^ column) & 0xFF] ^ (crc >> np.uint32(8))
        crc = np.where(lengths > at, following, crc)
    return crc ^ np.uint32(0xFFFF_FFFF)


def _crc_table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        odd = (table & 1).astype(bool)
        table = np.where(odd, table >> 1 ^ np.uint32(0xEDB8_8320), table >> 1)
    return table


_CRC_TABLE = _crc_table()
