"""A column of instants in a file to Unix seconds; texts too, for CSV has nothing else."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_NUMBER = r"^-?[0-9]+(\.[0-9]*)?$"


def unix_seconds(column: pa.Array) -> pa.Array:
    """Return an array that the engine takes for instants.

    Texts are Unix seconds or ISO 8601 with an offset, to int64, floored.
    Raises ValueError for a text that is neither; other types stay as they are.
    """
    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    is_number = pc.match_substring_regex(column, _NUMBER)
    nothing = pa.scalar(None, kind)
    try:
        numbers = pc.if_else(is_number, column, nothing).cast(pa.float64())
        times = pc.if_else(is_number, nothing, column).cast(pa.timestamp("us", "UTC"))
        return pc.coalesce(pc.floor(numbers).cast(pa.int64()), _floored(times))
    except pa.ArrowInvalid:
        problem = "an instant is neither Unix seconds nor ISO 8601 with an offset"
        raise ValueError(problem) from None


def _floored(times: pa.Array) -> pa.Array:
    """Return microseconds as seconds, rounded down (Arrow's division rounds towards zero)."""
    ticks = times.cast(pa.int64())
    whole = ticks.fill_null(0).to_numpy() // 10**6
    return pa.array(whole, mask=ticks.is_null().to_numpy(zero_copy_only=False))
