"""Addresses in a text and lines of logs: both kernels find them alike, and read no more bytes."""

from __future__ import annotations

import re
from ipaddress import ip_address
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.address_texts import IN_TEXTS, NOT_IN_TEXTS
from tests.internals.kernel import python as kernel_python
from tests.kernel.modules import MODULES, compiled, needs_compiled

Hits = list[tuple[int, int, int, int]]


def find(
    module: Any, text: bytes, begin: int = 0, end: int | None = None, room: int | None = None
) -> Hits:
    """Return start, end, family and integer of the addresses in a part of a text."""
    room = len(text) // 4 + 1 if room is None else room
    data = np.frombuffer(text, np.uint8)
    starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    families, halves = np.empty(room, np.uint8), np.empty((2, room), np.uint64)
    end = len(text) if end is None else end
    count = module.find_addresses(data, begin, end, starts, ends, families, *halves)
    columns = (item[:count].tolist() for item in (starts, ends, families, *halves))
    hits = zip(*columns, strict=True)
    return [(first, last, family, high << 64 | low) for first, last, family, high, low in hits]


def texts(module: Any, text: bytes) -> list[bytes]:
    return [text[start:end] for start, end, _, _ in find(module, text)]


@pytest.mark.parametrize("module", MODULES)
def test_what_a_reader_expects(module: ModuleType) -> None:
    for text, expected in IN_TEXTS.items():
        assert texts(module, text) == expected, text
        assert texts(module, b"(" + text + b")") == expected, text
    for text in NOT_IN_TEXTS:
        assert texts(module, text) == [], text


@pytest.mark.parametrize("module", MODULES)
def test_parts_and_room(module: Any) -> None:
    text = b"8.8.8.8 2001:db8::1 1.1.1.1"
    whole = find(module, text)
    assert [hit[0] for hit in whole] == [0, 8, 20]
    for begin in range(len(text) + 1):
        for end in range(begin, len(text) + 1):
            result = find(module, text, begin, end)
            assert result == [hit for hit in whole if begin <= hit[0] < end], (begin, end)
    assert find(module, text, room=2) == whole[:2]
    assert find(module, text, room=0) == []
    for begin, end in ((-1, 2), (2, 1), (0, len(text) + 1)):
        with pytest.raises(ValueError, match="outside"):
            find(module, text, begin, end)
    columns = [np.zeros(2, kind) for kind in (np.int64, np.int64, np.uint8, np.uint64)]
    with pytest.raises(ValueError, match="length"):
        module.find_addresses(np.frombuffer(text, np.uint8), 0, 5, *columns, np.zeros(3, np.uint64))


# The rule by another way: every part of the text is judged for itself.

_WORD, _LETTER = "[0-9A-Za-z_]", "[A-Za-z_]"
_BEFORE_NO = re.compile(rf"(?:{_WORD}|\.|{_LETTER}-)\Z")
_PRODUCT = re.compile(r"(?:\A|[^0-9A-Za-z_.+-])([0-9A-Za-z_.+-]+)/\Z")
_AFTER_NO = re.compile(rf"{_WORD}|\.{_WORD}|-{_LETTER}")
_HEX = "[0-9A-Fa-f:]"


def oracle(data: bytes) -> Hits:
    text = data.decode("latin-1")
    actual: Hits = []
    at = 0
    while at < len(text):
        ends = [end for end in range(at + 3, min(at + 46, len(text) + 1)) if _is_one(text, at, end)]
        if ends:
            address = ip_address(text[at : ends[-1]])
            actual.append((at, ends[-1], address.version, int(address)))
        at = ends[-1] if ends else at + 1
    return actual


def _is_one(text: str, start: int, end: int) -> bool:
    part = text[start:end]
    try:
        address = ip_address(part)
    except ValueError:
        return False
    if "%" in part or _AFTER_NO.match(text, end):
        return False
    if address.version == 4:
        return _begins(text, start)
    if not re.search("[0-9]", part) or re.fullmatch(r"(?:..:){7}..", part):
        return False
    before, after = text[:start], text[end:]
    if "." not in part:
        remainder = re.match(_HEX + "*", after)
        assert remainder is not None
        if remainder[0] not in ("", ":") or (
            remainder[0] and part.endswith(":") and part[-2:] != "::"
        ):
            return False
    elif re.match("[0-9]", after):
        return False
    if not re.search(_HEX + r"\Z", before):
        return _begins(text, start)
    name = re.search(rf"({_WORD})([0-9A-Fa-f]{{0,4}}):\Z", before)
    return bool(name and not re.fullmatch("[0-9A-Fa-f]", name[1]) and name[1] != ":")


def _begins(text: str, start: int) -> bool:
    before = text[:start]
    if _BEFORE_NO.search(before):
        return False
    product = _PRODUCT.search(before)
    if product is None:
        return True
    return len(product[1]) <= 32 and before[: product.start(1)].endswith("/")


