"""The bytes of a text as they arrive: from a file, standard input, or a file that grows.

Strategy for a file that grows, as ``tail -F`` reads it: the file stays open and is asked for more a
few times a second. When its name belongs to another file, the old one is read until nothing more
was written to it for a second: a server keeps writing to it until it is told to reopen its log.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import BinaryIO

from geolookup.errors import TableFileError
from geolookup.filesystem import open_regular
from geolookup.inline import END

STANDARD = "-"
#: The most bytes that are read at a time; few enough for a cache of the processor.
BLOCK = 1 << 19
#: Lines before the end of an existing file; the output begins with them.
_LAST_LINES = 10
_PAUSE = 0.25
#: Pauses without new bytes after which a replaced file is left.
_QUIET = 4


def blocks_of(path: str) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input without waiting for more than there are.

    A suffix such as ``.gz`` names the compression. Raises TableFileError for a file that cannot
    be read, also if it is damaged.
    """
    return _standard_input() if path == STANDARD else _file(path)


def _standard_input() -> Iterator[bytes]:
    if not sys.stdin:  # a process may be started without it
        raise TableFileError("standard input", "is closed", "pipe a text into it")
    yield from iter(lambda: os.read(sys.stdin.fileno(), BLOCK), b"")


def _file(path: str) -> Iterator[bytes]:
    from geolookup.files.byte_streams import open_input
    from geolookup.files.row_streams import explain_errors
    from geolookup.filesystem.unpacking import compression

    with open_input(path, compression(path)) as stream, explain_errors(path, "a file"):
        yield from iter(lambda: stream.plain.read(BLOCK), b"")


def follow_file(path: str, output: int, tell: Callable[[str], None]) -> Iterator[bytes]:
    """Yield the last lines of a file, and appended bytes, for ever.

    An empty block separates the bytes of a file from the next file, and from the bytes after a
    truncation. Waits until a regular file has that name. ``tell``
    gets a line about each of these. Raises BrokenPipeError when the reader of ``output`` closed
    it.
    """
    is_there = os.path.exists(path)  # noqa: PTH110 - unlike pathlib it takes any text
    stream = _open(path, output, tell)
    if is_there:
        _seek_last_lines(stream)
    while True:
        with stream:
            following = yield from _until_replaced(stream, path, output, tell)
        tell(f"{path} is another file now; following it")
        stream = following
        yield END


def _open(path: str, output: int, tell: Callable[[str], None]) -> BinaryIO:
    """Open the file as soon as there is one."""
    told = ""
    while True:
        try:
            return open_regular(path)
        except OSError as error:
            reason = f"{path} cannot be read ({error.strerror}); waiting for it"
        if told != reason:
            tell(told := reason)
        pause(output)


def _until_replaced(
    stream: BinaryIO, path: str, output: int, tell: Callable[[str], None]
) -> Generator[bytes, None, BinaryIO]:
    """Yield appended bytes until the name belongs to another file and no more is written.

    Return that file: it is opened as soon as it has the name, because it can lose it soon.
    """
    descriptor, quiet, following = stream.fileno(), 0, None
    while following is None or quiet < _QUIET:
        if block := os.read(descriptor, BLOCK):
            yield block
            quiet = 0
        # The size is below the position: truncated, as by "copytruncate" of logrotate.
        elif os.fstat(descriptor).st_size < os.lseek(descriptor, 0, os.SEEK_CUR):
            tell(f"{path} was truncated; following it from its beginning")
            os.lseek(descriptor, 0, os.SEEK_SET)
            yield END
        else:
            # Nothing may have this name at the moment.
            with suppress(OSError):
                if following is None and not os.path.samestat(os.fstat(descriptor), os.stat(path)):  # noqa: PTH116
                    following = open_regular(path)
            quiet = quiet + 1 if following else 0
            pause(output)
    return following


def _seek_last_lines(stream: BinaryIO) -> None:
    """Go to the beginning of the last lines of a file, at most a block before its end."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - BLOCK, 0))
    lines = stream.read(BLOCK).splitlines(keepends=True)[-_LAST_LINES:]
    os.lseek(stream.fileno(), size - sum(map(len, lines)), os.SEEK_SET)


def pause(output: int) -> None:
    """Wait for a moment; BrokenPipeError if nobody reads the output any more."""
    if not hasattr(select, "poll"):  # Windows
        time.sleep(_PAUSE)
        return
    poll = select.poll()
    poll.register(output, 0)
    # No event is asked for (0): POLLERR and POLLHUP are reported anyway.
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(_PAUSE * 1000)):
        raise BrokenPipeError
