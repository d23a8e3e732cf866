"""A small MMDB writer, by the format's specification: whole files, and trees that are none."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from tests.internals.export import encode, header

MARKER = b"\xab\xcd\xefMaxMind.com"
_ALIASES = ("::ffff:0:0/96", "2002::/16", "2001::/32")
Node = list[Any]


def mmdb(
    records: Mapping[str, Any],
    *,
    version: int = 6,
    bits: int = 28,
    aliases: bool = False,
    kind: Any = "Test",
    description: Any = None,
) -> bytes:
    """A file of prefixes and their records, later ones over earlier ones.

    ``kind`` is its database type.
    """
    tree: Node = [None, None]
    for prefix, record in records.items():
        _put(tree, *_path(prefix, version), record)
    if aliases:
        ipv4 = _at(tree, 96)
        for prefix in _ALIASES:
            _put(tree, *_path(prefix, 6), ipv4)
    data, nodes = _numbered(tree)
    texts = {"database_type": kind, "description": description or {"en": "a test"}}
    return assembled(nodes, data, version=version, bits=bits, texts=texts)


def assembled(
    nodes: Sequence[tuple[int, int]],
    data: bytes,
    *,
    version: int = 6,
    bits: int = 28,
    texts: Mapping[str, Any] | None = None,
) -> bytes:
    """A file of nodes as they are; records count on from the number of nodes, as in the format.

    ``texts`` are the metadata that are no numbers.
    """
    numbers = {  # with their types, for readers are strict
        "binary_format_major_version": (5, 2),
        "binary_format_minor_version": (5, 0),
        "build_epoch": (9, 1_700_000_000),
        "ip_version": (5, version),
        "node_count": (6, len(nodes)),
        "record_size": (5, bits),
    }
    stated = {"database_type": "Test", "description": {"en": "a test"}, "languages": ["en"]}
    metadata = [encoded(key) + encoded(item) for key, item in (stated | dict(texts or {})).items()]
    metadata += [encoded(key) + integer(*item) for key, item in numbers.items()]
    tree = b"".join(_node(*node, bits) for node in nodes)
    return tree + bytes(16) + data + MARKER + header(7, len(metadata)) + b"".join(metadata)


def _path(prefix: str, version: int) -> tuple[int, int]:
    network = ip_network(prefix)
    length = network.prefixlen + (96 if network.version < version else 0)
    width = 32 if version == 4 else 128
    return int(network.network_address) >> (width - length), length


def _put(tree: Node, path: int, length: int, entry: Any) -> None:
    node = tree
    for bit in range(length - 1, 0, -1):
        side = path >> bit & 1
        if not isinstance(node[side], list):  # what covered it goes on beside what is put
            node[side] = [node[side], node[side]]
        node = node[side]
    node[path & 1] = entry


def _at(tree: Node, zeros: int) -> Any:
    node: Any = tree
    for _ in range(zeros):
        node = node[0]
    return node


def _numbered(tree: Node) -> tuple[bytes, list[tuple[int, int]]]:
    nodes, data, numbers, offsets = [tree], bytearray(), {id(tree): 0}, {}
    for node in nodes:
        for child in node:
            if isinstance(child, list) and id(child) not in numbers:
                numbers[id(child)] = len(nodes)
                nodes.append(child)
            elif child is not None and not isinstance(child, list) and id(child) not in offsets:
                offsets[id(child)] = len(data)
                data += encoded(child)

    def number(child: Any) -> int:
        if child is None:
            return len(nodes)
        if isinstance(child, list):
            return numbers[id(child)]
        return len(nodes) + 16 + offsets[id(child)]

    return bytes(data), [(number(left), number(right)) for left, right in nodes]


def _node(left: int, right: int, bits: int) -> bytes:
    if bits == 28:
        middle = (left >> 24) << 4 | right >> 24
        low = [(side & 0xFFFFFF).to_bytes(3, "big") for side in (left, right)]
        return low[0] + bytes([middle]) + low[1]
    return left.to_bytes(bits // 8, "big") + right.to_bytes(bits // 8, "big")


def encoded(value: Any) -> bytes:
    """A value of the data section."""
    if isinstance(value, dict):
        pairs = b"".join(encoded(key) + encoded(item) for key, item in value.items())
        return header(7, len(value)) + pairs
    if isinstance(value, tuple | list):
        return header(11, len(value)) + b"".join(map(encoded, value))
    if isinstance(value, str):
        return encode(value)
    if isinstance(value, bool):
        return header(14, int(value))
    if isinstance(value, float):
        return header(3, 8) + struct.pack("!d", value)
    return integer(6, value)


def integer(kind: int, value: int) -> bytes:
    """An unsigned integer of a type, in as few bytes as it needs."""
    return encode((kind, value))
