"""Lines that are kept: by any or all of their addresses, wherever blocks are cut."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geolookup
from geolookup.errors import TableFileError
from geolookup.inline.grep import LineFilter, Lines
from geolookup.prefixes.conditions import conditions_of
from geolookup.prefixes.row_masks import RowMasks, row_masks

TEXT = (
    b"8.8.8.8 and 1.1.1.1\r\n"  # US and AU
    b"none, lib-8.8.8.8\n"
    b"\n"
    b"10.0.0.1 8.8.8.8 ::1\n"
    b"1.1.1.1\x00\xff\n"
    b"10.0.0.1 3fff:f000::1\n"  # private and unknown
    b"2606:4700:4700::1111"
)


@pytest.fixture(scope="module")
def state() -> Iterator[Any]:
    with geolookup.open() as engine:
        yield engine._open_state()


def masks(state: Any, where: str) -> RowMasks:
    return row_masks(state.dataset, conditions_of(where))


def kept(state: Any, *blocks: bytes, where: str = "country=US", **options: Any) -> bytes:
    lines = Lines(state, LineFilter(masks(state, where).chosen, **options), "text")
    found = b"".join(map(bytes, lines.kept(blocks)))
    assert lines.count == found.count(b"\n")
    return found


def chosen(*numbers: int) -> bytes:
    return b"".join((TEXT + b"\n").splitlines(keepends=True)[number] for number in numbers)


def test_selections(state: Any) -> None:
    assert kept(state, TEXT) == chosen(0, 3, 6)
    assert kept(state, TEXT, every=True) == chosen(3, 6)
    assert kept(state, TEXT, inverted=True) == chosen(1, 2, 4, 5)
    assert kept(state, TEXT, every=True, inverted=True) == chosen(0, 1, 2, 4, 5)
    assert kept(state, TEXT, where="country=null") == chosen(5)
    assert kept(state) == kept(state, b"") == b""


def test_marks(state: Any) -> None:
    found = kept(state, TEXT, mark=(b"<", b">"))
    assert found == b"<8.8.8.8> and 1.1.1.1\r\n10.0.0.1 <8.8.8.8> ::1\n<2606:4700:4700::1111>\n"


@given(st.lists(st.integers(0, len(TEXT)), max_size=8), st.booleans(), st.booleans())
def test_cuts_change_nothing(state: Any, cuts: list[int], every: bool, inverted: bool) -> None:
    places = sorted({0, len(TEXT), *cuts})
    blocks = [TEXT[first:end] for first, end in pairwise(places)]
    options: Any = {"every": every, "inverted": inverted}
    assert kept(state, *blocks, **options) == kept(state, TEXT, **options)


def test_lines_do_not_wait_for_the_next(state: Any) -> None:
    lines = Lines(state, LineFilter(masks(state, "country=US").chosen), "text")
    found = lines.kept(iter([b"a 8.8.8.8\nb", b" 8.8.8.8", b"\n"]))
    assert [bytes(next(found)) for _ in range(3)] == [b"a 8.8.8.8\n", b"", b"b 8.8.8.8\n"]


def test_a_line_without_end_is_an_error(state: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geolookup.inline.grep._LONGEST", 100)
    assert kept(state, b"x" * 90 + b"\n", b"8.8.8.8 " + b"x" * 80)
    with pytest.raises(TableFileError, match="text, row 2: a line has no end"):
        kept(state, b"x" * 200 + b"\n", b" " * 90, b" " * 90)
