"""The files that a source names: paths, globs, and the members of archives.

A source is a list of members. Each can be opened more than once as a stream of
plain bytes. Any failure becomes one BuildError that names the member.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from geolookup.errors import BuildError, line_text
from geolookup.files.text_blocks import TextError
from geolookup.filesystem import NUL_IN_NAME, open_regular, unpacking
from geolookup.filesystem.signatures import START_BYTES, looks_like
from geolookup_builder.sources.reading import archives

#: The compression of each ending of a tar archive.
#: ".tar.gz" -> ".gz", ".tgz" -> ".gz" and so on.
_TARS = {f".tar{ending}": ending for ending in unpacking.COMPRESSED} | unpacking.SHORT_TARS


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a source, as plain bytes; ``label`` names it in messages.

    The first member of a source has ``others``: files of its archives and folder that are not read.
    """

    label: str
    opener: archives.Opener
    others: tuple[str, ...] = ()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the plain bytes; BuildError if they cannot be read, also in the block."""
        try:
            with unpacking.reading_errors(self.label), self.opener() as stream:
                yield stream
        except TextError as error:
            problem, remedy = error.problem, error.remedy
            raise BuildError(self.label, problem, line=error.line, remedy=remedy) from error

    @property
    def file_names(self) -> list[str]:
        """The name of the file, then its archive's, if any; without folders."""
        # "rirs.zip!ripe/delegated.txt" gives "delegated.txt" and "rirs.zip".
        return [re.split(r"[/\\]", part)[-1] for part in reversed(self.label.split("!"))]


def members(pattern: str, base: Path, suffixes: tuple[str, ...]) -> list[Member]:
    """Return the files that ``pattern`` (relative to ``base``) names, in bytewise path order.

    Of an archive, the files with one of ``suffixes`` are taken, ordered by name; of a folder
    also compressed ones and archives. Raises BuildError if there is none.
    """
    files, budget = paths(pattern, base, suffixes), archives.Budget(str(base / pattern))
    is_folder = (base / pattern).is_dir()
    if not files:
        problem = archives.no_file(suffixes, "folder") if is_folder else "no such file"
        remedy = "put it there, or correct the path in the recipe"
        raise BuildError(base / pattern, problem, remedy=remedy)
    first, *more = (member for path in files for member in _of_path(path, suffixes, budget))
    others = list(budget.others)
    if is_folder:
        others += map(str, _files_of(base / pattern, suffixes)[1])
    return [replace(first, others=tuple(others)), *more]


def label_in_recipe(label: str, base: Path) -> str:
    """Return a member's label as the recipe would state it: relative to ``base`` if it is below."""
    return line_text(label.removeprefix(f"{base}{os.sep}").replace(os.sep, "/"))


def paths(pattern: str, base: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files that ``pattern`` names; of a folder, those that ``members`` takes."""
    literal = base / pattern
    if "\0" in pattern:
        raise BuildError(literal, NUL_IN_NAME, remedy="correct the path in the recipe")
    with unpacking.reading_errors(str(literal)):  # such as a name longer than the system allows
        if literal.is_dir():
            return _files_of(literal, suffixes)[0]
        if literal.exists():
            return [literal]
    # A set: a pattern with ** twice may find a path more than once.
    matches = {base / match for match in glob.iglob(pattern, root_dir=base, recursive=True)}
    return sorted((path for path in matches if path.is_file()), key=os.fsencode)


def _files_of(folder: Path, suffixes: tuple[str, ...]) -> tuple[list[Path], list[Path]]:
    """Return the data files of a tree in bytewise order, and other files but licences.

    Data by their names are also compressed files, and archives.
    """
    files = [path for path in _walk(folder) if path.is_file()]
    data, others = list[Path](), list[Path]()
    for path in sorted(files, key=os.fsencode):
        kind = unpacking.packing(path)
        is_archive = kind == unpacking.ZIP or kind in _TARS
        if archives.holds_no_data(path.as_posix()):
            continue
        is_data = is_archive or path.name.lower().removesuffix(kind).endswith(suffixes)
        (data if is_data else others).append(path)
    return data, others


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files of a tree, without hidden names; a folder with several paths is read once."""
    seen = set[str]()
    for parent, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(parent)
        # Links that lead back to a folder above do not loop.
        folders[:] = [] if real in seen else sorted(n for n in folders if not n.startswith("."))
        if real not in seen:
            yield from (Path(parent, name) for name in names if not name.startswith("."))
        seen.add(real)


def _of_path(path: Path, suffixes: tuple[str, ...], budget: archives.Budget) -> list[Member]:
    if not path.is_file():
        raise BuildError(path, "not a file", remedy="name a file, a folder or a glob of files")
    with unpacking.reading_errors(str(path)):
        if path.stat().st_size == 0:
            raise BuildError(path, "empty file", remedy="fetch it again")
        return [Member(*labelled) for labelled in _openers(path, suffixes, budget)]


def _openers(
    path: Path, suffixes: tuple[str, ...], budget: archives.Budget
) -> list[tuple[str, archives.Opener]]:
    """Return a label and an opener for each file at ``path``: of an archive, its data files."""
    kind = unpacking.packing(path)
    if not kind:
        return [(str(path), partial(open_regular, path))]
    budget.add(path)
    if kind == unpacking.ZIP:
        with open_regular(path) as file:
            _check_kind(path, file)
        return archives.zip_files(path, suffixes, budget)
    opener = budget.limited(partial(_unpacked, path, _TARS.get(kind, kind)))
    if kind not in _TARS:
        return [(str(path), opener)]
    with opener() as stream:
        return archives.tar_files(path, stream, suffixes, budget)


@contextmanager
def _unpacked(path: Path, ending: str) -> Iterator[Any]:
    """Open the plain bytes of a compressed file."""
    with open_regular(path) as file:
        _check_kind(path, file)
        with unpacking.unpack_stream(file, ending) as stream:
            yield stream


def _check_kind(path: Path, file: IO[bytes]) -> None:
    """Raise BuildError for a file of another kind than its name says; others may be damaged."""
    kind = looks_like(file.read(START_BYTES))
    file.seek(0)
    if kind is not None and not path.name.lower().endswith(kind.endings):
        problem = f"this looks like {kind.name}, not as its name says"
        raise BuildError(path, problem, remedy=kind.remedy)
