"""The cache: a folder of downloaded files, each complete, in a folder named by its digest.

There is one folder for each address:

    NAME-ADDRESS/lock           held by the process that downloads
    NAME-ADDRESS/kept.json      the current file: size, digest, ETag, date
    NAME-ADDRESS/compiled.json  the last file that compiled: the current one, or the one before it
    NAME-ADDRESS/DIGEST/NAME    a file itself
    NAME-ADDRESS/part.json      the version of the partial file
    NAME-ADDRESS/part/NAME      the first bytes of a file, to be resumed

A file is renamed to its final name after its checks, then kept.json is replaced. The digest
is verified at each use, so a crash between the two costs one download.

Example: A has compiled, and a faulty server answers with B. B is the current file until a build
refuses it, then A is again. If B compiles, A is removed.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from geolookup.errors import DatasetError
from geolookup.filesystem import atomic, open_regular
from geolookup.filesystem.cache import make_folder
from geolookup.filesystem.locks import hold_lock_if_free
from geolookup.filesystem.ownership import check_strictly
from geolookup.filesystem.unpacking import reading_errors
from geolookup.remote import Version
from geolookup.remote.address import Remote

#: Hexadecimal digits of the digest in a folder's name: enough to tell the files of one address.
_DIGEST_DIGITS = 16
#: A digest, empty for a part; a month. Both are parts of paths.
_DIGEST, _MONTH = re.compile("(?:[0-9a-f]{64})?"), re.compile("(?:[0-9]{4}-(?:0[1-9]|1[0-2]))?")
_CURRENT, _COMPILED, _PART = "kept.json", "compiled.json", "part.json"


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A complete file in the cache; ``is_refused`` if it could not be compiled.

    A partial file has no digest; ``bytes`` is the size of the whole file, 0 if unknown.
    """

    path: Path
    bytes: int
    sha256: str
    version: Version
    is_refused: bool = False

    @property
    def known(self) -> Version | None:
        """The version that a request is conditional on; None if the file is refused."""
        return None if self.is_refused else self.version

    def is_whole(self, sha256: str = "") -> bool:
        """Return whether the file has the digest of its note, and ``sha256`` if stated."""
        # Read anew at each use: a file changed on disk counts as missing.
        return sha256 in ("", self.sha256) and sha256_of(self.path) == self.sha256


