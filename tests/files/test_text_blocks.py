"""Texts in blocks of whole records: Arrow reads the blocks as it reads the text."""

from __future__ import annotations

import csv
import io
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from geolookup.files import text_blocks
from geolookup.files.text_blocks import TextError, line_blocks, record_blocks
from tests.tiers import scaled

_CELLS = st.text(st.sampled_from('x",\n\r é'), max_size=8)


def cut(text: bytes, size: int, **options: Any) -> list[bytes]:
    return [block for _, block in record_blocks(io.BytesIO(text), size, ",", **options)]


def read(text: bytes) -> tuple[list[Any], list[str]]:
    """Return the records of two cells that Arrow reads, and the others."""
    skipped: list[str] = []

    def skip(row: Any) -> str:
        skipped.append(row.text)
        return "skip"

    if not text.strip(b"\r\n"):
        return [], []
    table = arrow_csv.read_csv(
        pa.py_buffer(text),
        arrow_csv.ReadOptions(use_threads=False, column_names=["a", "b"], block_size=len(text) + 1),
        arrow_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
        arrow_csv.ConvertOptions(column_types={"a": pa.string(), "b": pa.string()}),
    )
    return table.to_pylist(), skipped


@given(st.lists(st.lists(_CELLS, min_size=2, max_size=3), min_size=1), st.integers(3, 40))
def test_blocks_of_a_written_csv_are_whole_records(rows: list[list[str]], size: int) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows(rows)
    text = stream.getvalue().encode()
    blocks = cut(text, size)
    assert b"".join(blocks) == text
    apart = [read(block) for block in blocks]
    assert [row for item, _ in apart for row in item] == read(text)[0]


@example('3,5" pipe\n4,"x\ny"\n', 9)
@example('a\rb,"\r"\rc\r', 4)
@given(st.text(st.sampled_from('x",\n'), max_size=60), st.integers(3, 20))
def test_blocks_of_any_text_are_whole_records(text: str, size: int) -> None:
    """Also where quotes are inside cells that do not begin with one."""
    try:
        blocks = cut(text.encode(), size)
    except TextError as error:
        assume(error.problem != "a quote is never closed")
        raise
    assert b"".join(blocks).decode() == text
    apart, whole = [read(block) for block in blocks], read(text.encode())
    assert [row for item, _ in apart for row in item] == whole[0]
    assert [row for _, skipped in apart for row in skipped] == whole[1]


def test_blocks_end_with_a_record() -> None:
    assert cut(b'a,b\n1,2\n3,5" pipe\n4,"x\ny"\n', 9) == [
        *(b"a,b\n1,2\n", b'3,5" pipe\n', b'4,"x\ny"\n')
    ]
    assert cut(b"a,b", 100) == [b"a,b"]
    assert cut(b"", 100) == []
    assert b"".join(cut(b"a\rb\r" * 50, 10)) == b"a\rb\r" * 50
    assert cut(b'5" pipe\n6"\n7', 8, quoted=False) == [b'5" pipe\n', b'6"\n', b"7"]
    assert cut(b'\xef\xbb\xbf"a",b\n', 100) == [b'"a",b\n']


@pytest.mark.parametrize(
    ("text", "line"),
    [(b'a,b\n\n4,"open', 3), (b'a\n5",6"\n,"x\ny', 3), (b'"\n', 1), (b'a"\n,"', 2)],
)
def test_a_quote_that_is_never_closed(text: bytes, line: int) -> None:
    for size in (3, 100):
        with pytest.raises(TextError, match="a quote is never closed") as raised:
            cut(text, size)
        assert raised.value.line == line


def test_a_line_or_record_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "LONGEST_RECORD", 100)
    with pytest.raises(TextError, match="more than 100 bytes") as raised:
        cut(b"a\n" * 4 + b"x" * 200, 20)
    assert raised.value.line == 5
    with pytest.raises(TextError, match="more than 9 bytes"):
        list(line_blocks(io.BytesIO(b"a\nxxxxxxxxxxx\n"), 4, 9))


def test_a_stream_that_gives_small_parts() -> None:
    class Small(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 3, 3))

    text = b"".join(b"%d,2\n" % number for number in range(scaled(200, 2000)))
    for blocks in (record_blocks(Small(text), 64, ","), line_blocks(Small(text), 64)):
        parts = list(blocks)
        assert b"".join(block for _, block in parts) == text
        assert [line for line, _ in parts[:2]] == [1, 1 + parts[0][1].count(b"\n")]
