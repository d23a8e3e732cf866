"""What may surround an address: the grammar of nodes, of lists of nodes, and of ``clean=True``.

A *node* is an address with brackets, a port or a zone id, or without (RFC 7239, section 6)::

    8.8.8.8    8.8.8.8:53    [2001:db8::1]:443    [2001:db8::1%eth0]    fe80::1%eth0

A list of nodes is an ``X-Forwarded-For`` or a ``Forwarded`` header. Strategy: one pattern,
``NODE``, describes a node; Python's ``re`` and Arrow's RE2 both read it. The strict parser of
``address`` decides about the address in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geolookup.contract.address import IPV4_MAX, MAPPED, effective, is_address, parse_text
from geolookup.contract.special import is_private
from geolookup.errors import InvalidAddressError

#: An address as ``(family, integer)``.
Address = tuple[int, int]
#: The longest text that ``clean_text`` reads, in characters without blanks; usual for a header.
LONGEST = 8192
#: White space that may surround an address.
BLANKS = " \t\r\n\v\f"
_NAME = r"_[0-9A-Za-z._-]+"  # of an obfuscated node or port
# 0 to 65535; RE2 and ``re`` read the same pattern, so no test of the number follows.
_NUMBER = r"[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
_PORT = rf"(?::(?:{_NUMBER}|{_NAME}))?"
_ZONE = r"%[0-9A-Za-z._~-]{1,64}"
_IPV4 = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_IPV6 = r"[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,44}"
#: A node: its port is 0 to 65535 or obfuscated, its zone id one of RFC 4007, section 11.
#: One of the groups is the address.
NODE = (
    rf"^(?:\[(?P<bracketed>{_IPV6})(?:{_ZONE})?\]{_PORT}|(?P<plain>{_IPV4}){_PORT}"
    rf"|\[(?P<literal>{_IPV4})\]{_PORT}|(?P<zoned>{_IPV6})(?:{_ZONE})?)$"
)
_NODE = re.compile(NODE)
#: An entry that states no address: absent, unknown, or obfuscated (RFC 7239, section 6).
_WITHOUT_ADDRESS = re.compile(rf"-?|unknown|_|{_NAME}", re.IGNORECASE | re.ASCII)
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - of RFC 9110, section 5.6.2
_QUOTED = r'"(?:[^"\\]|\\.)*"'
#: A parameter of ``Forwarded``, which may be empty, and the delimiter after it. Brackets and colons
#: should be in quotes, but not every proxy writes the quotes.
# for="[2001:db8::1]:443";proto=https,for=8.8.8.8 has three matches, with the delimiters
# ";", "," and none.
_PARAMETER = re.compile(
    rf"[ \t]*(?:({_TOKEN})=([!#$%&'*+.^_`|~0-9A-Za-z:\[\]-]+|{_QUOTED})[ \t]*)?(?=([;,])|$)"
)
_ESCAPED = re.compile(r"\\(.)")
#: Parts of any text that may be an address; ``readings`` parses them.
# IPv6: a run of hexadecimal digits, colons and dots with two colons or more. IPv4: four
# numbers that no digit touches.
IN_TEXT = re.compile(
    r"(?<![0-9A-Fa-f:])(?=[0-9A-Fa-f]*:[0-9A-Fa-f]*:)[0-9A-Fa-f:.]*[0-9A-Fa-f:]"
    rf"|(?<!\d){_IPV4}(?!\d)",
    re.ASCII,
)


def clean_text(value: object) -> object:
    """Return the address in a text; any other value, and a text without one, unchanged.

    Removes white space and a pair of double quotes around the text, brackets, a port and a zone
    id: ``" [2001:db8::1%eth0]:443 "`` gives ``"2001:db8::1"``. Of a list separated by commas
    (``X-Forwarded-For``, or the ``for`` of ``Forwarded``, RFC 7239) the first public address
    is returned, else the first address; a list with a malformed entry is returned unchanged.
    A client can write any address into such a list. Takes time in proportion to the length;
    texts longer than 8,192 characters are returned unchanged.
    """
    if not issubclass(type(value), str):
        return value
    text = str.__str__(value).strip(BLANKS)
    if len(text) > LONGEST:
        return value
    is_list = "," in text or "=" in text
    address = _first_public(_unquote_list(text)) if is_list else node_address(_unquote(text))
    return value if address is None else address


def node_address(text: str) -> str | None:
    """Return the address of a node, None if the node is malformed."""
    node = _NODE.match(text)
    if node is None or node.end() != len(text):  # "$" also matches before a final line feed
        return None
    address: str = node[node.lastgroup or 0]
    return address if is_address(address) else None


def x_forwarded_for(line: str) -> list[str | None]:
    """Return the address of each entry of a list: empty if it states none, None if malformed."""
    return [_entry(entry.strip(BLANKS)) for entry in line.split(",")]


def forwarded(line: str) -> list[str | None]:
    """Return the address of the ``for`` of each element, as ``x_forwarded_for`` does.

    RFC 7239, section 4. A malformed line counts as one malformed element, because its quotes may
    hide what a proxy added.
    """
    addresses: list[str | None] = []
    parameters: dict[str, str] = {}
    for name, value, delimiter in _parameters(line):
        if name is None or name in parameters:
            return [None]
        if name:
            parameters[name] = value
        if delimiter != ";":
            addresses.append(_entry(parameters.get("for", "")))
            parameters = {}
    return addresses


def readings(part: str) -> set[Address]:
    """Return the addresses that a match of ``IN_TEXT`` can be."""
    # The last colon may belong to the sentence.
    addresses = map(address_of, (part, part.removesuffix(":")))
    return {address for address in addresses if address is not None}


def address_of(text: str | None) -> Address | None:
    """Parse an address, IPv4-mapped as IPv4; None if the text is not an address."""
    try:
        family, value = parse_text(text or "")
    except InvalidAddressError:
        return None
    # The upper 96 bits are ::ffff:0:0.
    is_mapped = family == 6 and value & ~IPV4_MAX == MAPPED
    return (4, value & IPV4_MAX) if is_mapped else (family, value)


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].strip(BLANKS)
    return text


def _unquote_list(text: str) -> str:
    """Remove the quotes around a whole list, as logs write it, but not around its entries."""
    return _unquote(text) if text.count('"') == 2 else text


def _first_public(text: str) -> str | None:
    """Return the first public address of a list, else the first; None if an entry is malformed."""
    entries = forwarded(text) if "=" in text else x_forwarded_for(text)
    if None in entries:
        return None
    addresses = [entry for entry in entries if entry]
    return next(filter(_is_public, addresses), addresses[0] if addresses else None)


def _is_public(text: str) -> bool:
    return not is_private(*effective(*parse_text(text)))


def _entry(text: str) -> str | None:
    node = _unquote(text)
    return "" if _WITHOUT_ADDRESS.fullmatch(node) else node_address(node)


def _parameters(line: str) -> Iterator[tuple[str | None, str, str]]:
    """Yield name, value and delimiter (``;``, ``,`` or empty).

    The name of an empty parameter is empty, that of a malformed one None.
    """
    at, delimiter = 0, ","
    while delimiter:
        parameter = _PARAMETER.match(line, at)
        if parameter is None:
            yield None, "", ""
            return
        name, value, delimiter = (group or "" for group in parameter.groups())
        at = parameter.end() + 1
        unescaped = _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value
        yield name.lower(), unescaped, delimiter
