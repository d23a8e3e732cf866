"""The range columns of a source, as texts, integers or bytes, to first and last addresses.

Each row of a batch gets a family, a first and a last address, or the reason of its
rejection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, U64, Addresses, Bools, MixedAddresses
from geolookup.kernel.columns import parse

REASONS = (
    "",
    "not an address",
    "not a prefix length",
    "host bits set",
    "first is after last",
    "first and last are of two families",
    "a record of another kind",  # in an MMDB file: a text among maps
)
NOT_ADDRESS, _BAD_LENGTH, _HOST_BITS, DESCENDING, _TWO_FAMILIES, OTHER_RECORD = range(1, 7)
#: The reason of records with more or fewer cells than the header or layout has.
WRONG_CELL_COUNT = "wrong number of cells"
_IPV4_MAX = np.uint64(0xFFFF_FFFF)
#: For each byte, whether it may be in the text of an address or prefix.
_IS_WRITTEN = np.isin(np.arange(256), np.frombuffer(b"0123456789abcdefABCDEF.:/", np.uint8))
#: The digits of 2^128.
_DIGITS = 39
_DECIMAL = f"^[0-9]{{1,{_DIGITS}}}$"
_HEX_GROUPS = "^" + "([0-9A-Fa-f]{4})" * 8 + "$"
_IPV6_TEXT = ":".join(rf"\{group}" for group in range(1, 9))


#: High halves, low halves, and which rows are valid.
Integers = tuple[U64, U64, Bools]


@dataclass(frozen=True, slots=True)
class ParsedRanges:
    """One row each: ``family`` 4, 6, or 0 if ``reason`` (an index of REASONS) rejects it.

    ``first`` and ``last`` are in 128 bits; for IPv4, its integers.
    """

    family: NDArray[np.uint8]
    first: Addresses
    last: Addresses
    reason: NDArray[np.uint8]

    def of_family(self, family: int) -> tuple[I64, Addresses, Addresses]:
        """Return the row numbers, first and last addresses of one family's rows."""
        rows = np.flatnonzero(self.family == family)
        first, last = self.first[rows], self.last[rows]
        if family == 4:
            first, last = (Addresses(ends.low.astype(np.uint32)) for ends in (first, last))
        return rows, first, last


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
    # An array can be a slice: its rows begin at ``offset`` of the buffers.
    bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return _Text(np.frombuffer(data or b"\0", np.uint8), bounds[:-1], np.diff(bounds))


