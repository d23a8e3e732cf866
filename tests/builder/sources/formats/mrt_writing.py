"""Writes MRT files by RFC 6396 and RFC 8050, for the tests; nothing of a reader takes part."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from ipaddress import ip_address, ip_network

TABLE_DUMP, TABLE_DUMP_V2, BGP4MP = 12, 13, 16
PEER_INDEX_TABLE, RIB_IPV4, RIB_IPV6 = 1, 2, 4
AS_SET, AS_SEQUENCE = 1, 2
#: An AS path: numbers, and sets of them.
Path = Sequence[int | set[int]]


def record(kind: int, subtype: int, body: bytes) -> bytes:
    """RFC 6396, section 2: time, type, subtype, length."""
    return struct.pack(">IHHI", 1_763_600_000, kind, subtype, len(body)) + body


def peers(count: int) -> bytes:
    """Section 4.3.1: peers of IPv4 addresses with AS numbers of four bytes."""
    body = ip_address("10.0.0.1").packed + struct.pack(">H4sH", 4, b"view", count)
    for at in range(count):
        body += b"\x02" + struct.pack(">II", at + 1, 0x0A000001 + at) + struct.pack(">I", 3000 + at)
    return record(TABLE_DUMP_V2, PEER_INDEX_TABLE, body)


def attribute(kind: int, value: bytes, flags: int = 0x40) -> bytes:
    """RFC 4271, section 4.3; the length takes two bytes where it is large."""
    if len(value) > 255:
        return struct.pack(">BBH", flags | 0x10, kind, len(value)) + value
    return struct.pack(">BBB", flags, kind, len(value)) + value


def path_bytes(path: Path, width: str) -> bytes:
    """A segment for each run of numbers and for each set."""
    segments: list[tuple[int, list[int]]] = []
    for part in path:
        if isinstance(part, set):
            segments.append((AS_SET, sorted(part)))
        elif segments and segments[-1][0] == AS_SEQUENCE:
            segments[-1][1].append(part)
        else:
            segments.append((AS_SEQUENCE, [part]))
    return b"".join(
        struct.pack(f">BB{len(members)}{width}", kind, len(members), *members)
        for kind, members in segments
    )


def attributes(path: Path, width: str = "I") -> bytes:
    """Origin, path, next hop and a community."""
    return (
        attribute(1, b"\0")
        + attribute(2, path_bytes(path, width))
        + attribute(3, ip_address("10.0.0.1").packed)
        + attribute(8, struct.pack(">HH", 3356, 3), 0xC0)
    )


def prefix(network: str) -> bytes:
    """The length in bits, and as many bytes as it needs."""
    stated = ip_network(network)
    size = (stated.prefixlen + 7) // 8
    return bytes([stated.prefixlen]) + stated.network_address.packed[:size]


def table_record(number: int, network: str, paths: Sequence[Path], *, ids: bool = False) -> bytes:
    """Sections 4.3.2 and 4.3.4: a prefix, and the route of each peer; RFC 8050 with ``ids``."""
    body = struct.pack(">I", number) + prefix(network) + struct.pack(">H", len(paths))
    for peer, path in enumerate(paths):
        result = attributes(path)
        body += struct.pack(">HI", peer, 1_763_500_000)
        body += struct.pack(">I", peer + 1) * ids + struct.pack(">H", len(result)) + result
    subtype = RIB_IPV4 if ip_network(network).version == 4 else RIB_IPV6
    return record(TABLE_DUMP_V2, subtype + (6 if ids else 0), body)


def table(routes: Mapping[str, Sequence[Path]], *, ids: bool = False) -> bytes:
    """A whole table: its peers, then a record for each prefix."""
    most = max(map(len, routes.values()), default=0)
    return peers(most) + b"".join(
        table_record(at, network, paths, ids=ids)
        for at, (network, paths) in enumerate(routes.items())
    )


def first_version(routes: Mapping[str, Sequence[Path]]) -> bytes:
    """Section 4.2: a record for each route, with AS numbers of two bytes."""
    records = b""
    for at, (network, paths) in enumerate(routes.items()):
        stated = ip_network(network)
        peer = ip_address("::1" if stated.version == 6 else "10.0.0.1").packed
        for asn, path in enumerate(paths, start=3000):
            listed = attributes(path, "H")
            body = struct.pack(">HH", 0, at) + stated.network_address.packed
            body += struct.pack(">BBI", stated.prefixlen, 1, 1_763_500_000) + peer
            body += struct.pack(">HH", asn, len(listed)) + listed
            records += record(TABLE_DUMP, 1 if stated.version == 4 else 2, body)
    return records


ROUTES: dict[str, list[Path]] = {
    "0.0.0.0/0": [[3000, 3356]],
    "8.0.0.0/9": [[3000, 3356], [3001, 3356]],
    "8.8.8.0/24": [[3000, 15169], [3001, 174, 15169, 15169], [3002, 36040]],
    "9.0.0.0/8": [[3000, 20], [3001, 10]],  # equally many: the least
    "9.1.0.0/16": [[3000, 3356, {5, 6}], [3001, 3356, {5, 6}], [3002, 7]],
    "9.2.0.0/16": [[3000, 3356, {5, 6}]],
    "9.3.0.0/16": [[3000, 3356, {5}]],
    "9.4.0.0/16": [[3000, 3356, 64512]],
    "9.5.0.0/16": [[3000, 3356, {64512}], [64512]],
    "9.6.0.0/16": [[]],
    "9.7.0.0/17": [[3000, 4_000_000_000]],
    "2600:100::/32": [[3000, 701], [3001, 701]],
    "2600:100::1/128": [[3000, 702]],
}
TABLE = table(ROUTES)
