"""What both kernels read alike: addresses in a text are found wherever the text is cut."""

from __future__ import annotations

import numpy as np

from tests.fuzz.target import Target
from tests.internals.inline import parts
from tests.internals.kernel import python_texts

_TEXTS = (
    b"8.8.8.8:80 [2001:db8::1]:443 ::ffff:1.2.3.4. ip6:2001:db8::/32\r\n",
    b"lib-1.2.3.4 1.2.3.4-beta 1.2.3.4-1.2.3.9 1.2.3.4.5 1.2.3.4. 01.2.3.4",
    b"a Chrome/120.0.0.0 /a/8.8.8.8 //1.1.1.1 " + b"x" * 32 + b"/9.9.9.9",
    b"00:1a:2b:ff:fe:3c:4d:5e 1:2:3:4:5:6:7:8 abc::def 12:34:56 2001:db8::1: x::1",
    b"q=%221.1.1.1%22 a=3D8.8.8.8 %5B2001:db8::1%5D %25228.8.8.8 ip=208.8.8.8",
    b"0:" * 40 + b":1 1:2:3:4:5:6:1.2.3.4\x00\xff::1%eth0\n",
)


def _scan(data: bytes) -> None:
    expected = [(first, end, value) for first, end, _, value in python_texts._hits(data)]
    for size in (len(data) or 1, 7):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        assert _matches(blocks) == expected


def _matches(blocks: list[bytes]) -> list[tuple[int, int, int]]:
    before = 0
    actual: list[tuple[int, int, int]] = []
    for part in parts(blocks):
        assert part.begin <= part.end <= len(part.data)
        shift = before - part.begin
        _, highs, lows = part.addresses
        values = highs.astype(object) << 64 | lows.astype(object)
        places = (part.starts + shift).tolist(), (part.ends + shift).tolist()
        actual += zip(*places, values, strict=True)
        before += part.end - part.begin
    assert np.all(np.diff([offset for hit in actual for offset in hit[:2]]) > 0)
    return actual


TARGETS = {
    "scan": Target(_scan, lambda: _TEXTS),
}
