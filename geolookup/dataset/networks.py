"""The network around an address that has one answer, and limits of networks.

Strategy: of an interval only the parts in public space have answers of their own
(see ``special.partition``).
"""

from __future__ import annotations

import ipaddress
from bisect import bisect_right
from functools import cache
from typing import Any

from geolookup.contract.address import (
    BITS,
    BITS_AFTER_IPV4,
    MAX,
    effective,
    embedded_ipv4,
    parse,
)
from geolookup.contract.special import PRIVATE, PUBLIC, Part, is_private, partition
from geolookup.dataset.files import Dataset, outside
from geolookup.errors import PrivateAddressError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_TYPES: Any = {4: ipaddress.IPv4Network, 6: ipaddress.IPv6Network}
_ADDRESSES: Any = {4: ipaddress.IPv4Address, 6: ipaddress.IPv6Address}
_PARTS = {family: partition(family) for family in (4, 6)}
_FIRSTS = {family: [part[0] for part in parts] for family, parts in _PARTS.items()}


def network_of(dataset: Dataset, ip: object) -> Network:
    """Return the largest aligned network around ``ip`` with one answer, in the family asked.

    In special-purpose space the answer is the private own columns. Raises InvalidAddressError,
    PrivateAddressError there if the dataset has none, and DatasetError if an index of the dataset
    points outside its table.
    """
    family, value = parse(ip)
    has_private = bool(dataset.schema.private_layers)
    if not has_private and is_private(*effective(family, value)):
        raise PrivateAddressError(ip)
    kinds = (PUBLIC, PRIVATE) if has_private else (PUBLIC,)
    bits = BITS[family] - prefix_length(dataset, family, value, kinds)
    return network_at(family, value >> bits << bits, bits)


def prefix_length(
    dataset: Dataset, family: int, value: int, kinds: tuple[int, ...] = (PUBLIC,)
) -> int:
    """Return the prefix length of the largest aligned network around an address with one answer.

    ``kinds`` are the kinds of space whose intervals have answers of their own; other space is
    divided by its kind only.
    """
    length = BITS[family]
    if family == 6 and (carried := embedded_ipv4(value)) is not None:
        # 2002:808:808::1 carries 8.8.8.8 in bits 16 to 47: its prefix is /48 at most.
        length, family, value = length - _bits_after(value), 4, carried
    first, last, kind = _part(family, value)
    if kind in kinds:
        starts = dataset.starts(family)
        around_first, around_last = starts.ends(starts.interval(value))
        if not around_first <= value <= around_last:
            raise outside(dataset.path)
        first = max(first, around_first)
        last = min(last, around_last)
    # 8.8.8.0/24 has 8 host bits: /24; as 6to4 48 - 8 = /40; as IPv4-mapped 128 - 8 = /120.
    return length - _host_bits(family, value, first, last)


def aligned_around(family: int, value: int, first: int, last: int) -> Network:
    """Return the largest aligned network around an address that a range holds."""
    bits = _host_bits(family, value, first, last)
    return network_at(family, value >> bits << bits, bits)


def same_kind_around(family: int, value: int, first: int, last: int) -> tuple[int, int]:
    """Return the ends of the adjacent addresses in a range whose space is of the same kind."""
    part_first, part_last, _ = _part(family, value)
    return max(first, part_first), min(last, part_last)


def _part(family: int, value: int) -> Part:
    """Return the part of the space that holds an address: its ends and its kind."""
    return _PARTS[family][bisect_right(_FIRSTS[family], value) - 1]


def _bits_after(value: int) -> int:
    """Return how many bits follow the IPv4 address that an IPv6 address carries."""
    for base, shift in BITS_AFTER_IPV4.items():
        if value >> 32 + shift == base >> 32 + shift:
            return shift
    raise AssertionError("an address that carries none")


def _host_bits(family: int, value: int, first: int, last: int) -> int:
    """Return the host bits of the largest network around ``value`` from ``first`` to ``last``.

    The highest bit in which an adjacent address outside differs from ``value`` is in the prefix.
    """
    # 8.8.8.8 in 8.8.8.0 - 8.8.15.255: 8.8.7.255 differs in 0xFF7, so bit 11 at the highest, and
    # 8.8.16.0 in 0x1808, bit 12. 11 host bits: 8.8.8.0/21.
    below = (value ^ first - 1).bit_length() - 1 if first else BITS[family]
    above = (value ^ last + 1).bit_length() - 1 if last < MAX[family] else BITS[family]
    return min(above, below)


def network_at(family: int, first: int, host_bits: int) -> Network:
    """Return the network of a first address and the number of its host bits."""
    network: Network
    if host_bits < 2:  # it has a method of its own for its hosts
        network = _TYPES[family]((first, BITS[family] - host_bits))
        return network
    # Its constructor, which checks mask and host bits, takes ten times as long as a copy.
    network = object.__new__(_TYPES[family])
    for name, value in _attributes(family, host_bits).items():
        setattr(network, name, value)
    network.network_address = _ADDRESSES[family](first)
    return network


@cache
def _attributes(family: int, host_bits: int) -> dict[str, Any]:
    """Return the attributes of a network of this size."""
    attributes: dict[str, Any] = vars(_TYPES[family]((0, BITS[family] - host_bits)))
    return attributes


def limits_of(within: object) -> list[tuple[int, int, int]]:
    """Return family, first and last address of a network or its text; of both families for None.

    Raises ValueError if it is not a network.
    """
    if within is None:
        return [(family, 0, MAX[family]) for family in (4, 6)]
    try:
        network = ipaddress.ip_network(within)  # type: ignore[arg-type]
    except (ValueError, TypeError, AttributeError, IndexError):
        # In words of our own: an exception's text holds no address.
        problem = "within must be a network without host bits; write it like 8.0.0.0/8"
        raise ValueError(problem) from None
    return [(network.version, int(network[0]), int(network[-1]))]
