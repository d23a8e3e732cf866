"""Lines that are annotated or kept: each byte is right, wherever blocks are cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geolookup
from geolookup.errors import TableFileError
from tests.internals.inline import LineFilter, Part, Tags, annotate_blocks
from tests.internals.kernel import python as kernel_python
from tests.internals.kernel import state_of
from tests.internals.prefixes import RowMasks, conditions_of, meeting
from tests.internals.tables import row_tables
from tests.kernel.test_scan import find, lines

FORM = "{location.country_code} AS{network.asn}"


@pytest.fixture(scope="module")
def state() -> Iterator[Any]:
    with geolookup.open() as engine:
        yield state_of(engine)


def written(tag: str) -> bytes:
    return f" [{tag}]".encode()


def annotate(state: Any, *blocks: bytes, form: str = FORM) -> bytes:
    tags = Tags(state, form, "annotate", str, written)
    return b"".join(annotate_blocks(blocks, tags))


def test_tags(state: Any) -> None:
    text = b"\xff8.8.8.8:80 [2606:4700:4700::1111] 10.0.0.1\r\n\x008.8.8.8."
    assert annotate(state, text) == (
        b"\xff8.8.8.8 [US AS15169]:80 [2606:4700:4700::1111 [US AS13335]] 10.0.0.1 [private]\r\n"
        b"\x008.8.8.8 [US AS15169]."
    )
    assert annotate(state) == annotate(state, b"") == b""
    assert annotate(state, b"::ffff:8.8.8.8", form="{network.asn}") == b"::ffff:8.8.8.8 [15169]"


def test_unknown_values(state: Any) -> None:
    text = b"3fff:f000::1 193.0.0.1"
    result = annotate(state, text, form="{location.country_code}/{location.postal_code}%")
    assert result == b"3fff:f000::1 [unknown] 193.0.0.1 [NL/-%]"
    assert annotate(state, b"8.8.8.8 10.0.0.1", form="{{x}} %s") == (
        b"8.8.8.8 [{x} %s] 10.0.0.1 [{x} %s]"
    )
    assert annotate(state, b"10.0.0.1", form="") == b"10.0.0.1 []"


def test_malformed_templates(state: Any) -> None:
    for form, problem in (
        ("{time.abbr}", "time.abbr follows from the address or the time"),
        ("{contry}", "no field 'contry'; did you mean 'country'?"),
        ("{}", "no field ''"),
        ("{location}", "location is a group; name one of its members: continent, "),
        ("{network.asn:x}", "{network.asn} takes no format"),
        ("{network.asn", "expected '}'"),
    ):
        with pytest.raises(ValueError, match=re.escape(f"annotate: {problem}")):
            Tags(state, form, "annotate", str, written)


class OneTag(Tags):
    def __init__(self) -> None:
        pass

    def of(self, part: Part) -> list[bytes]:
        return [TAG] * len(part.starts)


TAG = b" [tag]"  # no line of ``lines`` has it


@given(lines, st.lists(st.integers(0, 200), max_size=6))
def test_cuts_change_nothing(text: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    blocks = [text[first:end] for first, end in pairwise(places)]
    result = b"".join(annotate_blocks(blocks, OneTag()))
    assert result.replace(TAG, b"") == text
    expected = [(first, end) for first, end, _, _ in find(kernel_python, text)]
    ends = [match.start() for match in re.finditer(re.escape(TAG), result)]
    assert [end - len(TAG) * number for number, end in enumerate(ends)] == [
        end for _, end in expected
    ]


def test_what_is_decided_does_not_wait() -> None:
    parts = annotate_blocks(iter([b"8.8.8.8 a 8.8.8.8\n", b"$ ", b"x" * 99]), OneTag())
    assert next(parts) == b"8.8.8.8" + TAG + b" a 8.8.8.8" + TAG + b"\n"
    assert next(parts) == b"$ "
    assert len(next(parts)) == 99 - 64


TEXT = (
    b"8.8.8.8 and 1.1.1.1\r\n"  # US and AU
    b"none, lib-8.8.8.8\n"
    b"\n"
    b"10.0.0.1 8.8.8.8 ::1\n"
    b"1.1.1.1\x00\xff\n"
    b"10.0.0.1 3fff:f000::1\n"  # private and unknown
    b"2606:4700:4700::1111"
)


def masks(state: Any, where: str) -> RowMasks:
    return meeting(row_tables(state.dataset), conditions_of(where, "grep"))


def kept(state: Any, *blocks: bytes, where: str = "country=US", **options: Any) -> bytes:
    lines = LineFilter(state, masks(state, where), "text", **options)
    result = b"".join(lines.matching(blocks))
    assert lines.count == result.count(b"\n")
    return result


def lines_at(*numbers: int) -> bytes:
    return b"".join((TEXT + b"\n").splitlines(keepends=True)[number] for number in numbers)


def test_selections(state: Any) -> None:
    assert kept(state, TEXT) == lines_at(0, 3, 6)
    assert kept(state, TEXT, every=True) == lines_at(3, 6)
    assert kept(state, TEXT, inverted=True) == lines_at(1, 2, 4, 5)
    assert kept(state, TEXT, every=True, inverted=True) == lines_at(0, 1, 2, 4, 5)
    assert kept(state, TEXT, where="country=null") == lines_at(5)
    assert kept(state) == kept(state, b"") == b""


@given(st.lists(st.integers(0, len(TEXT)), max_size=8), st.booleans(), st.booleans())
def test_cuts_change_no_selection(state: Any, cuts: list[int], every: bool, inverted: bool) -> None:
    places = sorted({0, len(TEXT), *cuts})
    blocks = [TEXT[first:end] for first, end in pairwise(places)]
    options: Any = {"every": every, "inverted": inverted}
    assert kept(state, *blocks, **options) == kept(state, TEXT, **options)


def test_a_line_without_end_is_an_error(state: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geolookup.inline.grep.LONGEST", 100)
    assert kept(state, b"x" * 90 + b"\n", b"8.8.8.8 " + b"x" * 80)
    with pytest.raises(TableFileError, match="text, row 2: a line has no end"):
        kept(state, b"x" * 200 + b"\n", b" " * 90, b" " * 90)
