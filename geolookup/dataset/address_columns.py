"""Address text to integers for whole columns, in numpy: the vectorised twin of ``address``.

Strategy: the texts of up to 32 k rows are laid out as byte columns (all first
bytes, all second bytes, ...), which stay in cache, and an automaton walks the
columns for all rows at once. What it accepts is exactly what ``address``
accepts; a test holds the two against each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.contract import address

CHUNK = 32 * 1024
_LONGEST_IPV4 = 15
_LONGEST_IPV6 = 45
_HEX = np.full(256, 255, np.uint8)
for _digit in "0123456789abcdefABCDEF":
    _HEX[ord(_digit)] = int(_digit, 16)

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Addresses:
    """Parsed addresses: ``family`` is 4, 6 or 0 (not an address); IPv4 lies in ``low``."""

    family: U8
    high: U64
    low: U64


def parse(data: U8, starts: I64, lengths: I64) -> Addresses:
    """Parse the texts ``data[start : start + length]``.

    ``data`` is UTF-8; ``starts`` and ``lengths`` are int64 of one shape (n,).
    Rows that are no address have family 0 and value 0.
    """
    size = len(starts)
    out = Addresses(np.zeros(size, np.uint8), np.zeros(size, np.uint64), np.zeros(size, np.uint64))
    for begin in range(0, size, CHUNK):
        rows = slice(begin, begin + CHUNK)
        _parse_chunk(data, starts[rows], lengths[rows], out, begin)
    return out


def _parse_chunk(data: U8, starts: I64, lengths: I64, out: Addresses, begin: int) -> None:
    usable = (lengths >= 2) & (lengths <= _LONGEST_IPV6)
    rows = np.flatnonzero(usable)
    if not len(rows):
        return
    text = byte_columns(data, starts[rows], lengths[rows])
    colon = (text == ord(":")).any(axis=0)
    for select, put in ((~colon, _put_ipv4), (colon, _put_ipv6)):
        chosen = np.flatnonzero(select)
        if len(chosen):
            part = text if len(chosen) == len(rows) else text[:, chosen]
            put(out, begin + rows[chosen], part, lengths[rows[chosen]])


def byte_columns(data: U8, starts: I64, lengths: I64) -> U8:
    """Return the texts as a matrix (longest, n): row j holds every text's byte j, or 0."""
    longest = int(lengths.max())
    columns = np.zeros((longest, len(starts)), np.uint8)
    shortest = int(lengths.min())
    for at in range(longest):
        if at < shortest:
            columns[at] = data[starts + at]
        else:
            rows = np.flatnonzero(lengths > at)
            columns[at, rows] = data[starts[rows] + at]
    return columns


def _put_ipv4(out: Addresses, rows: I64, text: U8, lengths: I64) -> None:
    value, good = _ipv4(text, lengths)
    out.family[rows] = np.where(good, 4, 0)
    out.low[rows] = np.where(good, value, 0)


def _ipv4(text: U8, lengths: I64) -> tuple[U64, Bools]:
    """Walk dotted quads: at most three digits, no leading zero, four octets up to 255."""
    size = text.shape[1]
    value = np.zeros(size, np.uint32)
    octet = np.zeros(size, np.uint32)
    digits = np.zeros(size, np.uint8)
    dots = np.zeros(size, np.uint8)
    bad = lengths > _LONGEST_IPV4
    for at, column in enumerate(text[:_LONGEST_IPV4]):
        digit = column - np.uint8(48)
        is_digit = digit < 10
        is_dot = column == 46
        bad |= ~(is_digit | is_dot) & (at < lengths)
        bad |= is_dot & ((digits == 0) | (octet > 255))
        bad |= is_digit & (((digits > 0) & (octet == 0)) | (digits > 2))
        value = np.where(is_dot, value << 8 | octet, value)
        octet = np.where(is_digit, octet * 10 + digit, np.where(is_dot, 0, octet))
        digits = np.where(is_dot, 0, digits + is_digit)
        dots += is_dot
    bad |= (digits == 0) | (octet > 255) | (dots != 3)
    return (value << 8 | octet).astype(np.uint64), ~bad


