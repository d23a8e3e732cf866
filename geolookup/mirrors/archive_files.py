"""The archives of a mirror, in its folder ``archives``.

Strategy: no file is replaced by another one. The bytes of an archive depend on more than its
generation (a later signature, another version of Arrow), so its name ends in digits of its own
digest. Readers of the former index, and caches that keep a file forever, get the right bytes.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from geolookup.archives.members import SUFFIX
from geolookup.archives.pack import write_archive
from geolookup.errors import OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock, sweep
from geolookup.mirrors.index import ARCHIVES, INDEX, File, Index
from geolookup.mirrors.listing import MirrorGeneration
from geolookup.store import pointer

_LOCK = ".lock"
#: Where archives are written, before they get their names.
_UNFINISHED = ".unfinished"
#: Digits of its own digest in the name of an archive; the index has all 64.
_DIGITS = 16
#: GENERATION.DIGITS.tar.zst
_ARCHIVE = re.compile(r"[0-9a-f]{64}\.[0-9a-f]{16}" + re.escape(SUFFIX))


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Lock a mirror, created if missing, and remove unfinished files of killed processes.

    Other processes wait. Raises OutputError for a folder that is neither a mirror nor empty.
    """
    with atomic.output_errors(folder):
        _make(folder)
        with hold_lock(folder / _LOCK):
            shutil.rmtree(folder / _UNFINISHED, ignore_errors=True)
            sweep(folder)
            yield


def _make(folder: Path) -> None:
    if not folder.parent.is_dir():
        raise OutputError(folder.parent, "no such folder", "create it first")
    folder.mkdir(exist_ok=True)
    # Hidden names (.lock, .well-known) do not count.
    others = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    if INDEX not in others and others - {ARCHIVES}:
        raise OutputError(folder, "is not empty and not a mirror", "choose another name")
    (folder / ARCHIVES).mkdir(exist_ok=True)
    atomic.fsync_folder(folder)
    atomic.fsync_folder(folder.parent)


class Archives:
    """The archives of a mirror, each written once; archives of the former index stay."""

    def __init__(self, store: Path, folder: Path, former: Index | None) -> None:
        self._store, self._folder = store, folder
        listed = () if former is None else former.generations
        # The bytes of an archive include the statement of the generation.
        self._files = {(item.generation, item.signature): item.archive for item in listed}
        self.added: list[File] = []

    def file(self, item: MirrorGeneration) -> File:
        """Return the archive of a generation, written unless the mirror has it undamaged."""
        key = item.generation, item.signature
        existing = self._files.get(key)
        if existing is None or not _is_whole(self._folder, existing):
            existing = self._files[key] = _pack_file(self._store, item.generation, self._folder)
            self.added.append(existing)
        return existing


def _is_whole(folder: Path, file: File) -> bool:
    """Return whether a file of a mirror exists, with its size and digest."""
    path = folder / file.path
    try:
        return path.stat().st_size == file.bytes and _sha256(path) == file.sha256
    except OSError:
        return False


def _pack_file(store: Path, generation: str, folder: Path) -> File:
    """Write the archive of a generation of a store, or copy the one that the store has."""
    unfinished = folder / _UNFINISHED
    unfinished.mkdir()
    try:
        archive = unfinished / f"{generation}{SUFFIX}"
        if pointer.is_unpacked(store, generation):
            write_archive(archive, Path(pointer.folder_of(store, generation)))
        else:
            shutil.copyfile(pointer.archive_of(store, generation), archive)
        atomic.fsync_file(archive)
        file = _described(archive, generation)
        # Renamed under its final name only when it is complete: a web server serves the folder.
        archive.replace(folder / file.path)
        atomic.fsync_folder(folder / ARCHIVES)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return file


def _described(archive: Path, generation: str) -> File:
    sha256 = _sha256(archive)
    path = f"{ARCHIVES}/{generation}.{sha256[:_DIGITS]}{SUFFIX}"
    return File(path, archive.stat().st_size, sha256)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_others(folder: Path, keep: Iterable[File]) -> tuple[str, ...]:
    """Remove the archives of a mirror that are not among the kept; return their paths."""
    paths = {folder / file.path for file in keep}
    others = [path for path in sorted((folder / ARCHIVES).iterdir()) if path not in paths]
    removed = [path for path in others if _ARCHIVE.fullmatch(path.name)]
    for path in removed:
        path.unlink()
    return tuple(path.relative_to(folder).as_posix() for path in removed)
