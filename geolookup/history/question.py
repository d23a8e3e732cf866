"""Where a history is asked for: an address or a prefix, as a range of one family."""

from __future__ import annotations

import ipaddress
from typing import Any, NamedTuple

from geolookup.contract.address import canonical, effective, parse
from geolookup.contract.cleaning import clean_text
from geolookup.contract.special import is_private
from geolookup.dataset.networks import Network, same_kind_around


class Question(NamedTuple):
    """The addresses of a history; one that carries an IPv4 address is that address."""

    text: str  # of the address or prefix as asked, canonical
    family: int
    first: int
    last: int
    is_prefix: bool  # as asked: a prefix of one address too

    @property
    def range(self) -> tuple[int, int, int]:
        """Family, first and last address."""
        return self.family, self.first, self.last

    @property
    def address(self) -> str:
        """The text of the first address; of an address, the one that is looked up."""
        return canonical(self.family, self.first)

    @property
    def is_private(self) -> bool:
        """Whether all of it is in special-purpose space."""
        ends = same_kind_around(self.family, self.first, self.first, self.last)
        return is_private(self.family, self.first) and ends == (self.first, self.last)


def read_question(ip: object, *, clean: bool) -> Question:
    """Read an address, or a network of ``ipaddress``, or the text of either.

    With ``clean`` a text that is neither is cleaned. Raises InvalidAddressError.
    """
    network = _network(ip)
    if network is None:
        family, first = parse(clean_text(ip) if clean else ip)
        text, last = canonical(family, first), first
    else:
        text, family = str(network), network.version
        first, last = int(network[0]), int(network[-1])
    # The IPv4 range that both ends carry: 2002:808:800::/40 carries 8.8.8.0 to 8.8.8.255.
    ends = effective(family, first), effective(family, last)
    if ends[0][0] == ends[1][0] == 4:
        (family, first), (_, last) = ends
    return Question(text, family, first, last, network is not None)


def _network(ip: Any) -> Network | None:
    """Return the network that a value is or that a text names; None if it may be an address."""
    if issubclass(type(ip), (ipaddress.IPv4Network, ipaddress.IPv6Network)):
        return ip  # type: ignore[no-any-return]
    if not issubclass(type(ip), str) or "/" not in ip:
        return None
    address, _, length = str(ip).strip().partition("/")
    try:
        parse(address)  # stricter than ipaddress: no zone ids
        if not (length.isascii() and length.isdigit()):  # no masks
            return None
        return ipaddress.ip_network(f"{address}/{length}")
    except ValueError:  # InvalidAddressError is one
        return None
