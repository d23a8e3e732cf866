"""Texts in the Python kernel: their addresses, and the addresses in them.

A regular expression finds the octets, runs of hexadecimal digits and colons, and escapes of a text.
Others read the bytes before and after, at most as many as the rule of
``find_addresses`` needs. None of them can take more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import pack
from typing import TYPE_CHECKING

from geolookup.contract.address import parse_text
from geolookup.errors import InvalidAddressError

if TYPE_CHECKING:
    from geolookup.dataset.intervals import I64, U8, U64

_LOW = (1 << 64) - 1
_LONGEST = 45  # characters of an address
#: 0 to 255 without leading zeros.
_OCTET = rb"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#: Four octets; no digit follows: 1.2.3.256 must not match as 1.2.3.25.
_OCTETS = re.compile(rb"%b(?:\.%b){3}(?![0-9])" % (_OCTET, _OCTET))
#: An escape (%22, %2522, =3D); four octets; the group before a colon and the run from there on.
#: "ip=208.8.8.8", "ip=20::1" and "%2606:4700::1" have no escape.
_TOKEN = re.compile(
    rb"(?P<escape>%(?![0-9A-Fa-f]{4}:)(?:25(?=[0-9A-Fa-f]{2}))?[0-9A-Fa-f]{2}"
    rb"|=(?![0-9]{1,3}\.|[0-9A-Fa-f]{1,4}:)[0-9A-F]{2})"
    rb"|(?P<octets>" + _OCTETS.pattern + rb")|(?P<run>[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]+)"
)
#: Never after an address: a word character, ".5" as in 1.2.3.4.5, "-x" as in 1.2.3.4-x.
_NO_END = re.compile(rb"[0-9A-Za-z_]|\.[0-9A-Za-z_]|-[A-Za-z_]")
#: Eight pairs, as in 00:11:22:33:44:55:66:77: a hardware address, though IPv6 in form.
_EUI_64 = re.compile(rb"(?:[0-9A-Fa-f]{2}:){7}[0-9A-Fa-f]{2}")
#: Never before an address: a word or a dot, a name and a hyphen, a product and a slash.
_NO_BEGIN = re.compile(
    rb"(?:[0-9A-Za-z_.]|[A-Za-z_]-"
    rb"|(?:[0-9A-Za-z_.+-]{33}|(?:\A|[^/%0-9A-Za-z_.+-]|%(?!2[Ff]))[0-9A-Za-z_.+-]{1,32})/)\Z"
)
#: Bytes that ``_NO_BEGIN`` reads: 32 of a name, the byte before them, and a slash.
_BEFORE = 34
#: Start, end, family and integer of an address.
_Hit = tuple[int, int, int, int]


def parse_texts(data: U8, starts: I64, lengths: I64, families: U8, highs: U64, lows: U64) -> None:
    """Parse the n UTF-8 texts ``data[start : start + length]``.

    Fills in the family (4, 6) and the halves of the integer; an IPv4 address is in ``lows``.
    For a text that is malformed or outside ``data``, family and halves are 0.
    """
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


def find_addresses(text: bytes, begin: int, end: int) -> bytes:
    """Find the addresses in a text that begin at the bytes ``begin`` to ``end - 1`` of it.

    Returns records of five integers of 64 bits, in the order of the addresses: the first byte
    of each, the byte after its last, its family and the halves of its integer. No decision
    depends on more than 64 bytes before or after the first byte of an address. Raises
    ValueError if the part is outside the text.

    A *word* is of ASCII letters, digits and underscores. An address is as
    ``contract.address`` parses it, with these bounds:

    - Not before it: a byte of a word or a dot; a hyphen with a letter or an underscore
      before it (``lib-1.2.3.4``); a slash after a name of a product (``Chrome/120.0.0.0``):
      up to 32 bytes of words, dots, hyphens and plus signs, with no slash or ``%2F`` before
      them.
    - Not after it: a byte of a word; a dot with a byte of a word after it; a hyphen
      with a letter or an underscore after it.
    - An escape counts before it as the byte that it stands for: ``%22``, ``%2522``, unless four
      hexadecimal digits and a colon follow the ``%`` (``%2606:4700::1``); and quoted-printable
      ``=3D`` in capitals, unless the text after the ``=`` may be an address
      (``ip=208.8.8.8``): a colon follows one to four hexadecimal digits, or a dot one to three
      digits.
    - An IPv6 address begins where its run of hexadecimal digits and colons begins; or after
      the first colon of the run, if at most four digits are before that colon and the run
      continues a word (``ip6:2001:db8::1``). It ends where the run ends, or before the last
      colon of the run, if one follows a digit or two colons; or with the four octets that
      follow the run, if it is an address with these.
    - An IPv6 address has a decimal digit (``abc::def`` has none) and is not of eight pairs of
      digits (an EUI-64).
    """
    if not 0 <= begin <= end <= len(text):
        raise ValueError("the part is outside the text")
    return b"".join(
        pack("=qqqQQ", first, after, family, value >> 64, value & _LOW)
        for first, after, family, value in _hits(text)
        if begin <= first < end
    )


def _hits(text: bytes) -> Iterator[_Hit]:
    """Yield the addresses of a text."""
    at, escape = 0, None
    while token := _TOKEN.search(text, at):
        at = token.end()
        hit = None if token["escape"] else _address_of(token, escape)
        if hit is not None:
            at = hit[1]
            yield hit
        elif token["run"]:
            # 08:15:01:8.8.8.8: the octets begin after the last colon.
            at = text.rindex(b":", 0, at) + 1
        escape = token if token["escape"] else None


def _address_of(token: re.Match[bytes], escape: re.Match[bytes] | None) -> _Hit | None:
    """Return the address that begins with a token; ``escape`` is the token before it."""
    text, start, end = token.string, *token.span()
    if escape is not None and escape.end() == start:
        # It counts as the byte that it stands for.
        first = escape.start()
        before = text[max(first - _BEFORE, 0) : first] + bytes.fromhex(escape[0][-2:].decode())
    else:
        before = text[max(start - _BEFORE, 0) : start]
        # "ip6:2001:db8::1": the address follows the colon of the name.
        if token["run"] and re.search(rb"[g-zG-Z_]\Z", before):
            return _ipv6(text, text.index(b":", start) + 1, end)
    if _NO_BEGIN.search(before):
        return None
    if token["run"]:
        return _ipv6(text, start, end)
    return None if _NO_END.match(text, end) else _hit(text, start, end)


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