def _put_ipv6(out: Addresses, rows: I64, text: U8, lengths: I64) -> None:
    dotted = (text == ord(".")).any(axis=0)
    plain = np.flatnonzero(~dotted)
    if len(plain):
        high, low, good = _ipv6(text[:, plain], lengths[plain])
        out.family[rows[plain]] = np.where(good, 6, 0)
        out.high[rows[plain]] = np.where(good, high, 0)
        out.low[rows[plain]] = np.where(good, low, 0)
    if dotted.any():
        chosen = np.flatnonzero(dotted)
        _put_dotted(out, rows[chosen], text[:, chosen], lengths[chosen])


def _put_dotted(out: Addresses, rows: I64, text: U8, lengths: I64) -> None:
    """Parse dotted tails; the common ``::ffff:`` ones as IPv4, the others one by one."""
    prefix = np.frombuffer(b"::ffff:", np.uint8)
    width = len(prefix)
    mapped = np.zeros(len(rows), bool)
    if len(text) > width:
        mapped = (text[:width] == prefix[:, None]).all(axis=0)
        mapped &= (text[width:] != ord(":")).all(axis=0)  # not ::ffff:0:8.8.8.8
        chosen = np.flatnonzero(mapped)
        value, good = _ipv4(text[width:, chosen], lengths[chosen] - width)
        out.family[rows[chosen]] = np.where(good, 6, 0)
        out.low[rows[chosen]] = np.where(good, value | np.uint64(address.MAPPED), 0)
    for at in np.flatnonzero(~mapped):
        single = address.parse_ipv6(text[: lengths[at], at].tobytes().decode("latin-1"))
        if single is not None:
            out.family[rows[at]] = 6
            out.high[rows[at]] = single >> 64
            out.low[rows[at]] = single & 0xFFFF_FFFF_FFFF_FFFF


def _ipv6(text: U8, lengths: I64) -> tuple[U64, U64, Bools]:
    """Shift hexadecimal groups into a 128-bit register, then open it where ``::`` stood."""
    size = text.shape[1]
    high, low, group = (np.zeros(size, np.uint64) for _ in range(3))
    digits, groups = np.zeros(size, np.uint8), np.zeros(size, np.int64)
    gap = np.full(size, -1, np.int64)
    after_colon = np.zeros(size, bool)
    bad = (text[0] == 58) & (text[1] != 58)
    # One column of zeros more, so that every text has a column in which it ends.
    for at, column in enumerate(np.vstack([text, np.zeros((1, size), np.uint8)])):
        nibble, is_colon, is_end = _HEX[column], column == 58, lengths == at
        is_hex = nibble < 16
        bad |= ~(is_hex | is_colon) & (at < lengths)
        closes = (is_colon | is_end) & (digits > 0)
        high, low = _push(high, low, group, closes)
        groups += closes
        doubled = is_colon & after_colon
        bad |= doubled & (gap >= 0)
        gap = np.where(doubled, groups, gap)
        bad |= is_end & after_colon & (gap != groups)  # ends in a single colon
        group = np.where(is_hex, group << np.uint64(4) | nibble, np.uint64(0))
        digits = np.where(is_hex, digits + np.uint8(1), np.uint8(0))
        bad |= digits > 4
        after_colon = is_colon
    bad |= np.where(gap < 0, groups != 8, groups > 7)
    return *_open_gap(high, low, groups, gap), ~bad


def _push(high: U64, low: U64, group: U64, where: Bools) -> tuple[U64, U64]:
    """Shift one 16-bit group into the register of the chosen rows."""
    shifted_high = high << np.uint64(16) | low >> np.uint64(48)
    shifted_low = low << np.uint64(16) | group
    return np.where(where, shifted_high, high), np.where(where, shifted_low, low)


def _open_gap(high: U64, low: U64, groups: I64, gap: I64) -> tuple[U64, U64]:
    """Move the groups that stood before ``::`` to the top of the address."""
    after = np.where(gap < 0, groups, groups - gap).clip(0, 8)
    tail_high, tail_low = _mask(high, low, after)
    head_high, head_low = high ^ tail_high, low ^ tail_low
    head_high, head_low = shift_left(head_high, head_low, 16 * (8 - groups.clip(0, 8)))
    whole = gap < 0
    return (
        np.where(whole, high, head_high | tail_high),
        np.where(whole, low, head_low | tail_low),
    )


