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
    if network is not None:
        first, last = int(network[0]), int(network[-1])
        return Question(str(network), *_carried(network.version, first, last), is_prefix=True)
    family, value = parse(clean_text(ip) if clean else ip)
    text = canonical(family, value)
    return Question(text, *_carried(family, value, value), is_prefix=False)


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


def _carried(family: int, first: int, last: int) -> tuple[int, int, int]:
    """Return the IPv4 range that a range carries, if it does, or the range itself.

    2002:808:800::/40 carries 8.8.8.0 to 8.8.8.255.
    """
    ends = effective(family, first), effective(family, last)
    if ends[0][0] == ends[1][0] == 4:
        return 4, ends[0][1], ends[1][1]
    return family, first, last
