"""Byte streams under the formats: files, standard input and output, and their compression."""

from __future__ import annotations

import io
import lzma
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread
from typing import IO, Any

import pyarrow as pa

from geolookup.errors import TableFileError
from geolookup.files.gzip_blocks import DEFAULT_LEVEL, GzipBlocks
from geolookup.files.row_streams import explained
from geolookup.filesystem.atomic import staged_file
from geolookup.filesystem.regular import NOT_REGULAR, check_regular
from geolookup.filesystem.unpacking import xz

#: Standard input or output.
STANDARD = "-"
#: Arrow's codecs by suffix; it has none for xz.
GZIP, XZ = "gzip", "xz"
COMPRESSIONS = {".gz": GZIP, ".bz2": "bz2", ".xz": XZ, ".zst": "zstd"}
_BUFFER = 1 << 20


def _nothing() -> None:
    pass


@dataclass(slots=True)
class InputStream:
    """The decompressed bytes of a file."""

    name: str
    plain: Any  # a pyarrow.NativeFile
    _raw: Any
    _size: int | None
    _end: Callable[[], None] = _nothing
    _open: ExitStack = field(default_factory=ExitStack)

    def end(self) -> None:
        """End a read that waits for standard input; every later one finds the end."""
        self._end()

    def before_close(self, call: Callable[[], None]) -> None:
        """Make a call when the file is about to be closed, also after an error or a signal."""
        self._open.callback(call)

    def fraction(self) -> float | None:
        """Return the part of the file that was read, 0 to 1; None where its size is unknown."""
        return self._raw.tell() / self._size if self._size else None

    def seekable(self) -> Any:
        """Return the bytes as a seekable file: a temporary one for compressed or piped input."""
        if self.plain is self._raw and self._size is not None:
            return self.plain
        spooled = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is
        with explained(self.name, "stream"):
            shutil.copyfileobj(self.plain, spooled, _BUFFER)
        return self._open.enter_context(pa.PythonFile(spooled, "r"))


class Prefixed:
    """A stream whose first bytes were read already; it returns them again."""

    closed = False

    def __init__(self, first: bytes, rest: Any) -> None:
        self._first: io.BytesIO | None = io.BytesIO(first)
        self._rest = rest
        self._ended = False

    def end(self) -> None:
        """Return nothing any more."""
        self._ended = True

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        if self._ended:
            return b""
        if self._first is not None:
            if part := self._first.read(size):
                return part
            self._first = None
        found: bytes = self._rest.read(size)
        return found


@contextmanager
def open_input(path: str, compression: str | None) -> Iterator[InputStream]:
    """Open a file, or standard input, for reading; raises TableFileError if that fails."""
    name = input_name(path)
    with ExitStack() as opened:
        with explained(name, "file"):
            raw, size, end = _raw(path, opened)
        if compression and size == 0:
            raise TableFileError(name, "is empty", "is it whole?")
        yield InputStream(name, _unpacked(raw, compression), raw, size, end, opened)


def _unpacked(raw: Any, compression: str | None) -> Any:
    if compression == XZ:
        return pa.PythonFile(xz(raw), "r")
    return pa.CompressedInputStream(raw, compression) if compression else raw


def _raw(path: str, opened: ExitStack) -> tuple[Any, int | None, Callable[[], None]]:
    """Return the stored bytes, their number where it is known, and the call that ends reading."""
    if path == STANDARD:
        if not sys.stdin:  # a process may be started without it
            raise TableFileError(input_name(path), "is closed", "pipe a file into it")
        stream = _StandardInput(sys.stdin.fileno())
        opened.callback(stream.close)
        return pa.PythonFile(stream, "r"), None, stream.close
    size = _size(path)
    return opened.enter_context(pa.OSFile(path, "rb")), size, _nothing


def _size(path: str) -> int:
    try:
        return check_regular(path).st_size
    except IsADirectoryError:
        raise
    except OSError as error:
        if error.strerror != NOT_REGULAR:
            raise
        raise TableFileError(path, NOT_REGULAR, "pipe it into '-'") from error


