"""What proxies say of those before them: ``X-Forwarded-For`` and ``Forwarded`` (RFC 7239).

Both are read into a list of addresses in the order of the header, None where
an item names none: ``unknown``, an obfuscated name, or anything malformed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from geolookup.contract.address import MAPPED, parse_text
from geolookup.errors import InvalidAddressError

#: An address as ``(family, integer)``; IPv4-mapped ones are IPv4.
Address = tuple[int, int]
_IPV4_BITS = 32
_PORT = r"(?::(?:\d{1,5}|_[\w.-]+))?"
_NODE = re.compile(
    rf"\[(?P<ipv6>[^\]]*)\]{_PORT}|(?P<ipv4>[\d.]+){_PORT}|(?P<bare>[0-9A-Fa-f:.]+)", re.ASCII
)
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - of RFC 9110, section 5.6.2
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PAIR = re.compile(rf"[ \t]*({_TOKEN})=({_TOKEN}|{_QUOTED})[ \t]*(?=([;,])|$)")
_ESCAPED = re.compile(r"\\(.)")


def address(text: str) -> Address | None:
    """Return an address by its text, a zone id let alone; None for anything else."""
    try:
        family, value = parse_text(text.partition("%")[0])
    except InvalidAddressError:
        return None
    if family == 6 and value >> _IPV4_BITS == MAPPED >> _IPV4_BITS:
        return 4, value & (1 << _IPV4_BITS) - 1
    return family, value


def x_forwarded_for(lines: Sequence[str]) -> list[Address | None]:
    """Return the addresses of all lines of the header, ports and brackets taken off."""
    return [_node(item.strip(" \t")) for line in lines for item in line.split(",")]


def forwarded(lines: Sequence[str]) -> list[Address | None]:
    """Return the ``for`` of each element of all lines; RFC 7239, section 4.

    A line with a fault anywhere counts as one element that names nobody, for
    its quotes may hide what a proxy added.
    """
    return [node for line in lines for node in _elements(line)]


def _elements(line: str) -> list[Address | None]:
    found: list[Address | None] = []
    pairs: dict[str, str] = {}
    for name, value, end in _pairs(line):
        if not name or name in pairs:
            return [None]
        pairs[name] = value
        if end != ";":
            found.append(_node(pairs.get("for", "")))
            pairs = {}
    return found


def _pairs(line: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and what follows, ``;``, ``,`` or nothing; no name: a fault."""
    at, end = 0, ","
    while end:
        pair = _PAIR.match(line, at)
        if pair is None:
            yield "", "", ""
            return
        name, value, end = pair[1].lower(), pair[2], pair[3] or ""
        at = pair.end() + 1
        yield name, _unquoted(value), end


def _unquoted(value: str) -> str:
    return _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value


def _node(text: str) -> Address | None:
    """Return the address of a node, with or without port; RFC 7239, section 6."""
    node = _NODE.fullmatch(text)
    if node is None:
        return None
    found = address(node[node.lastgroup or 0])
    # Brackets are for IPv6 alone.
    return None if node["ipv6"] is not None and ":" not in node["ipv6"] else found