def _mask(high: U64, low: U64, groups: I64) -> tuple[U64, U64]:
    ones = np.full(len(high), ~np.uint64(0))
    mask_high, mask_low = shift_left(ones, ones, 16 * groups)
    return high & ~mask_high, low & ~mask_low


def shift_left(high: U64, low: U64, bits: I64) -> tuple[U64, U64]:
    """Shift 128-bit values left by 0 to 128 bits a row (numpy leaves 64 and more undefined)."""
    count = bits.astype(np.uint64)
    far = count >= 64
    near = np.where(far, count - np.uint64(64), count)
    none, all_ = near == 0, near >= 64
    amount = np.where(all_, np.uint64(0), near)
    carry = np.where(none, np.uint64(0), low >> ((np.uint64(64) - amount) & np.uint64(63)))
    moved_low = np.where(all_, np.uint64(0), low << amount)
    moved_high = np.where(all_, np.uint64(0), high << amount | carry)
    return np.where(far, moved_low, moved_high), np.where(far, np.uint64(0), moved_low)


def parse_integers(data: U8, starts: I64, lengths: I64) -> tuple[U64, U64, Bools]:
    """Parse decimal integers below 2^128; returns high half, low half and which rows are one."""
    size = len(starts)
    high, low = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    good = np.zeros(size, bool)
    for begin in range(0, size, CHUNK):
        rows = begin + np.flatnonzero(_is_integer_length(lengths[begin : begin + CHUNK]))
        if len(rows):
            text = byte_columns(data, starts[rows], lengths[rows])
            high[rows], low[rows], good[rows] = _integers(text, lengths[rows])
    return high, low, good


def _is_integer_length(lengths: I64) -> Bools:
    return (lengths >= 1) & (lengths <= len(str(address.IPV6_MAX)))


def _integers(text: U8, lengths: I64) -> tuple[U64, U64, Bools]:
    size = text.shape[1]
    high, low = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    bad = np.zeros(size, bool)
    for at, column in enumerate(text):
        digit = column - np.uint8(48)
        live = lengths > at
        bad |= live & (digit > 9)
        next_high, next_low, overflow = _times_ten_plus(high, low, digit.astype(np.uint64))
        bad |= live & overflow
        high, low = np.where(live, next_high, high), np.where(live, next_low, low)
    return high, low, ~bad


def _times_ten_plus(high: U64, low: U64, digit: U64) -> tuple[U64, U64, Bools]:
    """Return (high, low) * 10 + digit, and where that passes 128 bits."""
    ten, half, mask = np.uint64(10), np.uint64(32), np.uint64(0xFFFF_FFFF)
    small = (low & mask) * ten + digit
    large = (low >> half) * ten + (small >> half)
    limit = np.uint64(((1 << 64) - 1) // 10)
    next_high = high * ten + (large >> half)
    overflow = (high > limit) | (next_high < (large >> half))
    return next_high, large << half | (small & mask), overflow


def count_up_to(
    highs: U64 | None, lows: NDArray[np.unsignedinteger], high: U64 | None, low: U64
) -> I64:
    """Return, for each address, how many of the sorted points are <= it.

    Points and addresses are halves of 128 bits; the high ones are None for IPv4.
    """
    if highs is None or high is None:
        return np.searchsorted(lows, low.astype(lows.dtype, copy=False), side="right")
    begin = np.searchsorted(highs, high, side="left")
    end = np.searchsorted(highs, high, side="right")
    # Among points of one high half the low halves decide: bisect all rows at once.
    while len(rows := np.flatnonzero(begin < end)):
        middle = (begin[rows] + end[rows]) >> 1
        passed = lows[middle] <= low[rows]
        begin[rows] = np.where(passed, middle + 1, begin[rows])
        end[rows] = np.where(passed, end[rows], middle)
    return begin
