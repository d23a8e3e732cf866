"""A column beside the same column of the base: ``column_text`` writes the difference.

``read_column`` reads it. Numbers are written in the smallest of three ways (the grammar is in
``archives.delta``). Way 1, rows with other values: the new values. Way 2, rows after an inserted
one that all grow by the same: the changes of the growth. Way 0, files without a common history: the
values themselves. A patch is therefore never much larger than the file. Arithmetic wraps. Texts are
written if they differ or are new.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.archives.delta.parts import TextColumn, Unsigned
from geolookup.archives.delta.rows import I64, Alignment, Bools, positions_text, read_positions
from geolookup.archives.delta.streams import PatchError, Streams, encode_numbers

_LITERAL, _CHANGES, _STEPS = range(3)
#: Where fewer than one row in so many differs, the literal values are not the smallest.
_FEW = 16
Values = Unsigned | TextColumn


def column_text(values: Values, former: Values, rows: Alignment) -> bytes:
    """Write a column (n,); ``former`` (m,) is the same column of the base."""
    if isinstance(values, TextColumn):
        return _texts_text(values, cast("TextColumn", former), rows)
    return _numbers_text(values, cast("Unsigned", former), rows)


def read_column(streams: Streams, values: Values, former: Values, rows: Alignment) -> None:
    """Fill a column (n,) as written; PatchError for values that do not fit in."""
    if isinstance(values, TextColumn):
        _read_texts(streams, values, cast("TextColumn", former), rows)
    else:
        _read_numbers(streams, values, cast("Unsigned", former), rows)


def _numbers_text(values: Unsigned, former: Unsigned, rows: Alignment) -> bytes:
    common, inserted = values[rows.target_mask], np.flatnonzero(~rows.target_mask)
    # base    10 20 30 40      common 10 21 31 41      added   0 1 1 1
    # changes: rows 1, 2, 3    steps: row 1 by 1
    added = common - rows.of(former)
    changes, steps = np.flatnonzero(added), np.diff(added, prepend=added.dtype.type(0))
    fresh = values[inserted]
    ways = [
        bytes([_CHANGES]) + _sparse(changes, common) + encode_numbers(fresh),
        bytes([_STEPS])
        + _sparse(np.flatnonzero(steps), steps)
        + encode_numbers(fresh - _before(common, inserted)),
    ]
    if min(map(len, ways)) * _FEW > values.nbytes:
        ways.append(bytes([_LITERAL]) + encode_numbers(values))
    return min(ways, key=len)


def _sparse(at: I64, values: Unsigned) -> bytes:
    return positions_text(at) + encode_numbers(values[at])


def _read_numbers(streams: Streams, values: Unsigned, former: Unsigned, rows: Alignment) -> None:
    way, dtype = streams.byte(), values.dtype.type
    if way == _LITERAL:
        values[:] = streams.exactly(dtype, len(values))
        return
    if way not in (_CHANGES, _STEPS):
        raise PatchError(f"a column written in way {way}")
    common = rows.of(former).copy()
    at = read_positions(streams, len(common))
    numbers = streams.exactly(dtype, len(at))
    inserted = np.flatnonzero(~rows.target_mask)
    fresh = streams.exactly(dtype, len(inserted))
    if way == _CHANGES:
        common[at] = numbers
    else:
        # The sum of the steps up to a row is its growth.
        steps = np.zeros_like(common)
        steps[at] = numbers
        common += np.cumsum(steps, dtype=dtype)
        fresh = fresh + _before(common, inserted)
    values[rows.target_mask], values[inserted] = common, fresh


def _before(common: Unsigned, inserted: I64) -> Unsigned:
    """Return the value of the kept row before each inserted one, else 0."""
    # Of rows 1, 2 and 5 inserted: 1, 1 and 3 kept rows are before them.
    rows = inserted - np.arange(len(inserted))  # how many kept rows are before
    # A zero in front: with no kept row before, index 0.
    before: Unsigned = np.append(common.dtype.type(0), common)[rows]
    return before


def _texts_text(texts: TextColumn, former: TextColumn, rows: Alignment) -> bytes:
    column, base = texts.array(), former.array()
    differ = pc.not_equal(base.filter(rows.base_mask), column.filter(rows.target_mask))
    changed = np.flatnonzero(differ.to_numpy(zero_copy_only=False))
    fresh = _fresh(rows, changed)
    lengths = texts.lengths[fresh]
    data = np.frombuffer(column.filter(fresh).buffers()[2] or b"", np.uint8)[: lengths.sum()]
    return (
        positions_text(changed) + encode_numbers(lengths.astype(np.uint32)) + encode_numbers(data)
    )


def _read_texts(streams: Streams, texts: TextColumn, former: TextColumn, rows: Alignment) -> None:
    fresh = _fresh(rows, read_positions(streams, int(np.count_nonzero(rows.base_mask))))
    new = streams.exactly(np.uint32, int(np.count_nonzero(fresh))).astype(np.int64)
    data = streams.next(np.uint8, len(texts.data))
    source = np.empty(len(texts), np.int64)  # of each text its number in base, then new ones
    # Base "a" "b" "c", new "x"; the file keeps "a" and "c" and inserts "x": source 0 2 3.
    source[rows.target_mask] = np.flatnonzero(rows.base_mask)
    source[fresh] = len(former) + np.arange(len(new))
    lengths = np.append(former.lengths, new)[source]
    # Sums of fewer than 2^32 lengths below 2^32 fit.
    if new.sum() != len(data) or lengths.sum() != len(texts.data):
        raise PatchError("the lengths of texts differ from their bytes")
    offsets = np.append(0, np.cumsum(new)).astype(np.int32)
    both = pa.concat_arrays([former.array(), TextColumn(offsets, data).array()])
    texts.offsets[0], texts.offsets[1:] = 0, np.cumsum(lengths)
    copied = both.take(pa.array(source)).buffers()[2] or b""
    texts.data[:] = np.frombuffer(copied, np.uint8)[: len(texts.data)]


def _fresh(rows: Alignment, changed: I64) -> Bools:
    """Mark the rows of the file that are inserted, or kept with another text."""
    common = np.flatnonzero(rows.target_mask)
    fresh = ~rows.target_mask
    fresh[common[changed]] = True
    return fresh
