"""Addresses in any text: both kernels find the same ones, wherever the text is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from unittest import mock

import numpy as np

from geolookup.inline.scanner import Scanner
from geolookup.kernel import python_scan
from tests.fuzz.target import Target

_SEEDS = (
    b"8.8.8.8:80 [2001:db8::1]:443 ::ffff:1.2.3.4. ip6:2001:db8::/32\r\n",
    b"lib-1.2.3.4 1.2.3.4-beta 1.2.3.4-1.2.3.9 1.2.3.4.5 1.2.3.4. 01.2.3.4",
    b"a Chrome/120.0.0.0 /a/8.8.8.8 //1.1.1.1 " + b"x" * 32 + b"/9.9.9.9",
    b"00:1a:2b:ff:fe:3c:4d:5e 1:2:3:4:5:6:7:8 abc::def 12:34:56 2001:db8::1: x::1",
    b"0:" * 40 + b":1 1:2:3:4:5:6:1.2.3.4\x00\xff::1%eth0\n",
)


def seeds() -> Iterator[bytes]:
    yield from _SEEDS


def run(data: bytes) -> None:
    expected = [(first, end, value) for first, end, _, value in python_scan._hits(data, 0)]
    for size in (len(data) or 1, 7):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        assert _found([*blocks, b""]) == expected


def _found(blocks: list[bytes]) -> list[tuple[int, int, int]]:
    scanner, before = Scanner(), 0
    found: list[tuple[int, int, int]] = []
    for block in blocks:
        part = scanner.part(block)
        assert part.begin <= part.end <= len(part.data)
        shift = before - part.begin
        values = part.highs.astype(object) << 64 | part.lows.astype(object)
        found += zip(
            (part.starts + shift).tolist(), (part.ends + shift).tolist(), values, strict=True
        )
        before += part.end - part.begin
    assert np.all(np.diff([place for hit in found for place in hit[:2]]) > 0)
    return found


def planted() -> AbstractContextManager[object]:
    """Forget that a dot with a digit after it continues a version."""
    return mock.patch.object(python_scan, "_NO_END", re.compile(rb"[0-9A-Za-z_]|-[A-Za-z_]"))


TARGET = Target(run, seeds, planted)
