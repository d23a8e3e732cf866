"""The special-purpose table: the only judge of what is private.

Strategy: one row for each row of IANA's two special-purpose address
registries, and the four blocks that the registries leave to other documents.
The longest row that is not terminated decides, and only a row that is
globally reachable is public; what no row covers is public. The rows are
flattened once into sorted starts, so a judgement is one look at the class of
the first octet and, for the few octets that hold both kinds, one bisection.
The same starts serve whole columns.
"""

from __future__ import annotations

from bisect import bisect_right

from geolookup.contract.address import BITS, MAX, parse_text


class Special:
    """One special-purpose block and the document that sets it apart.

    ``reachable`` is the registries' "Globally Reachable: True"; N/A counts as not.
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
#: Not in the registries, not globally reachable unicast either.
BESIDES = (
    Special("224.0.0.0/4", "multicast", "RFC 5771", False),
    Special("ff00::/8", "multicast", "RFC 4291", False),
    Special("fec0::/10", "site local", "RFC 3879", False),
    Special("::/96", "IPv4-compatible", "RFC 4291", False),
)

Range = tuple[int, int]
_PUBLIC, _PRIVATE, _BOTH = range(3)


def private_ranges(family: int) -> tuple[Range, ...]:
    """Return the inclusive ranges of a family (4 or 6) that are private: sorted, not adjacent."""
    return _JUDGES[family].ranges


def is_private(family: int, value: int) -> bool:
    """Say whether an address is private by itself, whatever IPv4 address it may carry."""
    return _JUDGES[family].is_private(value)


def classes(family: int) -> bytes:
    """Return, by first octet of an address: 0 all public, 1 all private, 2 both."""
    return _JUDGES[family].classes


class _Judge:
    """The table of one family, flattened: private where the number of bounds passed is odd."""

    __slots__ = ("bounds", "classes", "ranges", "shift")

    def __init__(self, family: int) -> None:
        self.ranges = _flatten(family)
        self.bounds = [bound for first, last in self.ranges for bound in (first, last + 1)]
        self.shift = BITS[family] - 8
        self.classes = bytes(self._octet_class(octet) for octet in range(256))

    def _octet_class(self, octet: int) -> int:
        first, last = octet << self.shift, (octet + 1 << self.shift) - 1
        inside = [r for r in self.ranges if r[0] <= last and r[1] >= first]
        if not inside:
            return _PUBLIC
        return _PRIVATE if inside[0][0] <= first and inside[0][1] >= last else _BOTH

    def is_private(self, value: int) -> bool:
        kind = self.classes[value >> self.shift]
        if kind == _BOTH:
            return bool(bisect_right(self.bounds, value) & 1)
        return kind == _PRIVATE


def _flatten(family: int) -> tuple[Range, ...]:
    rows = [(parse_block(row.block), row) for row in IPV4_REGISTRY + IPV6_REGISTRY + BESIDES]
    blocks = [
        (first, last, row.reachable)
        for (row_family, first, last), row in rows
        if row_family == family and not row.terminated
    ]
    starts = sorted({first for first, _, _ in blocks} | {last + 1 for _, last, _ in blocks})
    ranges: list[Range] = []
    for start, end in zip(starts, [*starts[1:], MAX[family] + 1], strict=True):
        if start <= MAX[family] and _decides_private(blocks, start):
            _append(ranges, start, end - 1)
    return tuple(ranges)


def _decides_private(blocks: list[tuple[int, int, bool]], value: int) -> bool:
    covering = [(last - first, ok) for first, last, ok in blocks if first <= value <= last]
    return bool(covering) and not min(covering)[1]


def _append(ranges: list[Range], first: int, last: int) -> None:
    if ranges and ranges[-1][1] + 1 == first:
        first = ranges.pop()[0]
    ranges.append((first, last))


def parse_block(text: str) -> tuple[int, int, int]:
    """Return ``(family, first, last)`` of a prefix in its canonical text."""
    address, _, length = text.partition("/")
    family, first = parse_text(address)
    return family, first, first | (1 << BITS[family] - int(length)) - 1


_JUDGES = {4: _Judge(4), 6: _Judge(6)}
