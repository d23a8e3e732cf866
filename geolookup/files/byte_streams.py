"""Byte streams under the formats: files, standard input and output, and their compression.

Arrow is imported inside of functions: text around addresses is read without it.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

from geolookup.errors import TableFileError
from geolookup.files.text_blocks import TextError
from geolookup.filesystem import NOT_REGULAR, open_regular
from geolookup.filesystem.atomic import check_file, staged_file
from geolookup.filesystem.signatures import START_BYTES, looks_like
from geolookup.filesystem.unpacking import COMPRESSED, DAMAGE, unpack_stream
from geolookup.parallel import cores

#: The path of standard input or output.
STANDARD = "-"
#: On CSV with columns of answers, level 4 takes 0.6 of the time of level 6 for 2 % more bytes.
_GZIP_LEVEL = 4
_BUFFER = 1 << 20
#: The beginning of Arrow's errors about a file that may be whole, and their remedy.
NOT_IMPLEMENTED = "Not yet implemented"
OTHER_ENCODINGS = "write it with other encodings, or as CSV"


@dataclass(slots=True)
class InputStream:
    """The decompressed bytes of a file."""

    name: str
    plain: Any  # has ``read`` and ``read1``
    _raw: Any
    _size: int | None
    _open: ExitStack

    def fraction(self) -> float | None:
        """Return the part of the stored bytes that was read, 0 to 1; None if unknown."""
        return self._raw.tell() / self._size if self._size else None

    def seekable(self) -> Any:
        """Return the bytes as a seekable file: a temporary one for compressed or piped input."""
        import pyarrow as pa

        file = self.plain
        if file is not self._raw or self._size is None:
            file = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is
            shutil.copyfileobj(self.plain, file, _BUFFER)
        return self._open.enter_context(pa.PythonFile(file, "r"))


@contextmanager
def open_input(path: str, compression: str | None) -> Iterator[InputStream]:
    """Open a file, or standard input, for reading; raises TableFileError if that fails.

    ``compression`` is the ending that names it, such as ``.gz``; of standard input, the first bytes
    show it.
    """
    name, size = input_name(path), None
    with ExitStack() as stack:
        if path == STANDARD:
            raw, compression = _standard_input()
        else:
            with explain_errors(name, "a file"):
                raw = _regular_file(path)
            size = os.fstat(raw.fileno()).st_size
        stack.enter_context(raw)
        if compression and size == 0:
            raise TableFileError(name, "is empty", "is it whole?")
        plain = unpack_stream(raw, compression) if compression else raw
        yield InputStream(name, plain, raw, size, stack)


def _standard_input() -> tuple[Any, str | None]:
    """Return standard input, and the ending that names its compression.

    It waits for the first bytes. Raises TableFileError if it is closed.
    """
    if not sys.stdin:  # a process may be started without it
        raise TableFileError("standard input", "is closed", "pipe a file into it")
    # Only the main thread reads it: Python aborts at exit while a thread waits for a pipe.
    stream = BufferedReader(FileIO(sys.stdin.fileno(), closefd=False), _BUFFER)
    kind = looks_like(stream.peek(START_BYTES)[:START_BYTES])
    ending = kind.endings[0] if kind and kind.endings else ""
    return stream, ending if ending in COMPRESSED else None


def _regular_file(path: str) -> Any:
    try:
        return open_regular(path)
    except OSError as error:
        if error.strerror != NOT_REGULAR:
            raise
        raise TableFileError(path, NOT_REGULAR, "pipe it into '-'") from error


def input_name(path: str) -> str:
    """Return the name of an input in messages."""
    return "standard input" if path == STANDARD else path


@contextmanager
def explain_errors(name: str, format_name: str, passed: Callable[[], int] = int) -> Iterator[None]:
    """Turn errors about a bad file into one line that quotes no content of the file.

    ``passed`` returns the number of the first row of the current block.
    """
    try:
        yield
    except TextError as error:
        row = error.line if error.row is None else passed() + error.row
        raise TableFileError(name, error.problem, error.remedy, row=row) from error
    except (OSError, *DAMAGE) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0][:100]
        remedy = OTHER_ENCODINGS if reason.startswith(NOT_IMPLEMENTED) else "is it whole?"
        # Decompressors set no errno; EINVAL comes from an offset that a damaged file states.
        if getattr(error, "errno", None) not in (None, errno.EINVAL):
            remedy = "check its name and permissions"
        raise TableFileError(name, f"cannot be read ({reason})", remedy) from error
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except Exception as error:
        import pyarrow as pa

        if not isinstance(error, pa.ArrowException):
            raise
        problem = f"is damaged or not of the format {format_name}"
        raise TableFileError(name, problem, "is it whole?") from error


@contextmanager
def open_output(path: str, compression: str | None, *, force: bool = True) -> Iterator[Any]:
    """Yield a stream to write to; a file gets its name only if the block succeeds.

    ``force`` replaces an existing file. Standard output is not compressed.
    """
    if path == STANDARD:
        if not sys.stdout:
            raise TableFileError("standard output", "is closed", "name a file")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    import pyarrow as pa

    check_file(Path(path), force=force)
    with (
        staged_file(Path(path), force=force) as fresh,
        pa.OSFile(str(fresh), "wb") as raw,
        _COMPRESSORS[compression](raw) as packed,
    ):
        yield packed


def _gzip(stream: Any) -> Any:
    try:
        from zlib_ng import gzip_ng_threaded
    except ModuleNotFoundError:
        return gzip.GzipFile("", "wb", _GZIP_LEVEL, stream, mtime=0)
    on_threads: Any = gzip_ng_threaded
    return on_threads.open(stream, "wb", _GZIP_LEVEL, threads=cores())


def _zstandard(stream: Any) -> Any:
    import pyarrow as pa

    return pa.CompressedOutputStream(stream, "zstd")


_COMPRESSORS: dict[str | None, Callable[[Any], Any]] = {
    None: nullcontext,
    ".gz": _gzip,
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
    ".zst": _zstandard,
}
