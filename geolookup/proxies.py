"""The client's address: the connection's peer, or what trusted proxies state.

Strategy: the nearest hop is the connection's peer, which a client cannot forge. While a hop
is a trusted proxy, take the hop that it names, from right to left; the first hop that is not
trusted is the caller. A malformed or unnamed hop ends the walk. ``X-Forwarded-For`` and
``Forwarded`` (RFC 7239) are parsed into a list of addresses in header order, with None for
``unknown``, an obfuscated name, or anything malformed.

The peer of a Unix socket has no address. It is a process of this machine that may open the
socket; ``unix:`` among the networks makes it a trusted proxy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_network

from geolookup.contract.address import MAPPED, canonical, parse_text
from geolookup.errors import InvalidAddressError, SettingsError

#: An address as ``(family, integer)``; IPv4-mapped ones are IPv4.
Address = tuple[int, int]
#: The header lines of a request as ASGI passes them: names in lower case, values unchanged.
Headers = Sequence[tuple[bytes, bytes]]
#: Among the networks of trusted proxies: the peers of Unix sockets.
UNIX = "unix:"
_EXAMPLE = '["10.0.0.0/8", "fd00::/8"]'
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
    """Parse an address, ignoring a zone id; None if the text is not an address."""
    try:
        family, value = parse_text(text.partition("%")[0])
    except InvalidAddressError:
        return None
    if family == 6 and value >> _IPV4_BITS == MAPPED >> _IPV4_BITS:
        return 4, value & (1 << _IPV4_BITS) - 1
    return family, value


def x_forwarded_for(lines: Sequence[str]) -> list[Address | None]:
    """Return the addresses of all lines of the header, without ports and brackets."""
    return [_node(item.strip(" \t")) for line in lines for item in line.split(",")]


def forwarded(lines: Sequence[str]) -> list[Address | None]:
    """Return the ``for`` of each element of all lines; RFC 7239, section 4.

    A malformed line counts as one element without an address, because its quotes may
    hide what a proxy added.
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
    """Yield name, value and delimiter (``;``, ``,`` or empty); an empty name: malformed."""
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
    # Only IPv6 addresses stand in brackets.
    return None if node["ipv6"] is not None and ":" not in node["ipv6"] else found


def lines_of(headers: Headers, name: bytes) -> list[bytes]:
    """Return the values of all header lines of a name in lower case, in order."""
    return [value for each, value in headers if each == name]


class TrustedProxies:
    """The networks of trusted proxies, in CIDR notation or as objects of ``ipaddress``.

    ``unix:`` stands for the peers of Unix sockets. Raises SettingsError for anything else; its
    text begins with the name of the ``setting``.
    """

    def __init__(self, networks: Iterable[object], *, setting: str = "trusted_proxies") -> None:
        if isinstance(networks, str) or not isinstance(networks, Iterable):
            raise SettingsError(f"{setting} {networks!r} is not a list; write it like {_EXAMPLE}")
        given = [str(network) for network in networks]
        self._unix = UNIX in given
        self._blocks = [_block(network, setting) for network in given if network != UNIX]

    def trusts(self, hop: Address) -> bool:
        """Return whether a hop is a trusted proxy."""
        family, value = hop
        return any(family == of and first <= value <= last for of, first, last in self._blocks)

    def caller(self, peer: str, headers: Headers) -> str:
        """Return the caller's address as text.

        ``peer`` is the address of the connection's other end, empty for a Unix socket. If both
        headers exist and name different callers, a proxy forwarded one of them unread and the
        client may have forged it, so both are ignored. The text is empty, which is answered
        with 10001, for a Unix socket whose client is not stated by a trusted proxy.
        """
        nearest = address(peer)
        if not self._trusts_peer(peer, nearest):
            return _text(nearest)
        callers = {
            self._walk(nearest, read([line.decode("latin-1") for line in lines]))
            for name, read in _HEADERS.items()
            if (lines := lines_of(headers, name))
        }
        return _text(callers.pop() if len(callers) == 1 else nearest)

    def _trusts_peer(self, peer: str, nearest: Address | None) -> bool:
        return self.trusts(nearest) if nearest is not None else self._unix and not peer

    def _walk(self, hop: Address | None, named: Sequence[Address | None]) -> Address | None:
        """Return the first hop that is not trusted, from a peer that is."""
        for before in reversed(named):
            if before is None:
                break
            hop = before
            if not self.trusts(hop):
                break
        return hop


_HEADERS = {b"forwarded": forwarded, b"x-forwarded-for": x_forwarded_for}


def _text(hop: Address | None) -> str:
    return "" if hop is None else canonical(*hop)


def _block(text: str, setting: str) -> tuple[int, int, int]:
    try:
        network = ip_network(text)
    except ValueError:
        raise SettingsError(
            f"{setting} {text!r} is not a network; write it like 10.0.0.0/8 or fd00::/8"
        ) from None
    return network.version, int(network[0]), int(network[-1])
