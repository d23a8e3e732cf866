"""Texts in the Python kernel: their addresses, the addresses in them, and lines of logs.

Addresses in a text are searched around each dot and colon. A regular expression reads the bytes
before or after it, at most as many as the rule of ``protocol.Implementation.find_addresses`` needs.
None of them can take more than linear time. A line of a log is one match of a regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from geolookup.contract.address import parse_text
from geolookup.errors import InvalidAddressError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from geolookup.dataset.intervals import I64, U8, U64

_LOW = (1 << 64) - 1
_LONGEST = 45  # characters of an address
_STOP = re.compile(rb"[.:]")
#: 0 to 255 without leading zeros.
_OCTET = rb"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#: Four octets; no digit follows: 1.2.3.256 must not match as 1.2.3.25.
_OCTETS = re.compile(rb"%b(?:\.%b){3}(?![0-9])" % (_OCTET, _OCTET))
#: Never after an address: a word character, ".5" as in 1.2.3.4.5, "-x" as in 1.2.3.4-x.
_NO_END = re.compile(rb"[0-9A-Za-z_]|\.[0-9A-Za-z_]|-[A-Za-z_]")
_RUN = re.compile(rb"[0-9A-Fa-f:]*")
#: Eight pairs, as in 00:11:22:33:44:55:66:77: a hardware address, though IPv6 in form.
_EUI_64 = re.compile(rb"(?:[0-9A-Fa-f]{2}:){7}[0-9A-Fa-f]{2}")
#: The up to 3 digits before a dot; \Z binds the match to the end of the slice.
_DIGITS = re.compile(rb"[0-9]{0,3}\Z")
_RUN_BEFORE = re.compile(rb"[0-9A-Fa-f:]*\Z")
#: Never before an address: a word or a dot, a name and a hyphen, a product and a slash.
_NO_BEGIN = re.compile(
    rb"(?:[0-9A-Za-z_.]|[A-Za-z_]-"
    rb"|(?:[0-9A-Za-z_.+-]{33}|(?:\A|[^/0-9A-Za-z_.+-])[0-9A-Za-z_.+-]{1,32})/)\Z"
)
#: Bytes that ``_NO_BEGIN`` reads: 32 of a name, the byte before them, and a slash.
_BEFORE = 34
_LOG_FIELDS = 10
# Every part ends where the next begins: no line needs more than one pass. Without
# possessive quantifiers: early releases of Python 3.11 misplace the groups around them.
# "([^"\\]*(?:\\.[^"\\]*)*)": runs without quote and backslash, between them escapes as \" and \\.
_QUOTED = rb'"([^"\\]*(?:\\.[^"\\]*)*)"'
# host identity user [date] "request" status bytes; the user may contain blanks, but no " [".
_COMMON = (
    rb"([^ ]+) ([^ ]+) (.(?:(?! \[).)*) \[([^\]]*)\] " + _QUOTED + rb" ([0-9]{3}|-) ([0-9]{1,18}|-)"
)
_PATTERNS = {
    combined: re.compile(_COMMON + middle + rb"(?: (.*))?", re.DOTALL)
    for combined, middle in (
        (True, rb" " + _QUOTED + rb" " + _QUOTED),
        (False, rb"()()"),
    )
}
#: Start, end, family and integer of an address.
_Hit = tuple[int, int, int, int]


def parse_texts(data: U8, starts: I64, lengths: I64, families: U8, highs: U64, lows: U64) -> None:
    """See ``protocol.Implementation``."""
    if any(len(column) != len(starts) for column in (lengths, families, highs, lows)):
        raise ValueError("the columns differ in length")
    text, size = data.data, len(data)
    out_families, out_highs, out_lows = families.data, highs.data, lows.data
    for at, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        family = value = 0
        # As in the compiled kernel, where start + length could overflow.
        if 0 <= start <= size and 0 <= length <= size - start:
            family, value = _parse(text[start : start + length])
        out_families[at], out_highs[at], out_lows[at] = family, value >> 64, value & _LOW


def _parse(text: memoryview) -> tuple[int, int]:
    """Return family and integer of a UTF-8 text; (0, 0) if it is malformed."""
    try:
        # Latin-1 decodes any bytes; no address contains a non-ASCII character.
        return parse_text(str(text, "latin-1"))
    except InvalidAddressError:
        return 0, 0


def find_addresses(
    data: U8, begin: int, end: int, starts: I64, ends: I64, families: U8, highs: U64, lows: U64
) -> int:
    """See ``protocol.Implementation``."""
    if any(len(column) != len(starts) for column in (ends, families, highs, lows)):
        raise ValueError("the columns differ in length")
    if not 0 <= begin <= end <= len(data):
        raise ValueError("the part is outside the text")
    count = 0
    for first, after, family, value in _hits(data.tobytes(), begin):
        if first >= end or count == len(starts):
            break
        if first >= begin:
            starts[count], ends[count], families[count] = first, after, family
            highs[count], lows[count] = value >> 64, value & _LOW
            count += 1
    return count


def _hits(text: bytes, at: int) -> Iterator[_Hit]:
    """Yield the addresses around the dots and colons from a position on."""
    while stop := _STOP.search(text, at):
        at = stop.end()
        if text[stop.start()] == ord("."):
            hit = _ipv4_around(text, stop.start())
        else:
            at, hit = _ipv6_around(text, stop.start())
        if hit is not None:
            at = hit[1]
            yield hit


def _ipv4_around(text: bytes, dot: int) -> _Hit | None:
    """Return the address whose first dot this is."""
    # "x10.1.2.3": the digits "10" before the first dot; the "x" is left to _may_begin.
    first = dot - len(_DIGITS.search(text[max(dot - 3, 0) : dot])[0])  # type: ignore[index]
    octets = _OCTETS.match(text, first)
    if octets is None or first == dot or not _may_begin(text, first):
        return None
    return None if _NO_END.match(text, octets.end()) else _hit(text, first, octets.end())


def _may_begin(text: bytes, first: int) -> bool:
    return not _NO_BEGIN.search(text[max(first - _BEFORE, 0) : first])


def _ipv6_around(text: bytes, colon: int) -> tuple[int, _Hit | None]:
    """Return where to search next, and the address in the run around a colon."""
    end = _RUN.match(text, colon).end()  # type: ignore[union-attr]
    if end == colon + 1:
        return end, None
    # One byte more than an address has: a run that fills it is longer than any address.
    before = text[max(colon - _LONGEST - 1, 0) : colon]
    first = colon - len(_RUN_BEFORE.search(before)[0])  # type: ignore[index]
    start = _after_name(text, first, text.index(b":", first))
    return end, None if start is None else _ipv6(text, start, end)


def _after_name(text: bytes, first: int, colon: int) -> int | None:
    """Return where the address in a run begins: after a name and its colon, None if nowhere."""
    # "host:2001:db8::1": the address follows the colon of the name.
    if colon - first > 4:
        return None
    if re.match(rb"[0-9A-Za-z_]", text[max(first - 1, 0) : first]):
        return colon + 1
    return first if _may_begin(text, first) else None


def _ipv6(text: bytes, start: int, end: int) -> _Hit | None:
    """Return the address from a start to the end of its run, or of octets after it."""
    # ::ffff:192.0.2.1: the run ends at the dot, and its last group is the first octet.
    if text[end : end + 1] == b".":
        octets = _OCTETS.match(text, max(text.rfind(b":", start, end) + 1, start))
        whole = octets and _hit(text, start, octets.end())
        if octets and whole:
            return None if _NO_END.match(text, octets.end()) else whole
    # A colon that ends a sentence part: "2001:db8::1: up" and "2001:db8::: up" lose one colon,
    # "2001:db8::" keeps both.
    if re.search(rb"(?:[^:]|::):\Z", text[max(end - 3, start) : end]):
        end -= 1
    return None if _NO_END.match(text, end) else _hit(text, start, end)


def _hit(text: bytes, start: int, end: int) -> _Hit | None:
    """Return the address that a part of the text is, with a decimal digit, and no EUI-64."""
    part = text[start:end] if end - start <= _LONGEST else b""
    if not re.search(rb"[0-9]", part) or _EUI_64.fullmatch(part):
        return None
    try:
        return start, end, *parse_text(part.decode("ascii"))
    except InvalidAddressError:
        return None


def split_log_lines(
    data: U8, starts: I64, lengths: I64, combined: bool, parts: NDArray[np.int64]
) -> None:
    """See ``protocol.Implementation``."""
    if len(lengths) != len(starts) or parts.shape[2] != len(starts):
        raise ValueError("the columns differ in length")
    if parts.shape[:2] != (_LOG_FIELDS, 2):
        raise ValueError("the parts are not of ten fields")
    text, size, pattern = data.tobytes(), len(data), _PATTERNS[combined]
    parts[:, 0], parts[:, 1] = 0, -1
    for at, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        inside = 0 <= start <= size and 0 <= length <= size - start
        match = pattern.fullmatch(text, start, start + length) if inside else None
        if match is not None:
            spans = [match.span(number) for number in range(1, _LOG_FIELDS + 1)]
            if not combined:
                # Referrer and agent: the empty groups of the pattern for "common" lines.
                spans[7:9] = [(0, -1)] * 2
            for field, (first, end) in enumerate(spans):
                if end >= 0:
                    parts[field, :, at] = first, end - first


def copy_texts(data: U8, starts: I64, lengths: I64, out: U8) -> None:
    """See ``protocol.Implementation``."""
    pairs = list(zip(starts.tolist(), lengths.tolist(), strict=True)) if len(data) else []
    text = data.tobytes()
    inside = all(0 <= start <= len(text) - length for start, length in pairs if length > 0)
    copied = b"".join([text[start : start + length] for start, length in pairs if length > 0])
    if not inside or (pairs and len(copied) != len(out)):
        raise ValueError("the texts do not fill the bytes")
    out.data[: len(copied)] = copied
