"""Gzip of blocks that threads compress: other readers read it, and errors end it."""

from __future__ import annotations

import gzip
import io
import random
import zlib
from types import SimpleNamespace

import pyarrow as pa
import pytest

from geolookup.files import gzip_blocks
from geolookup.files.gzip_blocks import DEFAULT_LEVEL, GzipBlocks

BLOCK = 1 << 12


def text(size: int) -> bytes:
    chance = random.Random(size)
    words = [b"8.8.8.8,", b"US,", b"Mountain View\n", b"\x00\xff", chance.randbytes(40)]
    return b"".join(chance.choices(words, k=size))[:size]


def packed(parts: list[bytes], level: int = DEFAULT_LEVEL, threads: int = 2) -> bytes:
    out = io.BytesIO()
    stream = GzipBlocks(out, level, threads)
    try:
        for part in parts:
            assert stream.write(part) == len(part)
        stream.close()
    finally:
        stream.stop()
    return out.getvalue()


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gzip_blocks, "_BLOCK", BLOCK)


def test_other_readers_find_the_data_in_one_member() -> None:
    for size in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 20 * BLOCK + 7):
        data = text(size)
        assert len(data) == size
        made = packed([data[:100], data[100:]])
        assert gzip.decompress(made) == data
        assert pa.CompressedInputStream(pa.BufferReader(made), "gzip").read() == data
        one = zlib.decompressobj(31)
        assert one.decompress(made) == data
        assert one.eof
        assert one.unused_data == b""


def test_the_number_of_threads_and_the_size_of_writes_do_not_change_a_byte() -> None:
    data = text(5 * BLOCK)
    small = [data[at : at + 777] for at in range(0, len(data), 777)]
    for level in range(1, 10):
        made = packed([data], level, 1)
        assert gzip.decompress(made) == data
        assert packed(small, level, 3) == made, level
    assert len(packed([data], 9)) < len(packed([data], 1))


def test_after_stop_nothing_is_written() -> None:
    out = io.BytesIO()
    stream = GzipBlocks(out, DEFAULT_LEVEL, 2)
    stream.write(text(3 * BLOCK))
    stream.stop()
    size = len(out.getvalue())
    stream.write(b"the end of a format")
    stream.close()
    assert len(out.getvalue()) == size


def test_errors_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> int:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        GzipBlocks(SimpleNamespace(write=full), DEFAULT_LEVEL, 1)
    monkeypatch.setattr(gzip_blocks, "_deflated", full)
    with pytest.raises(OSError, match="No space"):
        packed([text(BLOCK)])
