"""Ranges whose ends are hexadecimal numbers, padded or not: converters of two vendors write them.

Strategy: the digits are grouped into the text of an IPv6 address, which the parser of
address columns takes; an IPv4 address is then the low half of it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.ranges import REASONS, ParsedRanges, from_pairs

_GROUPS = "^" + "([0-9A-Fa-f]{4})" * 8 + "$"
_TEXT = ":".join(rf"\{group}" for group in range(1, 9))
_NOT_ADDRESS = REASONS.index("not an address")
_IPV4_MAX = np.uint64(0xFFFF_FFFF)


def from_hex_pairs(first: pa.Array, last: pa.Array, family: int | None = None) -> ParsedRanges:
    """Parse inclusive ranges, each end a number in hexadecimal without a prefix.

    A range up to 2^32 - 1 is IPv4 unless ``family`` is 6.
    """
    found = from_pairs(_address_text(first), _address_text(last))
    if family == 6:
        return found
    small = (found.last.high == 0) & (found.last.low <= _IPV4_MAX)
    reason = found.reason.copy()
    if family == 4:
        reason[(reason == 0) & ~small] = _NOT_ADDRESS
    families = np.where(reason == 0, np.where(small, 4, 6), 0).astype(np.uint8)
    return ParsedRanges(families, found.first, found.last, reason)


def _address_text(digits: pa.Array) -> pa.Array:
    """Return numbers as IPv6 addresses, null for what is none."""
    padded = pc.utf8_lpad(digits, 32, "0")
    good = pc.and_(pc.match_substring_regex(padded, _GROUPS), pc.not_equal(digits, ""))
    return pc.if_else(good, pc.replace_substring_regex(padded, _GROUPS, _TEXT), None)
