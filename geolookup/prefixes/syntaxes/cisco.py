"""Cisco IOS and IOS XE: a network object group for each family, which access lists name.

IPv4 networks are written with a mask. IOS refuses to replace a group that an access list names,
so a list that is in use is changed entry by entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.address import canonical_ipv4
from geolookup.prefixes.syntaxes.lines import lines
from geolookup.prefixes.syntaxes.protocol import Changes, Lists, Syntax, prefix_words, set_name
from geolookup.prefixes.syntaxes.settings import Settings

_KINDS = {4: "network", 6: "v6-network"}
_MASKS = [canonical_ipv4((1 << 32) - (1 << 32 - length)) for length in range(33)]
_LENGTHS = {mask: length for length, mask in enumerate(_MASKS)}
_HOST = re.compile(rb"^ host ([0-9.]+)$", re.MULTILINE)
_MASKED = re.compile(rb"^ ([0-9.]+) ([0-9.]+)$", re.MULTILINE)


def _whole(lists: Lists, settings: Settings) -> Iterator[bytes]:
    for family in lists:
        yield _group(family, settings)
        yield from _entries(" ", family, lists)


def _changes(changes: Changes, settings: Settings) -> Iterator[bytes]:
    """Add first, so that no address that stays in the list leaves the group in between."""
    for family in changes.added:
        yield _group(family, settings)
        yield from _entries(" ", family, changes.added)
        yield from _entries(" no ", family, changes.removed)


def _group(family: int, settings: Settings) -> bytes:
    return f"object-group {_KINDS[family]} {set_name(family, settings)}\n".encode()


def _entries(before: str, family: int, lists: Lists) -> Iterator[bytes]:
    batches = lists[family]
    return lines(before, map(_with_masks, batches) if family == 4 else batches)


def _with_masks(prefixes: pa.Array) -> pa.Array:
    """Return ``1.0.0.0 255.255.255.0`` for ``1.0.0.0/24``, and ``host 1.0.0.1`` for an address."""
    halves = pc.split_pattern(prefixes, "/")
    addresses = pc.list_element(halves, 0)
    lengths = pc.list_element(halves, 1).cast(pa.int8())
    masked = pc.binary_join_element_wise(addresses, pa.array(_MASKS).take(lengths), " ")
    hosts = pc.binary_join_element_wise("host", addresses, " ")
    return pc.if_else(pc.equal(lengths, 32), hosts, masked)


def _words(content: bytes) -> list[str]:
    """Return the prefixes of groups; IPv4 networks with a mask are written with a length."""
    return prefix_words(_MASKED.sub(_with_length, _HOST.sub(rb"\1/32", content)))


def _with_length(found: re.Match[bytes]) -> bytes:
    length = _LENGTHS.get(found[2].decode("ascii"))
    return found[0] if length is None else b"%s/%d" % (found[1], length)


SYNTAX = Syntax("cisco", _whole, _changes, frozenset({"name"}), _words)
