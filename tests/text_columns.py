"""Texts laid out as a column of bytes, as the parsers of columns take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]


def encoded(text: str) -> bytes:
    # As a text column may hold them: surrogates are not UTF-8, but must not be an address.
    return text.encode("utf-8", "surrogatepass")


def laid_out(rows: Sequence[str], between: bytes) -> tuple[U8, I64, I64]:
    """Return texts as one buffer, starts and lengths; ``between`` lies between the texts."""
    parts = [encoded(text) for text in rows]
    lengths = np.array([len(part) for part in parts], np.int64)
    steps = lengths + len(between)
    starts = np.cumsum(steps) - steps
    return np.frombuffer(between.join(parts) or b"\0", np.uint8), starts, lengths


def parsed(parse_texts: Any, data: bytes, starts: Any, lengths: Any) -> list[tuple[int, int]]:
    """Return (family, value) of each text; (0, 0) for another text."""
    count = len(starts)
    families = np.full(count, 7, np.uint8)
    highs, lows = np.full(count, 7, np.uint64), np.full(count, 7, np.uint64)
    columns = (np.array(column, np.int64) for column in (starts, lengths))
    parse_texts(np.frombuffer(data, np.uint8), *columns, families, highs, lows)
    values = zip(highs.tolist(), lows.tolist(), strict=True)
    return [
        (family, high << 64 | low)
        for family, (high, low) in zip(families.tolist(), values, strict=True)
    ]
