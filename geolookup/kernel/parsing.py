"""Columns of address texts to columns of numbers, by the kernel that answers lookups."""

from __future__ import annotations

import numpy as np

from geolookup.dataset.address_columns import I64, U8, Addresses
from geolookup.kernel import parse_texts


def parse(data: U8, starts: I64, lengths: I64) -> Addresses:
    """Parse the texts ``data[start : start + length]``.

    ``data`` is UTF-8; ``starts`` and ``lengths`` are int64 of one shape (n,).
    Rows that are no address, or lie outside ``data``, have family 0 and value 0.
    """
    count = len(starts)
    out = Addresses(
        np.empty(count, np.uint8), np.empty(count, np.uint64), np.empty(count, np.uint64)
    )
    if count:
        parse_texts(data, starts, lengths, out.family, out.high, out.low)
    return out