pieces = st.sampled_from(
    [
        *(bytes([byte]) for byte in b"0189afgz_.:-/+%[] \n"),
        *(b"8.8.8.8", b"1.2.3", b"255", b"256", b"2001:db8::1", b"::", b"::ffff:", b"00:1a:2b:"),
        *(b"1:2:3:4:5:6:", b"Chrome/", b"/path/", b"lib-", b"ip6:", b"\xff", b"a" * 33),
    ]
)
lines = st.lists(pieces, max_size=14).map(b"".join)


@needs_compiled
@given(lines)
@example(b"2001:db8:::")
@example(b"a" * 32 + b"/8.8.8.8")
@example(b"/" + b"a" * 32 + b"/8.8.8.8 /" + b"a" * 33 + b"/8.8.8.8")
def test_both_kernels_follow_the_rule(text: bytes) -> None:
    expected = oracle(text)
    assert find(compiled, text) == expected
    assert find(kernel_python, text) == expected


COMMON = b'8.8.8.8 - a user [10/Oct/2000:13:55:36 -0700] "GET /\\" HTTP/1.0" 200 2326'
COMBINED = COMMON + b' "http://a/ b" ""'
HEAD = [b"8.8.8.8", b"-", b"a user", b"10/Oct/2000:13:55:36 -0700", b'GET /\\" HTTP/1.0']


def split(module: Any, lines: list[bytes], combined: bool) -> list[list[bytes | None]]:
    data = np.frombuffer(b"|".join(lines), np.uint8)
    lengths = np.array([len(line) for line in lines], np.int64)
    starts = np.cumsum(lengths + 1) - lengths - 1
    parts = np.full((10, 2, len(lines)), 77, np.int64)
    module.split_log_lines(data, starts, lengths, combined, parts)
    text = data.tobytes()
    return [
        [None if size < 0 else text[first : first + size] for first, size in parts[:, :, at]]
        for at in range(len(lines))
    ]


@pytest.mark.parametrize("module", MODULES)
def test_the_fields(module: ModuleType) -> None:
    head, both = [*HEAD, b"200", b"2326"], [b"http://a/ b", b""]
    result = split(module, [COMBINED, COMBINED + b' "1.1.1.1"', COMMON], combined=True)
    assert result == [[*head, *both, None], [*head, *both, b'"1.1.1.1"'], [None] * 10]
    result = split(module, [COMMON, COMBINED, COMMON[:-8] + b"- -"], combined=False)
    rests = [None, COMBINED[len(COMMON) + 1 :], None]
    heads = [head, head, [*HEAD, b"-", b"-"]]
    assert result == [
        [*line, None, None, remainder] for line, remainder in zip(heads, rests, strict=True)
    ]


parts = st.sampled_from(
    [*(bytes([byte]) for byte in b' "\\[]-x\n'), b" [", b"] ", b'" ', b"200", b"1" * 19, b""]
)


@needs_compiled
@given(st.lists(st.integers(0, len(COMBINED)), max_size=3), st.lists(parts, max_size=6))
def test_both_kernels_agree_about_damaged_lines(offsets: list[int], texts: list[bytes]) -> None:
    line = COMBINED
    for offset, text in zip(offsets, texts, strict=False):
        line = line[:offset] + text + line[offset + len(text) // 2 + offset % 3 :]
    lines = [line, b"".join(texts), line[: len(line) // 2], b"", COMMON + b"".join(texts)]
    for combined in (True, False):
        assert split(compiled, lines, combined) == split(kernel_python, lines, combined)


@pytest.mark.parametrize("module", MODULES)
def test_nothing_outside_the_bytes_is_read(module: Any) -> None:
    data = np.frombuffer(COMBINED, np.uint8)
    starts = np.array([-1, len(data) + 1, 1, 0], np.int64)
    lengths = np.array([5, 0, len(data), -1], np.int64)
    parts = np.zeros((10, 2, 4), np.int64)
    module.split_log_lines(data, starts, lengths, True, parts)
    assert (parts[:, 1] == -1).all()
    with pytest.raises(ValueError, match="length"):
        module.split_log_lines(data, starts[:2], lengths, True, parts)
    with pytest.raises(ValueError, match="ten"):
        module.split_log_lines(data, starts, lengths, True, parts[:4].copy())


@pytest.mark.parametrize("module", MODULES)
def test_copied_texts(module: Any) -> None:
    data = np.frombuffer(b"abcdef", np.uint8)
    starts, lengths = np.array([4, 9, 0], np.int64), np.array([2, -1, 3], np.int64)
    out = np.zeros(5, np.uint8)
    module.copy_texts(data, starts, lengths, out)
    assert out.tobytes() == b"efabc"
    module.copy_texts(data, starts[:0], lengths[:0], out[:0].copy())
    for wrong in ([5, 2], [-1, 2], [0, 9]):
        with pytest.raises(ValueError, match="fill"):
            module.copy_texts(data, *(np.array([text]) for text in wrong), np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match="fill"):
        module.copy_texts(data, starts, lengths, np.zeros(6, np.uint8))
