"""The range columns of a source, as texts, integers or bytes, to first and last addresses.

Each row of a batch gets a family, a first and a last address, or the reason of its
rejection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, U64, Addresses, Bools, MixedAddresses, concat
from geolookup.kernel.columns import parse
from geolookup_builder.byte_columns import byte_columns, parse_integers

REASONS = (
    "",
    "not an address",
    "not a prefix length",
    "host bits set",
    "first is after last",
    "first and last are of two families",
    "not a route of a table",  # in a dump of a routing table
)
NOT_ADDRESS, _BAD_LENGTH, _HOST_BITS, DESCENDING, _TWO_FAMILIES, NOT_ROUTE = range(1, 7)
#: The reason of records with more or fewer cells than the header or layout has.
WRONG_CELL_COUNT = "wrong number of cells"
_IPV4_MAX = np.uint64(0xFFFF_FFFF)
#: For each byte, whether it may be in the text of an address or prefix.
_IS_WRITTEN = np.isin(np.arange(256), np.frombuffer(b"0123456789abcdefABCDEF.:/", np.uint8))
_HEX_GROUPS = "^" + "([0-9A-Fa-f]{4})" * 8 + "$"
_IPV6_TEXT = ":".join(rf"\{group}" for group in range(1, 9))


@dataclass(frozen=True, slots=True)
class ParsedRanges:
    """One row each: ``family`` 4, 6, or 0 where ``reason`` (an index of REASONS) rejects it.

    ``first`` and ``last`` are in 128 bits; those of IPv4 are its integers.
    """

    family: NDArray[np.uint8]
    first: Addresses
    last: Addresses
    reason: NDArray[np.uint8]

    def take(self, rows: I64 | Bools) -> ParsedRanges:
        """Return the rows with these numbers, or those that a mask marks."""
        return ParsedRanges(self.family[rows], self.first[rows], self.last[rows], self.reason[rows])

    def of_family(self, family: int) -> tuple[I64, Addresses, Addresses]:
        """Return the row numbers, first and last addresses of one family's rows."""
        rows = np.flatnonzero(self.family == family)
        first, last = self.first[rows], self.last[rows]
        if family == 4:
            first, last = (Addresses(each.low.astype(np.uint32)) for each in (first, last))
        return rows, first, last


def concatenated(parts: Sequence[ParsedRanges]) -> ParsedRanges:
    """Return the rows of all parts, in order."""
    return ParsedRanges(
        np.concatenate([each.family for each in parts]),
        concat([each.first for each in parts]),
        concat([each.last for each in parts]),
        np.concatenate([each.reason for each in parts]),
    )


@dataclass(frozen=True, slots=True)
class _Text:
    """A column of texts as the parsers need it."""

    data: NDArray[np.uint8]
    starts: I64
    lengths: I64


def _text(column: pa.Array) -> _Text:
    kind = pa.large_binary() if pa.types.is_large_binary(column.type) else pa.large_string()
    column = column.cast(kind)
    if column.null_count:  # fill_null copies even without nulls
        column = pc.fill_null(column, "")
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return _Text(np.frombuffer(data or b"\0", np.uint8), bounds[:-1], np.diff(bounds))


def _packed(column: pa.Array, text: _Text) -> I64:
    """Return the rows of a column of bytes that are packed addresses; the others are texts.

    Of 4 bytes all are: no text of a public address is so short. Of 16 bytes those are that hold a
    byte which no text has.
    """
    if not pa.types.is_large_binary(column.type):
        return np.empty(0, np.int64)
    four, sixteen = (np.flatnonzero(text.lengths == size) for size in (4, 16))
    if len(sixteen):
        written = _IS_WRITTEN[byte_columns(text.data, text.starts[sixteen], text.lengths[sixteen])]
        sixteen = sixteen[~written.all(axis=0)]
    return np.concatenate([four, sixteen])


def _unpack(found: MixedAddresses, text: _Text, rows: I64) -> None:
    """Write the addresses of packed rows, in network order, to ``found``."""
    for size, family in ((4, 4), (16, 6)):
        chosen = rows[text.lengths[rows] == size]
        if len(chosen):
            columns = byte_columns(text.data, text.starts[chosen], text.lengths[chosen])
            found.family[chosen] = family
            found.low[chosen] = _number(columns[-8:])
            found.high[chosen] = _number(columns[:-8])


def _number(columns: NDArray[np.uint8]) -> U64:
    """Return the integers whose bytes are in the rows of a matrix, the most significant first."""
    number = np.zeros(columns.shape[1], np.uint64)
    for column in columns:
        number = number << np.uint64(8) | column
    return number


def from_networks(column: pa.Array) -> ParsedRanges:
    """Parse prefixes in CIDR text; a bare address, in text or packed, is a range of one."""
    text = _text(column)
    slash = np.asarray(pc.find_substring(column, "/").fill_null(-1)).astype(np.int64)
    packed = _packed(column, text)
    slash[packed] = -1
    bare = slash < 0
    found = parse(text.data, text.starts, np.where(bare, text.lengths, slash))
    _unpack(found, text, packed)
    bits = np.where(found.family == 4, 32, 128)
    length, good = _prefix_lengths(text, slash)
    length = np.where(bare, bits, length)
    reason = np.where(found.family == 0, NOT_ADDRESS, 0).astype(np.uint8)
    reason[(reason == 0) & ~bare & (~good | (length > bits))] = _BAD_LENGTH
    host_high, host_low = _host_mask(np.where(reason == 0, bits - length, 0))
    host_bits = (found.high & host_high) | (found.low & host_low)
    reason[(reason == 0) & (host_bits != 0)] = _HOST_BITS
    first = Addresses(found.low, found.high)
    last = Addresses(found.low | host_low, found.high | host_high)
    return ParsedRanges(np.where(reason == 0, found.family, 0), first, last, reason)


