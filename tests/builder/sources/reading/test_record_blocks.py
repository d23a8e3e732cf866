"""Text split into blocks of whole records, as the standard CSV reader finds records."""

from __future__ import annotations

import csv
import io

import pytest
from geolookup_builder.sources.reading.record_blocks import RecordBlocks
from geolookup_builder.sources.reading.text import Layout
from hypothesis import given
from hypothesis import strategies as st

from tests.tiers import scaled

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
    assert cut(b'a,b\n1,2\n3,5" pipe\n4,"x\ny"\n', 9) == (
        [b"a,b\n1,2\n"],
        b'3,5" pipe\n4,"x\ny"\n',
    )
    assert cut(b"a,b", 100) == ([], b"a,b")
    assert cut(b"", 100) == ([], b"")
    assert cut(b"a\rb\r" * 50, 10) == ([], b"a\rb\r" * 50)


def test_quotes_mean_nothing_where_cells_are_not_quoted() -> None:
    assert cut(b'5" pipe\n6"\n7', 8, _PLAIN) == ([b'5" pipe\n', b'6"\n', b"7"], None)


def test_a_byte_order_mark_is_removed() -> None:
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
