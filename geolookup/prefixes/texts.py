"""The texts of prefixes, addresses and ranges, for whole columns.

Strategy: a text is a row of cells of one byte each; a cell without a character is 0. Groups of
digits are taken from tables of all their texts. The cells that are not 0, one after the other, are
the texts.
IPv6 follows RFC 5952: without leading zeros, and the first of the longest runs of two or more
zero groups is left out. As in ``contract.address``, no text has the mixed notation.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.dataset.intervals import U8, U64, Addresses
from geolookup.prefixes.aggregate import Prefixes
from geolookup.prefixes.spans import Spans

_SHIFTS = {4: (24, 16, 8, 0), 6: (48, 32, 16, 0)}
_GROUPS = 8
#: Added to the value (0) of a group that is left out.
_HIDDEN = 1 << 16


def cidr_texts(prefixes: Prefixes) -> pa.StringArray:
    """Return the text of each prefix: ``1.2.3.0/24``, ``2001:db8::/32``."""
    addresses = address_texts(prefixes.family, prefixes.first)
    return pc.binary_join_element_wise(addresses, pa.array(prefixes.lengths).cast(pa.string()), "/")


def range_texts(spans: Spans) -> pa.StringArray:
    """Return the text of each range: its first and last address with a hyphen between them."""
    ends = (address_texts(spans.family, end) for end in (spans.first, spans.last))
    return pc.binary_join_element_wise(*ends, "-")


def address_texts(family: int, addresses: Addresses) -> pa.StringArray:
    """Return the text of each address of a family."""
    low, high = addresses.halves()
    cells = _ipv4_cells(low) if family == 4 else _ipv6_cells(high, low)
    # "1" 0 0 "." "0" 0 0 "." ...: the cells that are not 0 are the texts, row after row.
    is_set = cells != 0
    offsets = np.zeros(len(cells) + 1, np.int32)
    np.cumsum(np.count_nonzero(is_set, axis=1), out=offsets[1:])
    data = cells[is_set]
    return pa.StringArray.from_buffers(len(cells), pa.py_buffer(offsets), pa.py_buffer(data))


def _ipv4_cells(low: U64) -> U8:
    parts = []
    for shift in _SHIFTS[4]:
        octets = (low >> np.uint64(shift) & np.uint64(0xFF)).astype(np.intp)
        parts.append(_octets("." if shift else "")[octets])
    return np.concatenate(parts, axis=1)


def _ipv6_cells(high: U64, low: U64) -> U8:
    words = [
        half >> np.uint64(shift) & np.uint64(0xFFFF) for half in (high, low) for shift in _SHIFTS[6]
    ]
    groups = [word.astype(np.intp) for word in words]
    # Bit n is set if group n is 0: 2001:db8::1 has 0b01111100.
    zeros = sum((group == 0).astype(np.intp) << at for at, group in enumerate(groups))
    colons, hidden = _colons()
    parts = []
    for at, group in enumerate(groups):
        # A group that is left out is 0, so 0 | 1 << 16 is the number of the empty row.
        parts += [colons[zeros, at], _hexadecimals()[group | hidden[zeros, at]]]
    return np.concatenate(parts, axis=1)


@cache
def _octets(after: str) -> U8:
    """Return the numbers of a byte, a row each, and a text after them."""
    return _table([f"{number}{after}" for number in range(256)])


@cache
def _hexadecimals() -> U8:
    """Return all groups of an IPv6 address, a row each; the row after them is empty."""
    return _table([*(f"{group:x}" for group in range(_HIDDEN)), ""])


@cache
def _colons() -> tuple[U8, NDArray[np.intp]]:
    """Return the colons before each group, and ``_HIDDEN`` for each group that is left out.

    The shapes are (256, 8, 2) and (256, 8): by a byte with a bit for each zero group, and by group.
    """
    colons = np.zeros((256, _GROUPS, 2), np.uint8)
    hidden = np.zeros((256, _GROUPS), np.intp)
    # 2001:db8::1: groups 2 to 6 are hidden, "::" is before group 2, nothing before 3 to 7.
    for zeros in range(256):
        begin, end = _longest_run(zeros)
        for at in range(_GROUPS):
            hidden[zeros, at] = _HIDDEN if begin <= at < end else 0
            text = "::" if at == begin < end else ":" if at and not begin < at <= end else ""
            colons[zeros, at, : len(text)] = ord(":")
    return colons, hidden


def _longest_run(zeros: int) -> tuple[int, int]:
    """Return begin and end of the first longest run of two or more zero groups; (0, 0) for none."""
    # Bit 0 first: 0b01111100 is "00111110".
    runs = re.finditer("11+", f"{zeros:08b}"[::-1])
    # Of equally long runs max returns the first one.
    return max((run.span() for run in runs), key=lambda ends: ends[1] - ends[0], default=(0, 0))


def _table(texts: list[str]) -> U8:
    """Return texts as rows of equal width, with 0 after a text that is shorter."""
    width = max(map(len, texts))
    data = b"".join(text.encode("ascii").ljust(width, b"\0") for text in texts)
    return np.frombuffer(data, np.uint8).reshape(len(texts), width)
