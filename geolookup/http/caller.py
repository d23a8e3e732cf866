"""The caller's address: the connection's, or what trusted proxies say, read from right to left.

Strategy: the nearest hop is the connection's peer, which nobody can forge. As
long as a hop is a trusted proxy, the hop it names is taken; the first hop
that is not trusted is the caller. What names nobody ends the walk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_network
from typing import Protocol

from geolookup.contract.address import canonical
from geolookup.errors import SettingsError
from geolookup.http.forwarded import Address, address, forwarded, x_forwarded_for


class Headers(Protocol):
    """The header lines of a request, as Granian gives them."""

    def get_all(self, name: str) -> list[str]:
        """Return the values of all lines of a name, in lower case, in order."""

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a line of a name, legible or not."""


class TrustedProxies:
    """The networks of proxies that are believed; see ``caller``."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._blocks = [_block(network) for network in networks]

    def trusts(self, hop: Address) -> bool:
        """Tell whether a hop is one of the proxies."""
        family, value = hop
        return any(family == of and first <= value <= last for of, first, last in self._blocks)

    def caller(self, peer: str, headers: Headers) -> str:
        """Return the caller's address as text.

        ``peer`` is the connection's ``HOST:PORT``. If both headers are there
        and do not say the same, one was passed on unread and may be a lie, so
        neither is believed.
        """
        nearest = _peer(peer)
        if nearest is None:
            return ""  # a socket without addresses: answered as no address
        if not self.trusts(nearest):
            return canonical(*nearest)
        said = {
            self._walk(nearest, read(lines))
            for name, read in _HEADERS.items()
            if (lines := headers.get_all(name))
        }
        return canonical(*(said.pop() if len(said) == 1 else nearest))

    def _walk(self, hop: Address, named: Sequence[Address | None]) -> Address:
        for before in reversed(named):
            if before is None or not self.trusts(hop):
                break
            hop = before
        return hop


_HEADERS = {"forwarded": forwarded, "x-forwarded-for": x_forwarded_for}


def _peer(text: str) -> Address | None:
    """Return the address of ``HOST:PORT``; IPv6 hosts stand in brackets."""
    return address(text.rpartition(":")[0].strip("[]"))


def _block(text: str) -> tuple[int, int, int]:
    try:
        network = ip_network(text)
    except ValueError:
        raise SettingsError(
            f"--trusted-proxy {text!r} is no network; write it like 10.0.0.0/8 or fd00::/8"
        ) from None
    return network.version, int(network[0]), int(network[-1])