class CacheEntry:
    """The cached files of one address."""

    def __init__(self, folder: Path, remote: Remote) -> None:
        self._folder = folder / f"{remote.of_month('month').file}-{remote.identity}"
        self._remote = remote

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the address for the block; BuildError if another process holds the lock.

        Raises OutputError if the folder of the address cannot be written.
        """
        with atomic.output_errors(self._folder):
            make_folder(self._folder)
            with hold_lock_if_free(self._folder / "lock") as mine:
                if not mine:
                    problem = "another process is downloading it"
                    raise self._remote.refused(problem, "wait until it has finished")
                yield

    def current(self, sha256: str = "") -> CachedFile | None:
        """Return the current file, or with ``sha256`` the one that has it; None without one.

        If the current file is missing or damaged, that is the last one that compiled. BuildError if
        another user can have changed an entry that must be strict.
        """
        if self._remote.strict:
            try:
                # Who can write a file can write its digest in the note, too.
                check_strictly([self._folder, *self._folder.rglob("*")])
            except DatasetError as error:
                problem = f"its copy in the cache is not safe: {error.path}: {error.problem}"
                remedy = f"{error.remedy}, or use another cache"
                raise self._remote.refused(problem, remedy) from error
        files = filter(None, map(self._noted, (_CURRENT, _COMPILED)))
        return next((file for file in files if file.is_whole(sha256)), None)

    def part(self) -> CachedFile | None:
        """Return the partial file if it can be resumed."""
        part = self._noted(_PART)
        # Without a validator and a size nothing tells whether the file changed.
        if part is None or not part.version.validator:
            return None
        return part if part.path.stat().st_size < part.bytes else None

    def begin(self, total: int | None, version: Version) -> Path:
        """Begin a file at its first byte."""
        self.discard_part()
        path = self._folder / "part" / self._remote.of_month(version.month).file
        with atomic.output_errors(path):
            path.parent.mkdir()
            path.touch()
            self._note(CachedFile(path, total or 0, "", version), _PART)
        return path

    def discard_part(self) -> None:
        """Remove the partial file."""
        part = self._folder / "part"
        with atomic.output_errors(self._folder):
            (self._folder / _PART).unlink(missing_ok=True)
            if part.is_dir():
                shutil.rmtree(part, ignore_errors=True)
            else:
                part.unlink(missing_ok=True)

    def keep(self, part: Path, digest: str, version: Version) -> CachedFile:
        """Make a complete and checked part the current file."""
        path = self._folder / digest[:_DIGEST_DIGITS] / part.name
        kept = CachedFile(path, part.stat().st_size, digest, version)
        with atomic.output_errors(path):
            atomic.fsync(part)
            path.parent.mkdir(exist_ok=True)
            # After a crash here the file has no kept.json, and is downloaded once more.
            part.replace(path)
            self._note(kept, _CURRENT)
        self.discard_part()
        return kept

    def accept(self, path: Path) -> None:
        """Note that the current file, if it is at ``path``, has compiled; remove the one before."""
        current = self._noted(_CURRENT)
        if current is not None and current.path == path and current != self._noted(_COMPILED):
            with self.lock():
                self._note(replace(current, is_refused=False), _CURRENT, _COMPILED)

    def refuse(self, path: Path) -> CachedFile | None:
        """Return the last file that compiled, and make it the current one instead of ``path``.

        Without one, None: the refused file stays, but the next download is unconditional. Also None
        if the file has compiled before, in this version, or is not current.
        """
        current, compiled = self._noted(_CURRENT), self._noted(_COMPILED)
        if compiled and not compiled.is_whole():
            compiled = None
        if current is None or current.path != path or current == compiled:
            return None
        with self.lock():
            self._note(compiled or replace(current, is_refused=True), _CURRENT)
        return compiled

    def _noted(self, name: str) -> CachedFile | None:
        """Return the file that a note states; None if it is missing, or the note is malformed."""
        try:
            with open_regular(self._folder / name) as stream:
                note = json.load(stream)
            digest, size, etag = note["sha256"], note["bytes"], note["etag"]
            version = Version(etag, note["modified"], note["month"])
            is_utc = not version.modified or datetime.fromisoformat(version.modified).tzinfo == UTC
            is_path = _DIGEST.fullmatch(digest) and _MONTH.fullmatch(version.month)
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            return None
        if not (is_utc and is_path and isinstance(size, int) and isinstance(etag, str)):
            return None
        folder = "part" if name == _PART else digest[:_DIGEST_DIGITS]
        path = self._folder / folder / self._remote.of_month(version.month).file
        file = CachedFile(path, size, digest, version, note.get("is_refused") is True)
        return file if path.is_file() else None

    def _note(self, file: CachedFile, *names: str) -> None:
        """Write a file into the notes of these names; remove the files that no note states."""
        members = {"address": self._remote.safe_uri, "bytes": file.bytes, "sha256": file.sha256}
        members |= {"is_refused": file.is_refused, **asdict(file.version)}
        for name in names:
            with atomic.staged_file(self._folder / name) as fresh:
                fresh.write_text(json.dumps(members, indent=2) + "\n", encoding="utf-8")
        files = filter(None, map(self._noted, (_CURRENT, _COMPILED)))
        noted = {"part", *(file.path.parent.name for file in files)}
        for folder in self._folder.iterdir():
            if folder.is_dir() and folder.name not in noted:
                shutil.rmtree(folder, ignore_errors=True)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in lower-case hexadecimal."""
    with reading_errors(str(path)), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
