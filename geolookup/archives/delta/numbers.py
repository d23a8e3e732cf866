"""A column of numbers over that of its base: which rows differ, and by what.

Strategy: three ways to write it, and the smallest is used. Rows that got other values: the new
values (``changes``). Numbers of rows after an inserted one: all differ by the same amount, so
where that amount changes (``steps``). Files without a common history: the values themselves
(``literal``), so that a patch is never much larger than the file. Arithmetic wraps.
"""

from __future__ import annotations

import numpy as np

from geolookup.archives.delta.alignment import I64, Alignment, gaps_of, positions_in
from geolookup.archives.delta.parts import Unsigned
from geolookup.archives.delta.streams import PatchError, Streams, written

_LITERAL, _CHANGES, _STEPS = range(3)
#: Where fewer than one row in so many differs, the literal values are not the smallest.
_FEW = 16


def numbers_text(values: Unsigned, former: Unsigned, alignment: Alignment) -> bytes:
    """Write the values (n,) of a column; ``former`` (m,) are those of the base, of that width."""
    kept, keeping = alignment.of(former), values[alignment.keeping]
    changes, steps = _changes(kept, keeping), _steps(kept, keeping)
    inserted = np.flatnonzero(~alignment.keeping)
    fresh = values[inserted]
    found = [
        bytes([_CHANGES]) + changes + written(fresh),
        bytes([_STEPS]) + steps + written(fresh - _before(keeping, inserted)),
    ]
    if min(map(len, found)) * _FEW > values.nbytes:
        found.append(bytes([_LITERAL]) + written(values))
    return min(found, key=len)


def read_numbers(
    streams: Streams, values: Unsigned, former: Unsigned, alignment: Alignment
) -> None:
    """Fill ``values`` (n,) as written; PatchError for what does not fit in."""
    method = streams.byte()
    if method == _LITERAL:
        values[:] = streams.exactly(values.dtype.type, len(values))
        return
    if method not in (_CHANGES, _STEPS):
        raise PatchError(f"a column written in way {method}")
    kept = alignment.of(former).copy()
    rows = positions_in(streams, len(kept))
    given = streams.exactly(values.dtype.type, len(rows))
    inserted = np.flatnonzero(~alignment.keeping)
    if method == _CHANGES:
        kept[rows] = given
        fresh = streams.exactly(values.dtype.type, len(inserted))
    else:
        _add_steps(kept, rows, given)
        fresh = streams.exactly(values.dtype.type, len(inserted)) + _before(kept, inserted)
    values[alignment.keeping] = kept
    values[inserted] = fresh


def _changes(former: Unsigned, values: Unsigned) -> bytes:
    rows = np.flatnonzero(former != values)
    return gaps_of(rows) + written(values[rows])


def _steps(former: Unsigned, values: Unsigned) -> bytes:
    """Write where the difference to the former value is not that of the row before."""
    difference = values - former
    steps = np.diff(difference, prepend=difference.dtype.type(0))
    rows = np.flatnonzero(steps)
    return gaps_of(rows) + written(steps[rows])


def _add_steps(kept: Unsigned, rows: I64, given: Unsigned) -> None:
    steps = np.zeros_like(kept)
    steps[rows] = given
    kept += np.cumsum(steps, dtype=steps.dtype)


def _before(kept: Unsigned, inserted: I64) -> Unsigned:
    """Return the value of the kept row before each inserted one; 0 where there is none."""
    rows = inserted - np.arange(len(inserted))  # how many kept rows are before
    found: Unsigned = np.append(kept.dtype.type(0), kept)[rows]
    return found
