"""The depth of values in JSON lines: Arrow crashes when it infers types of great depth."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: Arrow's own limit for IPC files; Parquet's is 100.
DEEPEST = 64
_OPENING, _CLOSING = b"[{", b"]}"


def first_deep_line(texts: pa.Array) -> int | None:
    """Return the index of the first text with values nested deeper than ``DEEPEST``, or None.

    A text with many brackets that is not JSON counts as such.
    """
    counts = [pc.count_substring(texts, chr(bracket)) for bracket in _OPENING]
    # Most texts have fewer brackets than that, so their depth is not computed.
    many = np.flatnonzero(np.asarray(pc.add(*counts)) > DEEPEST)
    return next((int(at) for at in many if _is_deep(texts[int(at)].as_py())), None)


def _is_deep(text: bytes) -> bool:
    data = np.frombuffer(text, np.uint8)
    opening, closing = (np.isin(data, [*brackets]) for brackets in (_OPENING, _CLOSING))
    # Brackets inside strings count too, such as "[[a": the depth may be too great.
    depths = np.cumsum(opening.astype(np.int32) - closing)
    return bool(depths.max() > DEEPEST) and _depth(text) > DEEPEST


def _depth(text: bytes) -> float:
    try:
        level = [json.loads(text)]
    except (ValueError, RecursionError):
        return float("inf")
    depth = 0
    while level := [member for value in level for member in _members(value)]:
        depth += 1
    return depth


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values()) or [None]
    return (value or [None]) if isinstance(value, list) else []
