"""Addresses in a text: both kernels find them alike, by one rule."""

from __future__ import annotations

import re
from ipaddress import ip_address
from struct import iter_unpack
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.address_texts import IN_TEXTS, NOT_IN_TEXTS
from tests.internals.kernel import python as kernel_python
from tests.kernel.modules import MODULES, compiled, needs_compiled

Hits = list[tuple[int, int, int, int]]


def find(module: Any, text: bytes, begin: int = 0, end: int | None = None) -> Hits:
    """Return start, end, family and integer of the addresses in a part of a text."""
    records = module.find_addresses(text, begin, len(text) if end is None else end)
    return [
        (first, last, family, high << 64 | low)
        for first, last, family, high, low in iter_unpack("=qqqQQ", records)
    ]


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
def test_parts(module: Any) -> None:
    text = b"8.8.8.8 2001:db8::1 %221.1.1.1"
    whole = find(module, text)
    assert [hit[0] for hit in whole] == [0, 8, 23]
    for begin in range(len(text) + 1):
        for end in range(begin, len(text) + 1):
            result = find(module, text, begin, end)
            assert result == [hit for hit in whole if begin <= hit[0] < end], (begin, end)
    assert len(find(module, (text + b"\n") * 999)) == 3 * 999
    for begin, end in ((-1, 2), (2, 1), (0, len(text) + 1)):
        with pytest.raises(ValueError, match="outside"):
            find(module, text, begin, end)
    with pytest.raises(TypeError):
        find(module, "8.8.8.8", 0, 7)  # type: ignore[arg-type]


# The rule by another way: every part of the text is judged for itself.

_WORD, _LETTER = "[0-9A-Za-z_]", "[A-Za-z_]"
_BEFORE_NO = re.compile(rf"(?:{_WORD}|\.|{_LETTER}-)\Z")
_PRODUCT = re.compile(r"(?:\A|[^0-9A-Za-z_.+-])([0-9A-Za-z_.+-]+)/\Z")
_AFTER_NO = re.compile(rf"{_WORD}|\.{_WORD}|-{_LETTER}")
_HEX = "[0-9A-Fa-f:]"
_ESCAPE = re.compile(
    "%(?![0-9A-Fa-f]{4}:)(?:25(?=[0-9A-Fa-f]{2}))?[0-9A-Fa-f]{2}"
    "|=(?![0-9]{1,3}[.])(?![0-9A-Fa-f]{1,4}:)[0-9A-F]{2}"
)


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
    before, is_escaped = _before(text, start)
    after = text[end:]
    if address.version == 4:
        return _begins(before)
    if not re.search("[0-9]", part) or re.fullmatch(r"(?:..:){7}..", part):
        return False
    if "." not in part:
        remainder = re.match(_HEX + "*", after)
        assert remainder is not None
        if remainder[0] not in ("", ":") or (
            remainder[0] and part.endswith(":") and part[-2:] != "::"
        ):
            return False
    elif re.match("[0-9]", after):
        return False
    if is_escaped or not re.search(_HEX + r"\Z", before):
        return _begins(before)
    name = re.search(rf"({_WORD})([0-9A-Fa-f]{{0,4}}):\Z", before)
    return bool(name and not re.fullmatch("[0-9A-Fa-f]", name[1]) and name[1] != ":")


def _before(text: str, start: int) -> tuple[str, bool]:
    """Return the text before an address, with the escape there, if any, as its character."""
    escapes = [escape for escape in _ESCAPE.finditer(text) if escape.start() < start]
    if escapes and escapes[-1].end() > start:
        return "_", True  # nothing begins inside an escape
    if not escapes or escapes[-1].end() < start:
        return text[:start], False
    return text[: escapes[-1].start()] + chr(int(text[start - 2 : start], 16)), True


def _begins(before: str) -> bool:
    if _BEFORE_NO.search(before):
        return False
    product = _PRODUCT.search(before)
    if product is None:
        return True
    before, name = before[: product.start(1)], product[1]
    is_path = before.endswith("/") or (before.endswith("%") and name[:2].upper() == "2F")
    return len(name) <= 32 and is_path


_PIECES = (
    *(bytes([byte]) for byte in b"0189afgz_.:-/+%=[] \n"),
    *(b"8.8.8.8", b"1.2.3", b"255", b"256", b"2001:db8::1", b"::", b"::ffff:", b"00:1a:2b:"),
    *(b"%22", b"%25", b"%2F", b"=3D", b"=20", b"%41", b"1:2:3:4:5:6:", b"Chrome/", b"/path/"),
    *(b"lib-", b"ip6:", b"\xff", b"a" * 33),
)
lines = st.lists(st.sampled_from(_PIECES), max_size=14).map(b"".join)


@needs_compiled
@given(lines)
@example(b"2001:db8:::")
@example(b"a" * 32 + b"/8.8.8.8")
@example(b"/" + b"a" * 32 + b"/8.8.8.8 /" + b"a" * 33 + b"/8.8.8.8")
def test_both_kernels_follow_the_rule(text: bytes) -> None:
    expected = oracle(text)
    assert find(compiled, text) == expected
    assert find(kernel_python, text) == expected
