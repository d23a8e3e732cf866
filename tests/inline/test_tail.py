"""A file that grows, is truncated and is replaced, read as ``tail -F`` reads it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from tests.internals.inline import blocks


def _until_error(blocks: Iterator[bytes]) -> Iterator[bytes]:
    with suppress(BrokenPipeError):
        yield from blocks


class Log:
    """A file that changes while it is followed: an event in each pause."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told: list[str] = []

    def bytes_of(
        self, monkeypatch: pytest.MonkeyPatch, *events: Callable[[], object]
    ) -> list[bytes]:
        """Follow the file until the events are over."""
        pending = iter(events)

        def pause(_output: int) -> None:
            event = next(pending, None)
            if event is None:
                raise BrokenPipeError
            event()

        monkeypatch.setattr(blocks, "pause", pause)
        arrived = blocks.follow_file(str(self.path), 1, self.told.append)
        return list(_until_error(arrived))

    def append(self, text: bytes) -> Callable[[], object]:
        def event() -> None:
            with self.path.open("ab") as stream:
                stream.write(text)

        return event


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "a.log")


def nothing() -> None:
    pass


def test_the_last_lines_and_what_follows(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.path.write_bytes(b"".join(b"%d\n" % number for number in range(30)))
    result = log.bytes_of(monkeypatch, nothing, log.append(b"30"), log.append(b"\n"))
    assert result == [b"".join(b"%d\n" % number for number in range(20, 30)), b"30", b"\n"]
    assert log.told == []


def test_the_beginning(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    for size, text in product((3, 1 << 19), (b"", b"a", b"a\n", b"a\n" * 9 + b"b", b"\n" * 12)):
        monkeypatch.setattr(blocks, "BLOCK", size)
        log.path.write_bytes(text)
        expected = b"".join(text[-size:].splitlines(keepends=True)[-10:])
        assert b"".join(log.bytes_of(monkeypatch)) == expected, (size, text)


def test_the_old_file_is_read_until_it_is_quiet(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.path.write_bytes(b"one\n")
    old = log.path.with_suffix(".1")
    server = log.path.open("ab", buffering=0)

    def rotate() -> None:
        log.path.rename(old)

    def create() -> None:
        log.path.write_bytes(b"three\n")

    late = (nothing, nothing, lambda: server.write(b"two\n"), *(nothing,) * 6)
    with server:
        result = log.bytes_of(monkeypatch, rotate, create, *late, log.append(b"four\n"))
    assert result == [b"one\n", b"two\n", b"", b"three\n", b"four\n"]
    assert log.told == [f"{log.path} is another file now; following it"]


def test_a_truncated_file(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.path.write_bytes(b"one\ntwo\n")

    def truncate() -> None:
        os.truncate(log.path, 0)

    result = log.bytes_of(monkeypatch, truncate, log.append(b"three\n"))
    assert result == [b"one\ntwo\n", b"", b"three\n"]
    assert log.told == [f"{log.path} was truncated; following it from its beginning"]
    gone = log.bytes_of(monkeypatch, log.path.unlink, *(nothing,) * 9)  # for a while
    assert (gone, len(log.told)) == ([b"three\n"], 1)


def test_a_file_that_does_not_exist_yet(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b"1\n" * 30
    result = log.bytes_of(monkeypatch, nothing, log.path.mkdir, log.path.rmdir, log.append(lines))
    assert result == [lines]
    assert [text.partition(" cannot be read ")[2] for text in log.told] == [
        "(No such file or directory); waiting for it",
        "(Is a directory); waiting for it",
        "(No such file or directory); waiting for it",
    ]


@pytest.mark.skipif(os.name != "posix", reason="pipes are polled only on POSIX")
def test_nobody_reads_the_output(log: Log) -> None:
    log.path.write_bytes(b"one\n")
    ours, theirs = os.pipe()
    result = blocks.follow_file(str(log.path), theirs, log.told.append)
    assert next(result) == b"one\n"
    os.close(ours)
    with pytest.raises(BrokenPipeError):
        next(result)
    os.close(theirs)
