"""Parses the text of addresses into (family, integer) by strict rules, and writes it.

Strategy: only this module defines the text form. IPv4 octets are looked up in a dictionary
of the 256 valid texts, so signs, blanks, leading zeros and non-ASCII digits are invalid.
IPv6 (RFC 4291, section 2.2) is split at ``::`` and padded to 32 hexadecimal digits. Output
follows RFC 5952.
"""

from __future__ import annotations

import sys

from geolookup.errors import InvalidAddressError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any

IPV4_MAX = (1 << 32) - 1
IPV6_MAX = (1 << 128) - 1
MAX = {4: IPV4_MAX, 6: IPV6_MAX}
BITS = {4: 32, 6: 128}

MAPPED = 0xFFFF << 32  # ::ffff:0:0/96, RFC 4291 2.5.5.2
NAT64 = 0x64FF9B << 96  # 64:ff9b::/96, RFC 6052
SIX_TO_FOUR = 0x2002 << 112  # 2002::/16, RFC 3056
#: The number of bits after the IPv4 address, by the first address of each block.
BITS_AFTER_IPV4 = {MAPPED: 0, NAT64: 0, SIX_TO_FOUR: 80}
#: (first, last) of the IPv6 space that carries an IPv4 address, in address order.
EMBEDDED = (
    (MAPPED, MAPPED | IPV4_MAX),
    (NAT64, NAT64 | IPV4_MAX),
    (SIX_TO_FOUR, SIX_TO_FOUR | (1 << 112) - 1),
)

#: The valid octets by text, shifted to their position: first, second, third, fourth.
OCTETS = tuple({str(octet): octet << shift for octet in range(256)} for shift in (24, 16, 8, 0))
_FIRST, _SECOND, _THIRD, _FOURTH = OCTETS
_ZERO_RUNS = tuple(":" + "0:" * count for count in range(8, 1, -1))
LONGEST = 45  # 0000:0000:0000:0000:0000:0000:255.255.255.255
_HEX = b"0123456789abcdefABCDEF"


def parse(ip: object) -> tuple[int, int]:
    """Return ``(family, integer)`` of an address, family being 4 or 6.

    Accepts text and the address objects of ``ipaddress``. Any other argument, of
    any type, length or content, raises InvalidAddressError.
    """
    if type(ip) is str:
        return parse_text(ip)
    # type(), not isinstance(): an object can claim any __class__, as Mock(spec=str) does.
    if issubclass(type(ip), str):
        return parse_text(str.__str__(ip))
    return _parse_object(ip)


def parse_text(text: str) -> tuple[int, int]:
    """Return ``(family, integer)`` of an exact ``str``; see parse."""
    if len(text) <= LONGEST:
        family, value = (6, parse_ipv6(text)) if ":" in text else (4, parse_ipv4(text))
        if value is not None:
            return family, value
    raise InvalidAddressError(text)


def is_address(text: str) -> bool:
    """Return whether a text is a well-formed address."""
    try:
        parse_text(text)
    except InvalidAddressError:
        return False
    return True


def parse_ipv4(text: str) -> int | None:
    """Return the integer of exactly four decimal octets, or None."""
    try:
        # A fifth octet stays in the fourth text and makes it invalid.
        a, b, c, d = text.split(".", 3)
        # "8.8.4.4": 0x08000000 | 0x00080000 | 0x00000400 | 0x00000004
        return _FIRST[a] | _SECOND[b] | _THIRD[c] | _FOURTH[d]
    except (ValueError, KeyError):
        return None


def parse_ipv6(text: str) -> int | None:
    """Return the integer of RFC 4291 text without zone, brackets or prefix, or None."""
    if "." in text:
        text = _dotted_tail_as_groups(text)
    head, gap, tail = text.partition("::")
    groups = head.split(":") if head else []
    if gap:
        after = tail.split(":") if tail else []
        zeros = 8 - len(groups) - len(after)
        if zeros < 1:
            return None
        groups += ["0"] * zeros + after
    return _join_groups(groups)


