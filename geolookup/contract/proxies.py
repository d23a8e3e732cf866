"""The client's address: the connection's peer, or what trusted proxies state.

Strategy: the nearest hop is the connection's peer: a client cannot forge it. While a hop
is a trusted proxy, take the hop that it names, from right to left; the first hop that is not
trusted is the caller. A hop that is malformed, ``unknown`` or obfuscated ends the walk. It has
MOST_HOPS hops at most: a client cannot make it longer.

Example: the peer is 10.0.0.2, 10.0.0.0/8 is trusted, and the header is
``X-Forwarded-For: 9.9.9.9, 8.8.8.8, 10.0.0.1``. The walk is 10.0.0.2, 10.0.0.1, 8.8.8.8; the
caller is 8.8.8.8. It may have written 9.9.9.9 itself.

The peer of a Unix socket has no address. It is a process of this machine that may open the
socket; ``unix:`` among the networks makes it a trusted proxy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_network
from itertools import chain, islice

from geolookup.contract.address import canonical
from geolookup.contract.cleaning import (
    Address,
    address_of,
    forwarded,
    node_address,
    x_forwarded_for,
)
from geolookup.errors import SettingsError

#: The header lines of a request as ASGI passes them: names in lower case, values unchanged.
Headers = Sequence[tuple[bytes, bytes]]
#: Among the networks of trusted proxies: the peers of Unix sockets.
UNIX = "unix:"
_EXAMPLE = '["10.0.0.0/8", "fd00::/8"]'
#: Hops of a header that are read.
MOST_HOPS = 32
#: Functions that yield the addresses of a header line, from right to left.
_HEADERS = {b"forwarded": forwarded, b"x-forwarded-for": x_forwarded_for}


def lines_of(headers: Headers, name: bytes) -> list[bytes]:
    """Return the values of all header lines of a name in lower case, in order."""
    return [value for header, value in headers if header == name]


class TrustedProxies:
    """The networks of trusted proxies, in CIDR notation or as objects of ``ipaddress``.

    ``unix:`` means the peers of Unix sockets. Raises SettingsError for anything else; its text
    begins with the name of the ``setting``.
    """

    def __init__(self, networks: Iterable[object], *, setting: str = "trusted_proxies") -> None:
        if isinstance(networks, str) or not isinstance(networks, Iterable):
            raise SettingsError(f"{setting} {networks!r} is not a list; write it like {_EXAMPLE}")
        texts = [str(network) for network in networks]
        self._unix = UNIX in texts
        self._blocks = [_block(network, setting) for network in texts if network != UNIX]

    def trusts(self, hop: Address) -> bool:
        """Return whether a hop is a trusted proxy."""
        family, value = hop
        return any(family == of and first <= value <= last for of, first, last in self._blocks)

    def caller(self, peer: str, headers: Headers) -> str:
        """Return the caller's address as text.

        ``peer`` is the address of the connection's other end, empty for a Unix socket. If both
        headers exist and name different callers, a proxy forwarded one of them unread and the
        client may have forged it, so both are ignored. The text is empty (answered with 10001) for
        a Unix socket if no trusted proxy states the client.
        """
        nearest = address_of(node_address(peer))
        if not self._trusts_peer(peer, nearest):
            return _text(nearest)
        callers = {
            self._walk(nearest, chain.from_iterable(read(line.decode("latin-1")) for line in lines))
            for name, read in _HEADERS.items()
            if (lines := lines_of(headers, name)[::-1])
        }
        # A set: both headers may name the same caller.
        return _text(callers.pop() if len(callers) == 1 else nearest)

    def _trusts_peer(self, peer: str, nearest: Address | None) -> bool:
        return self.trusts(nearest) if nearest is not None else self._unix and not peer

    def _walk(self, hop: Address | None, hops: Iterable[str | None]) -> Address | None:
        """Return the first hop that is not trusted, from a peer that is."""
        for before in map(address_of, islice(hops, MOST_HOPS)):
            if before is None:
                break
            hop = before
            if not self.trusts(hop):
                break
        return hop


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