def _prefix_lengths(text: _Text, slash: I64) -> tuple[I64, Bools]:
    """Parse the text after the slash: one to three digits without a leading zero."""
    digits = text.lengths - slash - 1
    good = (slash >= 0) & (digits >= 1) & (digits <= 3)
    value = np.zeros(len(slash), np.int64)
    rows = np.flatnonzero(good)
    if len(rows):
        columns = byte_columns(text.data, text.starts[rows] + slash[rows] + 1, digits[rows])
        good[rows] &= (columns[0] != ord("0")) | (digits[rows] == 1)
        for at, column in enumerate(columns):
            live = digits[rows] > at
            good[rows] &= ~live | ((column >= ord("0")) & (column <= ord("9")))
            digit = column.astype(np.int64) - ord("0")
            value[rows] = np.where(live, value[rows] * 10 + digit, value[rows])
    return value, good


def _host_mask(bits: I64) -> tuple[U64, U64]:
    """Return the 128-bit mask of the given number of low bits."""
    return _MASK_HIGH[bits], _MASK_LOW[bits]


_MASKS = [(1 << bits) - 1 for bits in range(129)]
_MASK_HIGH = np.array([mask >> 64 for mask in _MASKS], np.uint64)
_MASK_LOW = np.array([mask & (1 << 64) - 1 for mask in _MASKS], np.uint64)


def from_pairs(first: pa.Array, last: pa.Array, family: int | None = None) -> ParsedRanges:
    """Parse inclusive ranges; each end is address text, an integer, or packed in 4 or 16 bytes.

    An integer, as a number or a decimal text, up to 2^32 - 1 is IPv4 unless ``family`` is 6.
    """
    low_end, high_end = _ends(first, family), _ends(last, family)
    reason = np.zeros(len(first), np.uint8)
    reason[low_end.family != high_end.family] = _TWO_FAMILIES
    reason[(low_end.family == 0) | (high_end.family == 0)] = NOT_ADDRESS
    begin, end = Addresses(low_end.low, low_end.high), Addresses(high_end.low, high_end.high)
    reason[(reason == 0) & (end < begin)] = DESCENDING
    return ParsedRanges(np.where(reason == 0, low_end.family, 0), begin, end, reason)


def _ends(column: pa.Array, family: int | None) -> MixedAddresses:
    if pa.types.is_integer(column.type):
        return _of_integers(*_whole_numbers(column), family)
    text = _text(column)
    found = parse(text.data, text.starts, text.lengths)
    _unpack(found, text, _packed(column, text))
    rest = np.flatnonzero(found.family == 0)
    if len(rest):
        numbers = parse_integers(text.data, text.starts[rest], text.lengths[rest])
        other = _of_integers(*numbers, family)
        found.family[rest] = other.family
        found.high[rest], found.low[rest] = other.high, other.low
    return found


def _whole_numbers(column: pa.Array) -> tuple[U64, U64, Bools]:
    """Return the halves of integers of at most 64 bits, and which rows are neither null nor < 0."""
    valid = pc.fill_null(pc.greater_equal(column, 0), False)
    low = pc.if_else(valid, column, pa.scalar(0, column.type)).cast(pa.uint64())
    return np.zeros(len(column), np.uint64), np.asarray(low), np.asarray(valid)


def _of_integers(high: U64, low: U64, good: Bools, family: int | None) -> MixedAddresses:
    """Return the ``good`` integers as addresses; family 0 where one is not good, or too large."""
    if family == 4:
        good = good & (high == 0) & (low <= _IPV4_MAX)
    small = (high == 0) & (low <= _IPV4_MAX) & (family != 6)
    families = np.where(good, np.where(small, 4, 6), 0).astype(np.uint8)
    return MixedAddresses(families, np.where(good, high, 0), np.where(good, low, 0))


def from_hexadecimal_pairs(
    first: pa.Array, last: pa.Array, family: int | None = None
) -> ParsedRanges:
    """Parse inclusive ranges; each end is a hexadecimal number, padded or not, without a prefix.

    A range up to 2^32 - 1 is IPv4 unless ``family`` is 6. The digits are parsed as the text
    of an IPv6 address, of which an IPv4 address is the low part.
    """
    found = from_pairs(_as_ipv6_text(first), _as_ipv6_text(last))
    if family == 6:
        return found
    small = (found.last.high == 0) & (found.last.low <= _IPV4_MAX)
    reason = found.reason.copy()
    if family == 4:
        reason[(reason == 0) & ~small] = NOT_ADDRESS
    families = np.where(reason == 0, np.where(small, 4, 6), 0).astype(np.uint8)
    return ParsedRanges(families, found.first, found.last, reason)


def _as_ipv6_text(digits: pa.Array) -> pa.Array:
    """Return hexadecimal numbers as texts of IPv6 addresses; null for an invalid number."""
    padded = pc.utf8_lpad(digits, 32, "0")
    good = pc.and_(pc.match_substring_regex(padded, _HEX_GROUPS), pc.not_equal(digits, ""))
    return pc.if_else(good, pc.replace_substring_regex(padded, _HEX_GROUPS, _IPV6_TEXT), None)
