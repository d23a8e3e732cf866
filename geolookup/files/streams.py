"""Streams of bytes under the formats: files, standard input and output, gzip and Zstandard."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from geolookup.errors import TableFileError
from geolookup.files.reading import explained
from geolookup.filesystem.atomic import staged_file

#: Standard input or output.
STANDARD = "-"
#: Arrow's codecs by suffix.
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_BUFFER = 1 << 20


@dataclass(slots=True)
class Incoming:
    """The bytes of a file, unpacked; ``fraction`` says how far they were read."""

    name: str
    plain: Any  # a pyarrow.NativeFile
    _raw: Any
    _size: int | None
    _open: ExitStack = field(default_factory=ExitStack)

    def fraction(self) -> float | None:
        """Return the part of the file that was read, None where its size is unknown."""
        return self._raw.tell() / self._size if self._size else None

    def seekable(self) -> Any:
        """Return the bytes as a file to jump about in; packed or piped ones in a temporary file."""
        if self.plain is self._raw and self._size is not None:
            return self.plain
        spooled = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is
        with explained(self.name, "stream"):
            shutil.copyfileobj(self.plain, spooled, _BUFFER)
        return self._open.enter_context(pa.PythonFile(spooled, "r"))


@contextmanager
def incoming(path: str, compression: str | None) -> Iterator[Incoming]:
    """Open a file, or standard input, for reading; TableFileError where that cannot be."""
    name = input_name(path)
    with ExitStack() as opened:
        with explained(name, "file"):
            raw, size = _raw(path, opened)
        if compression and size == 0:
            raise TableFileError(name, "is empty", "is it whole?")
        plain = pa.CompressedInputStream(raw, compression) if compression else raw
        yield Incoming(name, plain, raw, size, opened)


def _raw(path: str, opened: ExitStack) -> tuple[Any, int | None]:
    """Return the bytes as they lie there, and how many, if that is known."""
    if path == STANDARD:
        return pa.PythonFile(sys.stdin.buffer, "r"), None
    return opened.enter_context(pa.OSFile(path, "rb")), Path(path).stat().st_size


def input_name(path: str) -> str:
    """Return what messages call an input."""
    return "standard input" if path == STANDARD else path


@contextmanager
def outgoing(path: str, compression: str | None) -> Iterator[Any]:
    """Give a stream to write to; a file takes its place only if the block succeeds."""
    if path == STANDARD:
        with _to_standard_output() as raw, _packed(raw, compression) as stream:
            yield stream
        return
    with (
        staged_file(Path(path)) as fresh,
        pa.OSFile(str(fresh), "wb") as raw,
        _packed(raw, compression) as stream,
    ):
        yield stream


@contextmanager
def _packed(raw: Any, compression: str | None) -> Iterator[Any]:
    if compression is None:
        yield raw
        return
    with pa.CompressedOutputStream(raw, compression) as stream:
        yield stream


@contextmanager
def _to_standard_output() -> Iterator[Any]:
    """Give standard output; where the block fails, nothing more is written, no footer either."""
    end = _StandardOutput(sys.stdout.buffer)
    try:
        yield pa.PythonFile(end, "w")
        end.flush()
    finally:
        end.close()


class _StandardOutput:
    """Standard output with the position that formats ask for, which a pipe has not."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._position = 0
        self._gone = False
        self.closed = False

    def write(self, data: Any) -> int:
        """Write all of it, or nothing once the reader has gone."""
        if not self._gone:
            try:
                self._stream.write(data)
            except OSError:
                self._gone = True
                raise
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        if not self._gone:
            self._stream.flush()

    def close(self) -> None:
        """Stop writing; the stream itself is the process's."""
        self._gone = True
