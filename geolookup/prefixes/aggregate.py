"""Ranges of addresses as the fewest aligned prefixes, and the texts of both, for whole columns.

Strategy of prefixes: a step takes the largest one at the beginning of each range; ranges of which
something remains take part in the next step. Example: 5 to 17. 5 is odd: 5 itself. 6 is divisible
by 2: 6-7. 8 is divisible by 8: 8-15. 16 is divisible by 16, but 2 addresses remain: 16-17.

Strategy of texts: octets and groups of digits are taken from tables of all their texts. A text of
IPv6 is a row of cells of one byte each; the cells that are not 0, one after the other, are the
texts. They follow RFC 5952, without mixed notation, as in ``contract.address``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.address import BITS
from geolookup.dataset.intervals import I64, U8, U64, Addresses, concat
from geolookup.prefixes.spans import Spans

_ONE = np.uint64(1)
_ALL = ~np.uint64(0)
_SHIFTS = {4: (24, 16, 8, 0), 6: (48, 32, 16, 0)}
_GROUPS = 8
_OCTETS = pa.array(map(str, range(256)))
#: Added to the value (0) of a group that is left out.
_HIDDEN = 1 << 16


class Prefixes(NamedTuple):
    """n prefixes of one family: their first addresses in 128 bits, and their lengths (n,)."""

    family: int
    first: Addresses
    lengths: U8


def prefixes_of(spans: Spans) -> tuple[Prefixes, I64]:
    """Return the fewest aligned prefixes of each range, and the number of the range of each.

    The prefixes are in address order. Adjacent ranges are not joined: ``spans.join`` does that.
    """
    begin, last, rows = spans.first, spans.last, np.arange(len(spans))
    steps: list[tuple[I64, Addresses, I64]] = []
    while len(rows) or not steps:
        (low, high), (low_mask, high_mask) = begin.halves(), _largest(begin, last)
        steps.append((rows, begin, _ones(low_mask) + _ones(high_mask)))
        end = Addresses(low | low_mask, high | high_mask)
        left = np.flatnonzero(~end.equals(last))
        begin, last, rows = end[left].successor(), last[left], rows[left]
    of = np.concatenate([rows for rows, _, _ in steps])
    counts = np.bincount(of, minlength=len(spans))
    before = np.cumsum(counts) - counts
    # Ranges 0 and 1 with 2 and 1 prefixes: the steps [0 1] [0] have the places [0 2] [1].
    places = np.concatenate([before[rows] + step for step, (rows, _, _) in enumerate(steps)])
    order = np.empty_like(places)
    order[places] = np.arange(len(places))
    lengths = BITS[spans.family] - np.concatenate([bits for _, _, bits in steps])[order]
    first = concat([begin for _, begin, _ in steps])[order]
    return Prefixes(spans.family, first, lengths.astype(np.uint8)), of[order]


def _largest(begin: Addresses, last: Addresses) -> tuple[U64, U64]:
    """Return the host mask of the largest prefix that begins a range and lies in it, low first."""
    # 8 to 17: 9 more addresses, 0b1001. Masks of at most that: 0b111; 0b1111 would be 16 addresses.
    low, high = last.minus(begin).halves()
    low_mask, high_mask = np.where(high != 0, _ALL, _fill(low)), _fill(high)
    is_whole = (low_mask == low) & (high_mask == high)
    low_half, high_half = low_mask >> _ONE | high_mask << np.uint64(63), high_mask >> _ONE
    # ~8 & (8 - 1) are the zeros below the lowest bit of 8, 0b111; of 0 they are all.
    (low, high), (low_less, high_less) = begin.halves(), begin.predecessor().halves()
    size = np.where(is_whole, low_mask, low_half), np.where(is_whole, high_mask, high_half)
    return ~low & low_less & size[0], ~high & high_less & size[1]


def _fill(words: U64) -> U64:
    """Set all bits below the highest one that is set."""
    # 0b10000, 0b11000, 0b11110, 0b11111: the number of ones doubles.
    for shift in (1, 2, 4, 8, 16, 32):
        words = words | words >> np.uint64(shift)
    return words


def _ones(masks: U64) -> I64:
    """Return the number of ones of each mask, such as 3 of 0b111."""
    # 0b111 ^ 0b11 is 0b100, a power of two, which floats have exactly: frexp(4.0) is (0.5, 3).
    return np.frexp((masks ^ masks >> _ONE).astype(np.float64))[1].astype(np.int64)


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
    if family == 4:
        octets = (low >> np.uint64(shift) & np.uint64(0xFF) for shift in _SHIFTS[4])
        return pc.binary_join_element_wise(*(_OCTETS.take(pa.array(item)) for item in octets), ".")
    cells = _ipv6_cells(high, low)
    # "1" 0 0 0 ":" ":" "a" 0 ...: the cells that are not 0 are the texts, row after row.
    is_set = cells != 0
    offsets = np.zeros(len(cells) + 1, np.int32)
    np.cumsum(np.count_nonzero(is_set, axis=1), out=offsets[1:])
    data = cells[is_set]
    return pa.StringArray.from_buffers(len(cells), pa.py_buffer(offsets), pa.py_buffer(data))


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