class _StandardInput:
    """Standard input, read ahead by a thread of its own, so that ``close`` ends a read.

    Arrow reads on threads that Python cannot stop. While one waits for a pipe, the process
    cannot exit; here it waits for this object, and ``close`` wakes it.
    """

    def __init__(self, descriptor: int) -> None:
        self.closed = False
        self._changed = Condition()
        self._data = bytearray()  # read ahead, at most _BUFFER and one read more
        self._ended = self._reading = False
        self._error: OSError | None = None
        Thread(target=self._read_ahead, args=(descriptor,), daemon=True).start()

    def read(self, size: int = -1) -> bytes:
        """Return ``size`` bytes, fewer at the end of the input, none after ``close``."""
        parts = []
        with self._changed:
            self._reading = True
            try:  # a signal may end a wait of the main thread
                while size and (part := self._next(size)):
                    parts.append(part)
                    size -= len(part) if size > 0 else 0
            finally:
                self._reading = False
                self._changed.notify_all()
        return b"".join(parts)

    def close(self) -> None:
        """End all reads, and wait until none is left."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._reading)

    def _next(self, size: int) -> bytes:
        self._changed.wait_for(lambda: self._data or self._ended or self.closed)
        if self.closed:
            return b""
        if self._error is not None and not self._data:
            raise self._error
        part = bytes(self._data[:size]) if size > 0 else bytes(self._data)
        del self._data[: len(part)]
        self._changed.notify_all()
        return part

    def _read_ahead(self, descriptor: int) -> None:
        while not self._ended:
            try:
                # Not sys.stdin.buffer: Python aborts at exit while a thread holds its lock.
                block = os.read(descriptor, _BUFFER)
            except OSError as error:
                block, self._error = b"", error
            with self._changed:
                self._data += block
                self._ended = not block
                self._changed.notify_all()
                self._changed.wait_for(lambda: len(self._data) < _BUFFER)


def input_name(path: str) -> str:
    """Return the name of an input in messages."""
    return "standard input" if path == STANDARD else path


@contextmanager
def open_output(
    path: str, compression: str | None, level: int | None, threads: int
) -> Iterator[Any]:
    """Yield a stream to write to; a file gets its name only if the block succeeds.

    ``level`` is that of gzip, None: its default; ``threads`` is how many compress.
    """
    with ExitStack() as opened:
        if path == STANDARD:
            raw = opened.enter_context(_to_standard_output())
        else:
            fresh = opened.enter_context(staged_file(Path(path)))
            raw = opened.enter_context(pa.OSFile(str(fresh), "wb"))
        if compression == GZIP:
            raw = opened.enter_context(_gzip(raw, level or DEFAULT_LEVEL, threads))
        elif compression == XZ:
            raw = pa.PythonFile(opened.enter_context(lzma.LZMAFile(raw, "wb")), "w")
        elif compression:
            raw = opened.enter_context(pa.CompressedOutputStream(raw, compression))
        yield raw


@contextmanager
def _gzip(raw: Any, level: int, threads: int) -> Iterator[Any]:
    """Yield a stream that compresses. It ends its threads; after an error it writes no end."""
    blocks = GzipBlocks(raw, level, threads)
    try:
        yield pa.PythonFile(blocks, "w")
        blocks.close()
    finally:
        blocks.stop()


@contextmanager
def _to_standard_output() -> Iterator[Any]:
    """Yield standard output; if the block fails, nothing more is written, also no footer."""
    end = _StandardOutput(sys.stdout.buffer)
    try:
        yield pa.PythonFile(end, "w")
        end.flush()
    finally:
        end.close()


class _StandardOutput:
    """Standard output with a position, which formats ask for and a pipe does not have."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._position = 0
        self._broken = False
        self.closed = False

    def write(self, data: Any) -> int:
        """Write all bytes, or none after the reader has closed the pipe."""
        if not self._broken:
            try:
                self._stream.write(data)
            except OSError:
                self._broken = True
                raise
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        if not self._broken:
            self._stream.flush()

    def close(self) -> None:
        """Stop writing; the process keeps the stream itself open."""
        self._broken = True
