"""Records of CSV and columns of texts in the Python kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geolookup.dataset.intervals import I64, U8
    from geolookup.kernel.protocol import Part

_END = re.compile(rb"\r\n|\r|\n|\Z")
_GROWTH = 3  # see ``protocol.Implementation.split_records``


def split_records(
    data: U8,
    delimiters: U8,
    columns: int,
    keys: I64,
    lines: U8,
    offsets: I64,
    texts: NDArray[np.uint8],
    text_offsets: NDArray[np.int64],
    valid: NDArray[np.uint8],
) -> int:
    """See ``protocol.Implementation``."""
    rows = valid.shape[1]
    fits = texts.shape[1] >= len(data) and len(lines) >= _GROWTH * (len(data) + 1)
    if len(delimiters) != 2 or columns < 1 or not fits or len(offsets) != rows + 1:
        raise ValueError("the arrays do not fit")
    if {len(keys)} != {len(texts), len(valid), len(text_offsets)}:
        raise ValueError("the arrays do not fit")
    if text_offsets.shape[1] != rows + 1:
        raise ValueError("the arrays do not fit")
    read, written = delimiters[:1].tobytes(), delimiters[1:].tobytes()
    try:
        records = list(_records(data.tobytes(), read, columns))
    except ValueError:
        return -1
    if len(records) > rows or not all(0 <= key < columns for key in keys.tolist()):
        return -1
    _fill(lines, offsets, [written.join(_cell(text, written) for text in one) for one in records])
    for at, key in enumerate(keys.tolist()):
        column = [record[key] for record in records]
        valid[at, : len(column)] = [text is not None for text in column]
        _fill(texts[at], text_offsets[at], [text or b"" for text in column])
    return len(records)


def _records(data: bytes, delimiter: bytes, columns: int) -> Iterator[list[bytes | None]]:
    """Yield the cells of each record, None for an empty one; ValueError for another form."""
    if delimiter in b'"\r\n':
        raise ValueError
    at, pattern = 0, _cell_pattern(delimiter)
    while at < len(data):
        if columns > 1 and data[at] in b"\r\n":
            at += 1
            continue
        record: list[bytes | None] = []
        while True:
            match = pattern.match(data, at)
            if match is None:
                raise ValueError
            at = match.end()
            quoted, plain = match.groups()
            record.append((plain or None) if quoted is None else quoted.replace(b'""', b'"'))
            if data[at : at + 1] != delimiter:
                break
            at += 1
        end = _END.match(data, at)
        if end is None or len(record) != columns:
            raise ValueError
        at = end.end()
        yield record


@lru_cache
def _cell_pattern(delimiter: bytes) -> re.Pattern[bytes]:
    plain = rb"[^%b\r\n]*" % re.escape(delimiter)
    return re.compile(rb'"([^"]*(?:""[^"]*)*)"|(?!")(' + plain + rb")")


def _cell(text: bytes | None, delimiter: bytes) -> bytes:
    """Return a cell, quoted if it must be."""
    if text is None:
        return b""
    if text and not any(mark in text for mark in (b'"', b"\n", b"\r", delimiter)):
        return text
    return b'"' + text.replace(b'"', b'""') + b'"'


def _fill(out: U8, offsets: I64, texts: Sequence[bytes]) -> None:
    """Write texts one after the other."""
    joined = b"".join(texts)
    out[: len(joined)] = np.frombuffer(joined, np.uint8)
    offsets[0] = 0
    offsets[1 : len(texts) + 1] = np.cumsum([len(text) for text in texts])


def join_texts(
    parts: list[bytes | Part], first: int, delimiter: str, null: bytes, offsets: I64, out: U8
) -> int:
    """See ``protocol.Implementation``."""
    rows = len(offsets) - 1
    if not (0 <= first <= rows and 0 <= offsets[first] <= len(out)):
        raise ValueError("the first row is outside the rows")
    columns = [_texts(part, rows, first, delimiter.encode("latin-1"), null) for part in parts]
    to = int(offsets[first])
    for row in range(first, rows):
        text = b"".join([next(column) for column in columns])
        if to + len(text) > len(out):
            return row
        out[to : to + len(text)] = np.frombuffer(text, np.uint8)
        to += len(text)
        offsets[row + 1] = to
    return rows


def _texts(
    part: bytes | Part, rows: int, first: int, delimiter: bytes, null: bytes
) -> Iterator[bytes]:
    """Check a part, and return its texts from a row on."""
    if isinstance(part, bytes):
        return iter([part] * rows)
    _, offsets, validity, bit, indices, _ = part
    texts = len(offsets) - 1
    too_few_bits = validity is not None and (bit < 0 or bit + texts > 8 * len(validity))
    if rows > (texts if indices is None else len(indices)) or too_few_bits:
        raise ValueError("the columns differ in length")
    return _of_rows(part, range(first, rows), delimiter, null)


def _of_rows(part: Part, rows: range, delimiter: bytes, null: bytes) -> Iterator[bytes]:
    data, offsets, validity, bit, indices, is_cell = part
    whole, bounds = data.tobytes(), offsets.tolist()
    for row in rows:
        at: Any = row if indices is None else int(indices[row])
        if at < 0:
            yield null
            continue
        if at >= len(bounds) - 1 or not 0 <= bounds[at] <= bounds[at + 1] <= len(whole):
            raise ValueError("a text is outside the data")
        text = whole[bounds[at] : bounds[at + 1]]
        if validity is not None and not validity[(at + bit) >> 3] >> ((at + bit) & 7) & 1:
            yield null
        else:
            yield _cell(text, delimiter) if is_cell else text