def _trim(column: pa.Array) -> pa.Array:
    """Return texts without the blanks around them, such as " 8.8.8.0/24" of a spreadsheet."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    data = _text(column).data
    # A blank beyond ASCII, such as a no-break space, has only bytes above it.
    has_blanks = data.min() <= ord(" ") or data.max() >= 1 << 7
    return pc.utf8_trim_whitespace(column) if has_blanks else column


def _parse(text: _Text, is_packed: Bools, lengths: I64) -> MixedAddresses:
    """Parse cells up to a length each; packed ones are in network order."""
    addresses = parse(text.data, text.starts, lengths)
    four, sixteen = (np.flatnonzero(is_packed & (text.lengths == size)) for size in (4, 16))
    addresses.family[four], addresses.family[sixteen] = 4, 6
    addresses.low[four] = _bytes(text, four, 4).view(">u4")[:, 0]
    halves = _bytes(text, sixteen, 16).view(">u8")
    addresses.high[sixteen], addresses.low[sixteen] = halves[:, 0], halves[:, 1]
    return addresses


def _is_packed(column: pa.Array, text: _Text) -> Bools:
    """Mark the cells of a column of bytes that are packed addresses; the others are texts.

    Of 4 bytes all are: no text of a public address is so short. Of 16 bytes those are that hold a
    byte which no text has.
    """
    if not pa.types.is_large_binary(column.type):
        return np.zeros(len(column), bool)
    is_packed: Bools = text.lengths == 4
    sixteen = np.flatnonzero(text.lengths == 16)
    is_packed[sixteen] = ~_IS_WRITTEN[_bytes(text, sixteen, 16)].all(axis=1)
    return is_packed


def _bytes(text: _Text, rows: I64, size: int) -> NDArray[np.uint8]:
    """Return the bytes of cells that have ``size`` each, as a matrix with a row for each cell."""
    if not len(rows):  # the data may be shorter than a window
        return np.empty((0, size), np.uint8)
    # Window i is the view of bytes i to i + size - 1: no byte is copied before the selection.
    return sliding_window_view(text.data, size)[text.starts[rows]]


def from_networks(column: pa.Array) -> ParsedRanges:
    """Parse prefixes in CIDR text; a bare address, in text or packed, is a range of one."""
    column = _trim(column)
    text = _text(column)
    slash = np.asarray(pc.find_substring(column, "/").fill_null(-1)).astype(np.int64)
    is_packed = _is_packed(column, text)
    slash[is_packed] = -1
    bare = slash < 0
    # The part before the slash, or all of a bare address.
    addresses = _parse(text, is_packed, np.where(bare, text.lengths, slash))
    bits = np.where(addresses.family == 4, 32, 128)
    length, good = _prefix_lengths(text, slash)
    length = np.where(bare, bits, length)
    reason = np.where(addresses.family == 0, NOT_ADDRESS, 0).astype(np.uint8)
    reason[(reason == 0) & ~bare & (~good | (length > bits))] = _BAD_LENGTH
    # 10.1.0.0/8: the mask 0.255.255.255 and 10.1.0.0 share a bit, so host bits are set.
    host_bits = np.where(reason == 0, bits - length, 0)
    host_high, host_low = _MASK_HIGH[host_bits], _MASK_LOW[host_bits]
    has_host_bits = (addresses.high & host_high) | (addresses.low & host_low) != 0
    reason[(reason == 0) & has_host_bits] = _HOST_BITS
    first = Addresses(addresses.low, addresses.high)
    last = Addresses(addresses.low | host_low, addresses.high | host_high)
    return ParsedRanges(np.where(reason == 0, addresses.family, 0), first, last, reason)


def _prefix_lengths(text: _Text, slash: I64) -> tuple[I64, Bools]:
    """Parse the text after the slash: one to three digits without a leading zero."""
    digits = text.lengths - slash - 1
    good = (slash >= 0) & (digits >= 1) & (digits <= 3)
    value = np.zeros(len(slash), np.int64)
    for at in range(3):
        rows = np.flatnonzero(good & (digits > at))
        digit = text.data[text.starts[rows] + slash[rows] + 1 + at].astype(np.int64) - ord("0")
        value[rows] = value[rows] * 10 + digit
        good[rows] = (digit >= 0) & (digit <= 9)
    # "/08" has two digits and a value below 10: a leading zero.
    least = np.array([0, 0, 10, 100])[np.where(good, digits, 0)]  # by the number of digits
    return value, good & (value >= least)


#: The masks of the low bits of an address, by their number, in 64-bit halves.
_MASKS = [(1 << bits) - 1 for bits in range(129)]
_MASK_HIGH = np.array([mask >> 64 for mask in _MASKS], np.uint64)
_MASK_LOW = np.array([mask & (1 << 64) - 1 for mask in _MASKS], np.uint64)


def from_pairs(first: pa.Array, last: pa.Array, family: int | None = None) -> ParsedRanges:
    """Parse inclusive ranges; each end is address text, an integer, or packed in 4 or 16 bytes.

    An integer, as a number or a decimal text, up to 2^32 - 1 is IPv4 unless ``family`` is 6.
    """
    return _between(_ends(first, family), _ends(last, family))


def from_hexadecimal_pairs(first: pa.Array, last: pa.Array, family: int | None) -> ParsedRanges:
    """Parse inclusive ranges; each end is a hexadecimal number, padded or not, without a prefix."""
    return _between(*(_of_integers(*_hexadecimals(_trim(end)), family) for end in (first, last)))


def _between(begin: MixedAddresses, end: MixedAddresses) -> ParsedRanges:
    # Later reasons replace earlier ones; "descending" only marks rows without a reason.
    reason = np.zeros(len(begin.family), np.uint8)
    reason[begin.family != end.family] = _TWO_FAMILIES
    reason[(begin.family == 0) | (end.family == 0)] = NOT_ADDRESS
    first, last = Addresses(begin.low, begin.high), Addresses(end.low, end.high)
    reason[(reason == 0) & (last < first)] = DESCENDING
    return ParsedRanges(np.where(reason == 0, begin.family, 0), first, last, reason)


def _ends(column: pa.Array, family: int | None) -> MixedAddresses:
    if pa.types.is_integer(column.type):
        valid = pc.fill_null(pc.greater_equal(column, 0), False)  # null and those below 0 are not
        low = pc.if_else(valid, column, pa.scalar(0, column.type)).cast(pa.uint64())
        high = np.zeros(len(column), np.uint64)
        return _of_integers(high, np.asarray(low), np.asarray(valid), family)
    column = _trim(column)
    text = _text(column)
    addresses = _parse(text, _is_packed(column, text), text.lengths)
    others = np.flatnonzero(addresses.family == 0)
    if len(others):
        integers = _of_integers(*_decimals(column.take(pa.array(others))), family)
        addresses.family[others] = integers.family
        addresses.high[others], addresses.low[others] = integers.high, integers.low
    return addresses


def _decimals(texts: pa.Array) -> Integers:
    """Parse decimal integers below 2^128."""
    good = pc.match_substring_regex(texts, _DECIMAL).fill_null(False)
    if not pc.all(good).as_py():  # perhaps 134744064.0, as pandas writes
        texts = pc.replace_substring_regex(texts, r"\.0*$", "")
        good = pc.match_substring_regex(texts, _DECIMAL).fill_null(False)
    # 39 digits can exceed 2^128 (3.4 * 10^38), and never 2^192.
    numbers = pc.if_else(good, texts, None).cast(pa.string()).cast(pa.decimal256(_DIGITS))
    # Arrow stores a decimal256 as four words, the lowest first; 10^39 is below 2^192.
    words = np.frombuffer(numbers.buffers()[1], np.uint64).reshape(-1, 4)[: len(numbers)]
    return words[:, 1], words[:, 0], np.asarray(good) & (words[:, 2] == 0)


def _hexadecimals(texts: pa.Array) -> Integers:
    """Parse hexadecimal integers as the texts of IPv6 addresses."""
    # "a000001" becomes 0000:0000:0000:0000:0000:0000:0a00:0001.
    padded = pc.utf8_lpad(texts, 32, "0")
    good = pc.and_(pc.match_substring_regex(padded, _HEX_GROUPS), pc.not_equal(texts, ""))
    ipv6 = pc.if_else(good, pc.replace_substring_regex(padded, _HEX_GROUPS, _IPV6_TEXT), None)
    text = _text(ipv6)
    addresses = parse(text.data, text.starts, text.lengths)
    return addresses.high, addresses.low, addresses.family == 6


def _of_integers(high: U64, low: U64, good: Bools, family: int | None) -> MixedAddresses:
    """Return the ``good`` integers as addresses; family 0 for others, and for those too large."""
    if family == 4:
        good = good & (high == 0) & (low <= _IPV4_MAX)
    # Up to 2^32 - 1 it is IPv4, unless the family is 6.
    small = (high == 0) & (low <= _IPV4_MAX) & (family != 6)
    families = np.where(good, np.where(small, 4, 6), 0).astype(np.uint8)
    return MixedAddresses(families, np.where(good, high, 0), np.where(good, low, 0))
