"""What both kernels read alike: lines of logs, addresses in a text.

Every field of a log is a part of its line; addresses are found wherever the text is cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.fuzz.target import Target
from tests.internals.inline import Scanner
from tests.internals.kernel import python_texts, split_log_lines

_COMMON = b'8.8.8.8 - a user [10/Oct/2000:13:55:36 -0700] "GET /\\" HTTP/1.0" 200 2326'
_LOGS = (
    _COMMON,
    _COMMON + b' "http://a/ b" ""',
    _COMMON + b' "-" "agent [1] \\\\" "10.0.0.1, 8.8.8.8"',
    b'::1 - - [] "" - -\n\n' + _COMMON + b"\r\n - -",
)
_TEXTS = (
    b"8.8.8.8:80 [2001:db8::1]:443 ::ffff:1.2.3.4. ip6:2001:db8::/32\r\n",
    b"lib-1.2.3.4 1.2.3.4-beta 1.2.3.4-1.2.3.9 1.2.3.4.5 1.2.3.4. 01.2.3.4",
    b"a Chrome/120.0.0.0 /a/8.8.8.8 //1.1.1.1 " + b"x" * 32 + b"/9.9.9.9",
    b"00:1a:2b:ff:fe:3c:4d:5e 1:2:3:4:5:6:7:8 abc::def 12:34:56 2001:db8::1: x::1",
    b"0:" * 40 + b":1 1:2:3:4:5:6:1.2.3.4\x00\xff::1%eth0\n",
)


def _split(data: bytes) -> None:
    lengths = np.array([len(line) for line in data.split(b"\n")], np.int64)
    starts = np.cumsum(lengths + 1) - lengths - 1
    inputs = np.frombuffer(data, np.uint8), starts, lengths
    for combined in (False, True):
        result = _parts(split_log_lines, *inputs, combined)
        expected = _parts(python_texts.split_log_lines, *inputs, combined)
        first, size = result[:, 0], result[:, 1]
        assert np.array_equal(size, expected[:, 1])
        assert np.array_equal(first[size >= 0], expected[:, 0][size >= 0])
        assert ((size < 0) | ((first >= starts) & (first + size <= starts + lengths))).all()


def _parts(split: Any, *arrays: Any) -> NDArray[np.int64]:
    parts = np.full((10, 2, len(arrays[1])), 77, np.int64)
    split(*arrays, parts)
    return parts


def _scan(data: bytes) -> None:
    expected = [(first, end, value) for first, end, _, value in python_texts._hits(data, 0)]
    for size in (len(data) or 1, 7):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        assert _matches([*blocks, b""]) == expected


def _matches(blocks: list[bytes]) -> list[tuple[int, int, int]]:
    scanner, before = Scanner(), 0
    actual: list[tuple[int, int, int]] = []
    for block in blocks:
        part = scanner.part(block)
        assert part.begin <= part.end <= len(part.data)
        shift = before - part.begin
        values = part.highs.astype(object) << 64 | part.lows.astype(object)
        places = (part.starts + shift).tolist(), (part.ends + shift).tolist()
        actual += zip(*places, values, strict=True)
        before += part.end - part.begin
    assert np.all(np.diff([offset for hit in actual for offset in hit[:2]]) > 0)
    return actual


TARGETS = {
    "logs": Target(_split, lambda: _LOGS),
    "scan": Target(_scan, lambda: _TEXTS),
}
