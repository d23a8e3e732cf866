"""The archives of a mirror, in its folder ``archives``.

Strategy: no file is replaced by another one. The bytes of an archive depend on more than its
generation (a later signature, another version of Arrow), so its name ends in digits of its own
digest. Readers of the former index, and caches that keep a file forever, get the right bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from geolookup.archives.head import Head
from geolookup.archives.members import SUFFIX
from geolookup.archives.pack import write_archive
from geolookup.errors import OutputError
from geolookup.filesystem import ReadErrors, atomic
from geolookup.filesystem.copying import copy_file
from geolookup.filesystem.locks import hold_lock, sweep, temporary_folder
from geolookup.mirrors.index import ARCHIVES, INDEX, File
from geolookup.store import pointer

_LOCK = ".lock"
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
    atomic.fsync(folder)
    atomic.fsync(folder.parent)


def archive_file(store: Path, head: Head, folder: Path) -> File:
    """Write the archive of a generation of a store into a mirror, unless it is there undamaged.

    Its head is in the archive. Raises DatasetError for a damaged generation.
    """
    generation = head.manifest.generation
    with temporary_folder(folder / ARCHIVES) as unfinished:
        archive = unfinished / f"{generation}{SUFFIX}"
        if pointer.is_unpacked(store, generation):
            write_archive(archive, Path(pointer.folder_of(store, generation)), head)
        else:
            source = Path(pointer.archive_of(store, generation))
            with ReadErrors(source):  # it may have been pruned
                size = source.stat().st_size
            copy_file(source, archive, size)
        sha256 = _sha256(archive)
        path = f"{ARCHIVES}/{generation}.{sha256[:_DIGITS]}{SUFFIX}"
        file = File(path, archive.stat().st_size, sha256)
        if not (folder / path).is_file() or _sha256(folder / path) != sha256:
            atomic.fsync(archive)
            # Renamed under its final name only when it is complete: a web server serves the folder.
            archive.replace(folder / path)
            atomic.fsync(folder / ARCHIVES)
    return file


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_others(folder: Path, keep: Iterable[File]) -> None:
    """Remove the archives of a mirror that are not among the kept."""
    paths = {folder / file.path for file in keep}
    for path in (folder / ARCHIVES).iterdir():
        if path not in paths and _ARCHIVE.fullmatch(path.name):
            path.unlink()