def _dotted_tail_as_groups(text: str) -> str:
    """Rewrite a dotted-quad tail as two groups; return an invalid text if it is malformed."""
    colon = text.rfind(":") + 1
    value = parse_ipv4(text[colon:])
    # "::ffff:8.8.8.8" becomes "::ffff:808:808".
    return "" if value is None else f"{text[:colon]}{value >> 16:x}:{value & 0xFFFF:x}"


def _join_groups(groups: list[str]) -> int | None:
    if len(groups) != 8 or not all(1 <= len(group) <= 4 for group in groups):
        return None
    digits = "".join([group.zfill(4) for group in groups])
    # ``int`` would read "+1", "1_0" and digits of other scripts.
    if not digits.isascii() or digits.encode().translate(None, _HEX):
        return None
    return int(digits, 16)


def _parse_object(ip: object) -> tuple[int, int]:
    # Whoever passes an address object has imported its module: it need not be imported here.
    module = sys.modules.get("ipaddress")
    if module is not None:
        if issubclass(type(ip), module.IPv4Address):
            return 4, _integer(ip, IPV4_MAX)
        if issubclass(type(ip), module.IPv6Address):
            return 6, _integer(ip, IPV6_MAX)
    raise InvalidAddressError(ip)


def _integer(ip: Any, largest: int) -> int:
    try:
        value = int(ip) if getattr(ip, "scope_id", None) is None else -1
    except Exception:  # noqa: BLE001 - a subclass or an uninitialised object can raise anything
        value = -1
    if not 0 <= value <= largest:
        raise InvalidAddressError(ip)
    return value


def embedded_ipv4(value: int) -> int | None:
    """Return the IPv4 address that an IPv6 address carries, or None.

    IPv4-mapped (RFC 4291), NAT64 (RFC 6052) and 6to4 (RFC 3056), in that order.
    """
    top = value >> 32
    if top == 0xFFFF or top == NAT64 >> 32:
        return value & IPV4_MAX
    if value >> 112 == 0x2002:
        # 16 bits of 2002, 32 of IPv4, 80 more.
        return value >> 80 & IPV4_MAX
    return None


def effective(family: int, value: int) -> tuple[int, int]:
    """Return the address whose answer this one has: the IPv4 address that it carries, or itself."""
    carried = embedded_ipv4(value) if family == 6 else None
    return (family, value) if carried is None else (4, carried)


def canonical(family: int, value: int) -> str:
    """Return the text of an address: dotted quad, or RFC 5952 for IPv6."""
    return canonical_ipv4(value) if family == 4 else canonical_ipv6(value)


def range_text(family: int, first: int, last: int) -> str:
    """Return the text of a range: its first and last address with a hyphen between them."""
    return f"{canonical(family, first)}-{canonical(family, last)}"


def canonical_ipv4(value: int) -> str:
    """Return the dotted quad of a 32-bit integer."""
    return f"{value >> 24}.{value >> 16 & 255}.{value >> 8 & 255}.{value & 255}"


def canonical_ipv6(value: int) -> str:
    """Return RFC 5952 text; mixed notation for IPv4-mapped and NAT64 addresses."""
    top = value >> 32
    if top == 0xFFFF:
        return "::ffff:" + canonical_ipv4(value & IPV4_MAX)
    if top == NAT64 >> 32:
        return "64:ff9b::" + canonical_ipv4(value & IPV4_MAX)
    digits = f"{value:032x}"
    groups = [digits[at : at + 4].lstrip("0") or "0" for at in range(0, 32, 4)]
    return _compress(":" + ":".join(groups) + ":")


def _compress(text: str) -> str:
    """Shorten the longest run of two or more zero groups, the first of equals (RFC 5952 4.2)."""
    if ":0:0:" in text:
        for run in _ZERO_RUNS:
            at = text.find(run)
            if at >= 0:
                # ":2001:db8:0:0:0:0:0:1:", run ":0:0:0:0:0:": head "2001:db8", tail "1".
                # The outer colons let a run be at either end.
                head, tail = text[1:at], text[at + len(run) : -1]
                return f"{head}::{tail}"
    return text[1:-1]
