"""Columns of instants: timestamps or Unix times to whole Unix seconds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def seconds_of(array: pa.Array) -> pa.Array:
    """Return instants as int64 Unix seconds, floored; null stays null.

    Raises TypeError for timestamps without a time zone and for what is no time,
    ValueError for NaN and numbers beyond 64 bits.
    """
    kind = array.type
    if pa.types.is_timestamp(kind):
        if kind.tz is None:
            raise TypeError(
                "the timestamps of at have no time zone; give them one (UTC, if that is what"
                " they are in)"
            )
        return _floored(array.cast(pa.int64()), _PER_SECOND[kind.unit])
    if pa.types.is_null(kind):
        return array.cast(pa.int64())
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise TypeError(f"at must hold timestamps or Unix times, not {kind}")
    try:
        return (pc.floor(array) if pa.types.is_floating(kind) else array).cast(pa.int64())
    except pa.ArrowInvalid:
        raise ValueError("at must be from 0001-01-02 to before 9999-12-31, UTC") from None


def _floored(ticks: pa.Array, per_second: int) -> pa.Array:
    """Divide, rounding down (Arrow's division rounds towards zero)."""
    whole = pc.divide(ticks, per_second)
    above = pc.greater(pc.multiply(whole, per_second), ticks)
    return pc.subtract(whole, above.cast(pa.int64()))
