"""Columns of very many addresses, against an oracle that answers one address at a time.

Strategy: half of the addresses lie at the ends of the rows that the dataset was compiled from.
Which address is private, and which carries an IPv4 address, is decided by a trie of the
registries' blocks (pytricia) and by shifts, not by the kernel's tables.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import geolookup
from geolookup import tables
from tests.internals.kernel import kernel, state_of
from tests.internals.kernel import python as kernel_python
from tests.oracle import SPECIAL

#: First and last address as integers, and the family.
Range = tuple[int, int, int]
#: The value of a field at a public address (family and value); None if unknown.
Oracle = Callable[[int, int], Any]
_AF = {4: AF_INET, 6: AF_INET6}
_TOP = {4: (1 << 32) - 1, 6: (1 << 128) - 1}


def text_of(family: int, value: int) -> str:
    return inet_ntop(_AF[family], value.to_bytes(4 if family == 4 else 16))


def value_of(text: str) -> tuple[int, int]:
    """Read an address: family and value. `ipaddress` takes ten times as long for a million."""
    family = 6 if ":" in text else 4
    return family, int.from_bytes(inet_pton(_AF[family], text))


def drawn(ranges: Sequence[Range], family: int, count: int) -> list[int]:
    """Addresses of a family: at the ends of rows and just outside, and anywhere."""
    rng, top = random.Random(20261120), _TOP[family]
    own = [address_range for address_range in ranges if address_range[2] == family]
    actual = []
    for first, last, _ in rng.choices(own, k=count):
        anywhere = rng.randint(0, top) if family == 4 else rng.randint(first, last)
        value = rng.choice((first - 1, first, last, last + 1, *[anywhere] * 4))
        actual.append(min(max(value, 0), top))
    return actual


def carried(family: int, value: int) -> tuple[int, int]:
    """The address that decides: the IPv4 address that an IPv6 address carries, or itself."""
    if family == 6:
        if value >> 32 in (0xFFFF, 0x64FF9B << 64):
            return 4, value & 0xFFFF_FFFF
        if value >> 112 == 0x2002:
            return 4, value >> 80 & 0xFFFF_FFFF
    return family, value


@cache
def _blocks(family: int) -> Any:
    """A trie of the special-purpose blocks: whether they are globally reachable."""
    pytricia = pytest.importorskip("pytricia", reason="the longest-prefix oracle is pytricia")
    trie = pytricia.PyTricia(32 if family == 4 else 128)
    for block, reachable in SPECIAL:
        if block.version == family:
            trie[str(block)] = reachable
    return trie


def check(
    engine: geolookup.Engine, ranges: Sequence[Range], family: int, count: int, oracle: Oracle,
    path: str,
) -> None:  # fmt: skip
    """Enrich columns of addresses by both kernels; the field ``path`` is the oracle's."""
    values = drawn(ranges, family, count)
    asked = [carried(family, value) for value in values]
    private = [not _blocks(of).get(text_of(of, value), True) for of, value in asked]
    wanted = pa.chunked_array(
        [[None if item else oracle(*at) for at, item in zip(asked, private, strict=True)]]
    )
    assert len(wanted.unique()) > 50
    codes = pa.chunked_array([[10002 if item else None for item in private]], pa.int32())
    dataset = state_of(engine).dataset
    for column in columns(family, values):
        for module in (kernel, kernel_python):
            step = 10 if module is kernel_python else 1  # it is slower
            selection, state = pa.array(range(0, len(column), step)), module.State(dataset)
            table = tables.enrich(state, column.take(selection), ["error_code", path])
            assert table.column(0).cast(codes.type).equals(codes.take(selection))
            assert table.column(1).cast(wanted.type).equals(wanted.take(selection)), column.type


def columns(family: int, values: Sequence[int]) -> list[pa.Array]:
    """The same addresses as each type of column that holds them."""
    size = 4 if family == 4 else 16
    raw = pa.array([value.to_bytes(size) for value in values], pa.binary(size))
    texts = pa.array([text_of(family, value) for value in values])
    numbers = [pa.array(np.array(values, np.uint32))] if family == 4 else []
    return [*numbers, raw, texts]
