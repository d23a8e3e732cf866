"""Byte streams under the formats: files, standard input and output, and their compression."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from geolookup.errors import TableFileError
from geolookup.files.row_streams import explain_errors
from geolookup.files.standard_input import STANDARD, standard_input
from geolookup.filesystem import NOT_REGULAR, check_regular
from geolookup.filesystem.atomic import check_file, staged_file
from geolookup.filesystem.unpacking import unpack_stream
from geolookup.parallel import cores

#: On CSV with columns of answers, level 4 takes 0.6 of the time of level 6 for 2 % more bytes.
_GZIP_LEVEL = 4
_BUFFER = 1 << 20


@dataclass(slots=True)
class InputStream:
    """The decompressed bytes of a file."""

    name: str
    plain: Any  # has ``read``
    _raw: Any
    _size: int | None
    _open: ExitStack

    def fraction(self) -> float | None:
        """Return the part of the stored bytes that was read, 0 to 1; None if unknown."""
        return self._raw.tell() / self._size if self._size else None

    def seekable(self) -> Any:
        """Return the bytes as a seekable file: a temporary one for compressed or piped input."""
        if self.plain is self._raw and self._size is not None:
            return self.plain
        spooled = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is
        shutil.copyfileobj(self.plain, spooled, _BUFFER)
        return self._open.enter_context(pa.PythonFile(spooled, "r"))


@contextmanager
def open_input(path: str, compression: str | None) -> Iterator[InputStream]:
    """Open a file, or standard input, for reading; raises TableFileError if that fails.

    ``compression`` is the ending that names it, such as ``.gz``; of standard input, the first bytes
    show it.
    """
    name, size = input_name(path), None
    with ExitStack() as stack:
        if path == STANDARD:
            raw, compression = standard_input(_BUFFER)
            stack.enter_context(raw)
        else:
            with explain_errors(name, "a file"):
                size = _size(path)
                raw = stack.enter_context(pa.OSFile(path, "rb"))
        if compression and size == 0:
            raise TableFileError(name, "is empty", "is it whole?")
        plain = unpack_stream(raw, compression) if compression else raw
        yield InputStream(name, plain, raw, size, stack)


def _size(path: str) -> int:
    try:
        return check_regular(path).st_size
    except OSError as error:
        if error.strerror != NOT_REGULAR:
            raise
        raise TableFileError(path, NOT_REGULAR, "pipe it into '-'") from error


def input_name(path: str) -> str:
    """Return the name of an input in messages."""
    return "standard input" if path == STANDARD else path


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


_COMPRESSORS: dict[str | None, Callable[[Any], Any]] = {
    None: nullcontext,
    ".gz": _gzip,
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
    ".zst": lambda stream: pa.CompressedOutputStream(stream, "zstd"),
}
