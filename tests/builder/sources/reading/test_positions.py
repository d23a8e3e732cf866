"""Lines and blocks of records, as the standard CSV reader finds them."""

from __future__ import annotations

import csv
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
from geolookup_builder.sources.reading.record_blocks import RecordBlocks
from geolookup_builder.sources.reading.text import Layout, masked
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tiers import scaled

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


_QUOTED = Layout(("a", "b"), frozenset(), frozenset())
_PLAIN = Layout(("a", "b"), frozenset(), frozenset(), quoted=False)
_CELLS = st.text(st.sampled_from('x",\n\r é'), max_size=8)


def cut(text: bytes, size: int, layout: Layout = _QUOTED) -> tuple[list[bytes], bytes | None]:
    """Return the blocks, and the rest."""
    blocks = RecordBlocks(io.BytesIO(text), layout, size)
    found = [bytes(block) for block in blocks]
    return found, None if blocks.rest is None else blocks.rest.read()


def records(text: bytes) -> list[list[str]]:
    """Return the records that the standard CSV reader finds."""
    return list(csv.reader(io.StringIO(text.decode(), newline="")))


@given(st.lists(st.lists(_CELLS, min_size=2, max_size=3), min_size=1), st.integers(3, 40))
def test_blocks_of_a_written_csv_are_whole_records(rows: list[list[str]], size: int) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows(rows)
    text = stream.getvalue().encode()
    blocks, rest = cut(text, size)
    assert b"".join([*blocks, rest or b""]) == text
    apart = [record for block in [*blocks, rest or b""] for record in records(block)]
    assert apart == records(text)


@given(st.text(st.sampled_from('x",\n'), max_size=60), st.integers(3, 20))
def test_blocks_of_any_text_are_whole_records(text: str, size: int) -> None:
    blocks, rest = cut(text.encode(), size)
    parts = [*blocks, rest or b""]
    assert b"".join(parts).decode() == text
    assert [record for part in parts for record in records(part)] == records(text.encode())


def test_what_cannot_be_cut_is_the_rest() -> None:
    assert cut(b'a,b\n1,2\n3,5" pipe\n4,"x\ny"\n', 9) == ([b"a,b\n1,2\n"], b'3,5" pipe\n4,"x\ny"\n')
    assert cut(b"a,b", 100) == ([], b"a,b")
    assert cut(b"", 100) == ([], b"")
    assert cut(b"a\rb\r" * 50, 10) == ([], b"a\rb\r" * 50)
    assert cut(b'5" pipe\n6"\n7', 8, _PLAIN) == ([b'5" pipe\n', b'6"\n', b"7"], None)
    assert cut(b'\xef\xbb\xbf"a",b\n', 100) == ([b'"a",b\n'], None)


@pytest.mark.parametrize("tail", [b'4,"open', b'4,"shut"', b"4,plain"])
def test_quotes_of_a_last_record_are_counted(tail: bytes) -> None:
    blocks = RecordBlocks(io.BytesIO(b"a,b\n" + tail), _QUOTED, 100)
    assert [bytes(block) for block in blocks] == [b"a,b\n", tail]
    assert blocks.quotes == tail.count(b'"')


def test_a_stream_that_gives_small_parts() -> None:
    class Small(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 3, 3))

    text = b"".join(b"%d,2\n" % number for number in range(scaled(200, 2000)))
    found = RecordBlocks(Small(text), _QUOTED, 64)
    assert b"".join(map(bytes, found)) == text
    text, layout = b"a,\r\n#x\r\nb\rc\r\n", layouts(quoted=True, header=True, mask=True)
    assert masked(Small(text), layout).read() == b"a,\n\nb\nc\n"  # a cut line end is one
