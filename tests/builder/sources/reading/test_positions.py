"""The lines of records, as the standard CSV reader finds them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np
import pytest
from geolookup_builder.sources.reading import positions
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.positions import find_rejects, first_lines
from geolookup_builder.sources.reading.text import Layout, masked
from hypothesis import example, given
from hypothesis import strategies as st

MASK = re.compile(rb"(?m)^#[^\n]*\n?")
_PIECES = ("a", ",", "\n", "\n", "\r\n", '"', '""', '"a,b"', "\r", "#x", " ", "é", '"\n"', ',"b"\n')
texts = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)


def member(text: str) -> Member:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        yield io.BytesIO(text.encode())

    return Member("a.csv", opened)


def layouts(quoted: bool, header: bool, mask: bool) -> Layout:
    none: frozenset[str] = frozenset()
    pattern = MASK if mask else None
    return Layout((), none, none, header=header, quoted=quoted, mask=pattern)


def located(source: Member, layout: Layout, most: int) -> list[int]:
    """The lines of all records; after the last, ``find_rejects`` yields empty texts."""
    wanted = dict.fromkeys(range(1, most + 1), "")
    return [each.line for each in find_rejects(source, wanted, layout=layout) if each.text]


@example('\ufeffn\n\n\n"x\n\ny",z\r\n#c\nlast', True, True, True, 1 << 24)
@example('n\na"b,"c\nd"\ne\n', True, True, False, 1 << 24)
@example("a\rb\n", False, False, False, 4)
@given(texts, st.booleans(), st.booleans(), st.booleans(), st.sampled_from([3, 7, 1 << 24]))
def test_it_agrees_with_find_rejects(
    text: str, quoted: bool, header: bool, mask: bool, block: int
) -> None:
    layout, source = layouts(quoted, header, mask), member(text)
    expected = located(source, layout, len(text) + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(positions, "_BLOCK_BYTES", block)
        records = np.arange(1, len(expected) + 1)
        assert first_lines(source, records, layout=layout).tolist() == expected


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('a,"b"\n"c","d ""e"" f"\r\n\n', True),
        ('a,"b\n"\n', False),
        ('a,5" pipe,6" pipe\n', False),
        ("a\rb\n", False),
    ],
)
def test_only_records_over_several_lines_need_the_csv_reader(text: str, plain: bool) -> None:
    layout = layouts(quoted=True, header=True, mask=False)
    assert (positions._lines_as_records(member(text), layout) is not None) == plain


def test_a_masked_stream_that_gives_small_parts() -> None:
    class Small(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 3, 3))

    text, layout = b"a,\r\n#x\r\nb\rc\r\n", layouts(quoted=True, header=True, mask=True)
    assert masked(Small(text), layout).read() == b"a,\n\nb\nc\n"  # a cut line end is one
