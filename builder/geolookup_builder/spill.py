"""Columns of a build that do not fit in memory: files of a staging folder, mapped to read them.

The folder lies beside the output, and exists only if something is spilled. It is removed with the
build, however that ends: a killed process leaves it to the next one (``filesystem.locks``).
"""

from __future__ import annotations

import mmap
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from geolookup.errors import BuildError, OutputError
from geolookup.filesystem.limits import check_space
from geolookup.filesystem.locks import claim, sweep, temporary_name
from geolookup_builder.memory import MemoryBudget

_Array = NDArray[Any]
_CHUNK = 1 << 20


class Spill:
    """The staging folder of a build, and its budget of memory."""

    def __init__(self, budget: MemoryBudget, output: Path | None = None) -> None:
        self.budget = budget
        self._of_build = output
        self._folder: Path | None = None
        self._opened, self._numbers = ExitStack(), count()
        self._lock = Lock()  # families are written in a thread each
        self._written = 0  # bytes of all files
        self._writing = set[BinaryIO]()
        self._maps: dict[int, tuple[mmap.mmap, Path]] = {}  # by the address of the bytes

    def close(self) -> None:
        """Remove the folder. Mapped columns stay valid."""
        for file in self._writing:
            with suppress(OSError):  # of a full disk
                file.close()
        self._maps.clear()
        self._opened.close()

    def check_values(self, size: int, recipe: Path) -> None:
        """Raise BuildError if the distinct values, of so many bytes, exceed half of the memory."""
        if size > self.budget.values:
            raise self.too_large(recipe, f"distinct values take {size:,} bytes of memory")

    def too_large(self, recipe: Path, problem: str) -> BuildError:
        """Return the error of content that must be in memory."""
        limit = f"max_memory is {self.budget.limit:,}"
        return BuildError(recipe, f"{problem}; {limit}", remedy="raise max_memory")

    @cached_property
    def _output(self) -> Path:
        # A check and a prediction have no output: their folder is the system's for such files.
        if self._of_build is not None:
            return self._of_build
        try:
            return Path(tempfile.gettempdir()) / "build"
        except OSError as error:  # it can write to none of the system's folders
            problem = f"ranges beyond max_memory need files ({error.strerror})"
            raise OutputError("$TMPDIR", problem, "name a folder that can be written") from error

    def check_space(self, needed: int) -> None:
        """Raise OutputError unless the disk has so many bytes free."""
        check_space(self._output, needed)

    @property
    def is_used(self) -> bool:
        """Whether a column is in a file."""
        return self._folder is not None

    def column(self, kind: DTypeLike) -> ColumnFile:
        """Return a new column, without a file as long as all its values are 0."""
        return ColumnFile(self, np.dtype(kind))

    def create(self) -> tuple[Path, BinaryIO]:
        """Return a new file; the first one creates the folder."""
        with self._lock, self.errors():
            if self._folder is None:
                sweep(self._output.parent)
                folder = temporary_name(self._output)
                self._opened.callback(shutil.rmtree, folder, ignore_errors=True)
                self._opened.enter_context(claim(folder, partial(folder.mkdir, 0o700)))
                self._folder = folder
            path = self._folder / str(next(self._numbers))
            file = path.open("wb")
            self._writing.add(file)
            return path, file

    def write(self, file: BinaryIO, values: _Array) -> None:
        """Append values to a file."""
        with self.errors():
            file.write(np.ascontiguousarray(values).data)
        self._written += values.nbytes

    def finish(self, path: Path, file: BinaryIO, dtype: np.dtype[Any]) -> _Array:
        """Close a file, and return its values, mapped read-only."""
        with self.errors():
            file.close()
            self._writing.discard(file)
            with path.open("rb") as written:
                mapped = mmap.mmap(written.fileno(), 0, access=mmap.ACCESS_READ)
        values = np.frombuffer(mapped, dtype)
        self._maps[values.ctypes.data] = mapped, path
        return values

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn an OSError, such as of a full disk, into an OutputError."""
        try:
            yield
        except OSError as error:
            problem = (
                f"ranges beyond max_memory need over {self._written:,} bytes beside it"
                f" ({error.strerror or error})"
            )
            raise OutputError(self._output, problem, "free space, or raise max_memory") from error

    def remove(self, *columns: _Array) -> None:
        """Remove the files of columns; a mapped column stays valid."""
        for values in columns:
            _, path = self._maps.pop(values.ctypes.data, (None, None))
            if path is not None:
                with suppress(OSError):  # Windows removes no mapped file; the folder goes later
                    path.unlink()

    def release_pages(self) -> None:
        """Release the memory of mapped pages: limits count them. The next access maps them."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for mapped, _ in list(self._maps.values()):
                mapped.madvise(mmap.MADV_DONTNEED)


class ColumnFile:
    """A column that is appended to, then mapped; its file begins with the first value but 0."""

    def __init__(self, spill: Spill, dtype: np.dtype[Any]) -> None:
        self._spill, self._dtype = spill, dtype
        self._file: tuple[Path, BinaryIO] | None = None
        self._zeros = 0

    def append(self, values: _Array) -> None:
        """Append values of the column's type."""
        if self._file is None:
            if not values.any():
                self._zeros += len(values)
                return
            self._file = self._spill.create()
            for begin in range(0, self._zeros, _CHUNK):
                zeros = np.zeros(min(_CHUNK, self._zeros - begin), self._dtype)
                self._spill.write(self._file[1], zeros)
        self._spill.write(self._file[1], values)

    def finish(self) -> _Array:
        """Return the values, read-only; without a file they take no memory."""
        if self._file is None:
            return np.broadcast_to(self._dtype.type(0), self._zeros)
        return self._spill.finish(*self._file, self._dtype)
