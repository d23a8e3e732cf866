"""Compressed files and archives, opened as streams of plain bytes.

``openers`` lists what a path holds: one entry for a plain or compressed file, one for each data
file of an archive. A zip archive is read where it lies; the data files of a compressed tar, which
has no directory, are unpacked once into a temporary file without a name. A stream beyond the
``budget`` of its source ends the build.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from geolookup.errors import BuildError
from geolookup.filesystem.regular import open_regular
from geolookup.filesystem.signatures import START_BYTES, looks_like
from geolookup.filesystem.unpacking import COMPRESSED, SHORT_TARS, ZIP, packing, unpacked
from geolookup_builder.sources.reading.data_files import Budget, Opener, Passed, holds_no_data
from geolookup_builder.sources.reading.tar_files import tar_files
from geolookup_builder.sources.reading.zip_files import zip_files


def openers(path: Path, suffixes: tuple[str, ...], source: Budget) -> list[tuple[str, Opener]]:
    """Return a label and an opener for each file at ``path``; ``source`` is the source's budget.

    Of an archive, the files with one of ``suffixes`` are returned, ordered by name.
    """
    kind = packing(path)
    if not kind:
        return [(str(path), lambda: open_regular(path))]
    budget = source.of_file(path)
    if kind == ZIP:
        with open_regular(path) as file:
            _check_kind(path, file)
        return zip_files(path, suffixes, budget)
    if kind in _TARS:
        with _compressed(path, _TARS[kind], budget)() as stream:
            return tar_files(path, stream, suffixes, budget)
    return [(str(path), _compressed(path, kind, budget))]


def _compressed(path: Path, ending: str, budget: Budget) -> Opener:
    passed = Passed()

    @contextmanager
    def opened() -> Iterator[Any]:
        with open_regular(path) as file:
            _check_kind(path, file)
            with unpacked(file, ending) as stream:
                yield budget.counted(passed, stream)

    return opened


def _check_kind(path: Path, file: IO[bytes]) -> None:
    """Raise BuildError for a file of another kind than its name says; others may be damaged."""
    kind = looks_like(file.read(START_BYTES))
    file.seek(0)
    if kind is not None and not path.name.lower().endswith(kind.endings):
        problem = f"this looks like {kind.name}, not as its name says"
        raise BuildError(path, problem, remedy=kind.remedy)


def holds_data(path: Path, suffixes: tuple[str, ...]) -> bool:
    """Return whether a file of a folder is data: one with a suffix, compressed or in an archive."""
    kind = packing(path)
    name = path.name.lower().removesuffix(kind)
    archive = kind == ZIP or kind in _TARS
    return not holds_no_data(path.as_posix()) and (archive or name.endswith(suffixes))


#: The compression of each ending of a tar archive.
_TARS = {f".tar{ending}": ending for ending in COMPRESSED} | SHORT_TARS
