"""Special-purpose space: the partition of the address space into public, private, carrying IPv4.

Strategy: the rows are IANA's two special-purpose address registries, and four
blocks that other documents define. The longest prefix that is not terminated decides: it is
public if it is globally reachable. Addresses that no row covers are public. Blocks that
carry IPv4 addresses are a third kind, whatever their rows state. All rows are flattened once
into a partition, from which every other module derives.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from geolookup.contract.address import BITS, EMBEDDED, MAX, parse_text


class Special:
    """One special-purpose block and the document that defines it.

    ``reachable`` is the registries' "Globally Reachable: True"; N/A counts as False.
    """

    __slots__ = ("block", "name", "reachable", "rfc", "terminated")

    def __init__(
        self, block: str, name: str, rfc: str, reachable: bool, terminated: bool = False
    ) -> None:
        self.block, self.name, self.rfc = block, name, rfc
        self.reachable, self.terminated = reachable, terminated


#: https://www.iana.org/assignments/iana-ipv4-special-registry, in its order.
IPV4_REGISTRY = (
    Special("0.0.0.0/8", "this network", "RFC 791", False),
    Special("0.0.0.0/32", "this host on this network", "RFC 1122", False),
    Special("10.0.0.0/8", "private use", "RFC 1918", False),
    Special("100.64.0.0/10", "shared address space", "RFC 6598", False),
    Special("127.0.0.0/8", "loopback", "RFC 1122", False),
    Special("169.254.0.0/16", "link local", "RFC 3927", False),
    Special("172.16.0.0/12", "private use", "RFC 1918", False),
    Special("192.0.0.0/24", "IETF protocol assignments", "RFC 6890", False),
    Special("192.0.0.0/29", "IPv4 service continuity", "RFC 7335", False),
    Special("192.0.0.8/32", "IPv4 dummy address", "RFC 7600", False),
    Special("192.0.0.9/32", "port control protocol anycast", "RFC 7723", True),
    Special("192.0.0.10/32", "TURN anycast", "RFC 8155", True),
    Special("192.0.0.170/32", "NAT64/DNS64 discovery", "RFC 8880", False),
    Special("192.0.0.171/32", "NAT64/DNS64 discovery", "RFC 8880", False),
    Special("192.0.2.0/24", "documentation (TEST-NET-1)", "RFC 5737", False),
    Special("192.31.196.0/24", "AS112-v4", "RFC 7535", True),
    Special("192.52.193.0/24", "AMT", "RFC 7450", True),
    Special("192.88.99.0/24", "6to4 relay anycast", "RFC 7526", False, terminated=True),
    Special("192.88.99.2/32", "6a44 relay anycast", "RFC 6751", False),
    Special("192.168.0.0/16", "private use", "RFC 1918", False),
    Special("192.175.48.0/24", "direct delegation AS112", "RFC 7534", True),
    Special("198.18.0.0/15", "benchmarking", "RFC 2544", False),
    Special("198.51.100.0/24", "documentation (TEST-NET-2)", "RFC 5737", False),
    Special("203.0.113.0/24", "documentation (TEST-NET-3)", "RFC 5737", False),
    Special("240.0.0.0/4", "reserved", "RFC 1112", False),
    Special("255.255.255.255/32", "limited broadcast", "RFC 8190", False),
)
#: https://www.iana.org/assignments/iana-ipv6-special-registry, in its order.
IPV6_REGISTRY = (
    Special("::1/128", "loopback", "RFC 4291", False),
    Special("::/128", "unspecified", "RFC 4291", False),
    Special("::ffff:0:0/96", "IPv4-mapped", "RFC 4291", False),
    Special("64:ff9b::/96", "NAT64", "RFC 6052", True),
    Special("64:ff9b:1::/48", "local-use NAT64", "RFC 8215", False),
    Special("100::/64", "discard only", "RFC 6666", False),
    Special("100:0:0:1::/64", "dummy prefix", "RFC 9780", False),
    Special("2001::/23", "IETF protocol assignments", "RFC 2928", False),
    Special("2001::/32", "Teredo", "RFC 4380", False),
    Special("2001:1::1/128", "port control protocol anycast", "RFC 7723", True),
    Special("2001:1::2/128", "TURN anycast", "RFC 8155", True),
    Special("2001:1::3/128", "DNS-SD registration anycast", "RFC 9665", True),
    Special("2001:2::/48", "benchmarking", "RFC 5180", False),
    Special("2001:3::/32", "AMT", "RFC 7450", True),
    Special("2001:4:112::/48", "AS112-v6", "RFC 7535", True),
    Special("2001:10::/28", "ORCHID", "RFC 4843", False, terminated=True),
    Special("2001:20::/28", "ORCHIDv2", "RFC 7343", True),
    Special("2001:30::/28", "drone remote id", "RFC 9374", True),
    Special("2001:db8::/32", "documentation", "RFC 3849", False),
    Special("2002::/16", "6to4", "RFC 3056", False),
    Special("2620:4f:8000::/48", "direct delegation AS112", "RFC 7534", True),
    Special("3fff::/20", "documentation", "RFC 9637", False),
    Special("5f00::/16", "SRv6 segment identifiers", "RFC 9602", False),
    Special("fc00::/7", "unique local", "RFC 4193", False),
    Special("fe80::/10", "link local", "RFC 4291", False),
)
#: Not in the registries, and not globally reachable unicast.
UNREGISTERED = (
    Special("224.0.0.0/4", "multicast", "RFC 5771", False),
    Special("ff00::/8", "multicast", "RFC 4291", False),
    Special("fec0::/10", "site local", "RFC 3879", False),
    Special("::/96", "IPv4-compatible", "RFC 4291", False),
)

Range = tuple[int, int]
#: First address, last address, kind.
Part = tuple[int, int, int]
#: Kinds of space. PUBLIC is answered from the intervals of its own family, PRIVATE is
#: refused (10002), CARRIES_IPV4 is answered as the IPv4 address that it carries.
PUBLIC, PRIVATE, CARRIES_IPV4 = range(3)


def partition(family: int) -> tuple[Part, ...]:
    """Return the whole space of a family (4 or 6) as ``(first, last, kind)``.

    Sorted, without gaps; neighbours differ in kind. ``kind`` is PUBLIC, PRIVATE
    or CARRIES_IPV4 (RFC 4291 IPv4-mapped, RFC 6052 NAT64, RFC 3056 6to4).
    """
    return _PARTS[family]


def ranges_of(family: int, *kinds: int) -> tuple[Range, ...]:
    """Return the inclusive ranges of a family that have one of the kinds.

    Sorted, disjoint and not adjacent.
    """
    ranges: list[Range] = []
    for first, last, kind in partition(family):
        if kind in kinds:
            # Neighbours of two wanted kinds become one range.
            if ranges and ranges[-1][1] + 1 == first:
                first = ranges.pop()[0]
            ranges.append((first, last))
    return tuple(ranges)


def is_private(family: int, value: int) -> bool:
    """Return whether an address is private; False for one that carries an IPv4 address."""
    parts = _PARTS[family]
    return parts[bisect_right(parts, value, key=itemgetter(0)) - 1][2] == PRIVATE


def special_block(family: int, value: int) -> Special | None:
    """Return the row that decides about an address; None if no row covers it."""
    return _smallest(_blocks(family), value)


def classes(family: int) -> bytes:
    """Return for each first octet: 0 if no address is private, 1 if all are, 2 if some are."""
    kinds: list[set[int]] = [set() for _ in range(256)]
    shift = BITS[family] - 8
    for first, last, kind in partition(family):
        for octet in range(first >> shift, (last >> shift) + 1):
            kinds[octet].add(kind)
    return bytes(0 if PRIVATE not in of else 1 if of == {PRIVATE} else 2 for of in kinds)


def _flatten(family: int) -> tuple[Part, ...]:
    blocks = _blocks(family)
    carrying = EMBEDDED if family == 6 else ()
    ranges = [(first, last) for first, last, _ in blocks] + list(carrying)
    # Every end of a block begins a part: 10.0.0.0/8 gives 10.0.0.0 and 11.0.0.0.
    starts = sorted({0, *(bound for first, last in ranges for bound in (first, last + 1))})
    parts: list[Part] = []
    for start, end in zip(starts, [*starts[1:], MAX[family] + 1], strict=True):
        if start <= MAX[family]:
            is_carrying = any(first <= start <= last for first, last in carrying)
            _append(parts, start, end - 1, CARRIES_IPV4 if is_carrying else _kind(blocks, start))
    return tuple(parts)


def _blocks(family: int) -> list[tuple[int, int, Special]]:
    """Return ``(first, last, row)`` of the active rows of a family."""
    rows = [(parse_block(row.block), row) for row in IPV4_REGISTRY + IPV6_REGISTRY + UNREGISTERED]
    return [
        (first, last, row)
        for (row_family, first, last), row in rows
        if row_family == family and not row.terminated
    ]


def _kind(blocks: list[tuple[int, int, Special]], value: int) -> int:
    row = _smallest(blocks, value)
    return PUBLIC if row is None or row.reachable else PRIVATE


def _smallest(blocks: list[tuple[int, int, Special]], value: int) -> Special | None:
    """Return the row that decides: 192.0.0.9/32, not 192.0.0.0/24 around it."""
    covering = [(last - first, row) for first, last, row in blocks if first <= value <= last]
    return min(covering, key=itemgetter(0))[1] if covering else None


def _append(parts: list[Part], first: int, last: int, kind: int) -> None:
    if parts and parts[-1][2] == kind:
        first = parts.pop()[0]
    parts.append((first, last, kind))


def parse_block(text: str) -> tuple[int, int, int]:
    """Return ``(family, first, last)`` of a prefix in its canonical text."""
    address, _, length = text.partition("/")
    family, first = parse_text(address)
    # 10.0.0.0/8: the last 24 bits become 1.
    return family, first, first | (1 << BITS[family] - int(length)) - 1


_PARTS = {family: _flatten(family) for family in (4, 6)}
