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
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from geolookup.errors import BuildError
from geolookup.filesystem import atomic, open_regular
from geolookup.filesystem.cache import make_folder
from geolookup.filesystem.locks import hold_lock_if_free
from geolookup.filesystem.unpacking import reading_errors
from geolookup.remote import Answer, Version
from geolookup.remote.address import Remote

#: Hexadecimal digits of the digest in a folder's name: enough to tell the files of one address.
_DIGEST_DIGITS = 16
_CURRENT, _COMPILED = "kept.json", "compiled.json"


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A complete file in the cache; ``is_refused`` if it could not be compiled."""

    path: Path
    bytes: int
    sha256: str
    version: Version
    is_refused: bool = False

    @property
    def condition(self) -> Version | None:
        """The version that a request is conditional on; None if the file is refused."""
        return None if self.is_refused else self.version


@dataclass(frozen=True, slots=True)
class Part:
    """The first bytes of a file, and its version."""

    path: Path
    validator: str = ""
    total: int | None = None

    @property
    def size(self) -> int:
        """The bytes received so far."""
        return self.path.stat().st_size if self.path.exists() else 0


class CacheEntry:
    """The cached files of one address."""

    def __init__(self, folder: Path, remote: Remote) -> None:
        self._folder = folder / f"{remote.file}-{remote.identity}"
        self._remote = remote

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the address for the block; BuildError if another process holds the lock.

        Raises OutputError if the folder of the address cannot be written.
        """
        with ExitStack() as stack:
            with atomic.output_errors(self._folder):
                make_folder(self._folder)
                mine = stack.enter_context(hold_lock_if_free(self._folder / "lock"))
            if not mine:
                problem = "another process is downloading it"
                raise BuildError(
                    self._remote.safe_uri, problem, remedy="wait until it has finished"
                )
            yield

    def current(self, sha256: str = "") -> CachedFile | None:
        """Return the current file, or with ``sha256`` the one that has it; None without one.

        If the current file is missing or damaged, that is the last one that compiled.
        """
        kept = (self._whole(name, sha256) for name in (_CURRENT, _COMPILED))
        return next(filter(None, kept), None)

    def _whole(self, name: str, sha256: str = "") -> CachedFile | None:
        """Return the file that kept.json or compiled.json states, if it has its digest."""
        kept = self._entry(name)
        if kept is None or sha256 not in ("", kept.sha256):
            return None
        # Read anew at each use: a file changed on disk counts as missing.
        return kept if sha256_of(kept.path) == kept.sha256 else None

    def _entry(self, name: str) -> CachedFile | None:
        """Return the file that kept.json or compiled.json states; None if it is missing."""
        members = _read(self._folder / name)
        digest = str(members.get("sha256", ""))
        path = self._folder / digest[:_DIGEST_DIGITS] / self._remote.file
        if not digest or not path.is_file():
            return None
        is_refused = members.get("is_refused") is True
        return CachedFile(path, path.stat().st_size, digest, _version(members), is_refused)

    def part(self) -> Part:
        """Return the partial file."""
        path, members = self._folder / "part" / self._remote.file, _read(self._folder / "part.json")
        total, validator = members.get("total"), str(members.get("validator", ""))
        # ``type(...) is int``: True is an int for isinstance.
        part = Part(path, validator, total if type(total) is int and total > 0 else None)
        if part.total and part.size >= part.total:
            # The last run ended before the checks: request one byte, to learn if it is current.
            os.truncate(path, part.total - 1)
        return part

    def begin(self, answer: Answer) -> Part:
        """Begin a file at its first byte, of the version that was answered.

        A response with a Content-Encoding cannot be resumed: it is decompressed in place.
        """
        self.discard_part()
        path = self._folder / "part" / self._remote.file
        validator = "" if answer.coding else answer.version.validator
        with atomic.output_errors(path):
            path.parent.mkdir()
            path.touch()
            _write(self._folder / "part.json", {"validator": validator, "total": answer.total})
        return self.part()

    def discard_part(self) -> None:
        """Remove the partial file."""
        with atomic.output_errors(self._folder):
            (self._folder / "part.json").unlink(missing_ok=True)
            part = self._folder / "part"
            if part.is_dir():
                shutil.rmtree(part, ignore_errors=True)
            else:
                part.unlink(missing_ok=True)

    def keep(self, part: Part, version: Version) -> CachedFile:
        """Make a complete and checked part the current file."""
        digest = sha256_of(part.path)
        path = self._folder / digest[:_DIGEST_DIGITS] / part.path.name
        kept = CachedFile(path, part.path.stat().st_size, digest, version)
        with atomic.output_errors(path):
            atomic.fsync_file(part.path)
            path.parent.mkdir(exist_ok=True)
            # After a crash here the file has no kept.json, and is downloaded once more.
            part.path.replace(path)
            self._write_kept(_CURRENT, kept)
        self.discard_part()
        self._remove_others()
        return kept

    def accept(self, path: Path) -> None:
        """Note that the current file, if it is at ``path``, has compiled; remove the one before."""
        current = self._entry(_CURRENT)
        if current is None or current.path != path or current == self._entry(_COMPILED):
            return
        with self.lock(), atomic.output_errors(self._folder):
            for name in (_CURRENT, _COMPILED):
                self._write_kept(name, replace(current, is_refused=False))
            self._remove_others()

    def refuse(self, path: Path) -> CachedFile | None:
        """Return the last file that compiled, and make it the current one instead of ``path``.

        Without one, None: the refused file stays, but the next download is unconditional. Also None
        if the file has compiled before, in this version, or is not current.
        """
        current, compiled = self._entry(_CURRENT), self._whole(_COMPILED)
        if current is None or current.path != path or current == compiled:
            return None
        with self.lock(), atomic.output_errors(self._folder):
            self._write_kept(_CURRENT, compiled or replace(current, is_refused=True))
            self._remove_others()
        return compiled

    def _write_kept(self, name: str, kept: CachedFile) -> None:
        address = self._remote.safe_uri
        members = {"address": address, "bytes": kept.bytes, "sha256": kept.sha256}
        members |= {"is_refused": kept.is_refused, **asdict(kept.version)}
        _write(self._folder / name, members)

    def _remove_others(self) -> None:
        """Remove the files that are neither the current one nor the last one that compiled."""
        digests = (str(_read(self._folder / name).get("sha256")) for name in (_CURRENT, _COMPILED))
        names = {digest[:_DIGEST_DIGITS] for digest in digests}
        with atomic.output_errors(self._folder):
            for folder in self._folder.iterdir():
                if folder.is_dir() and folder.name not in names:
                    shutil.rmtree(folder, ignore_errors=True)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in lower-case hexadecimal."""
    with reading_errors(str(path)), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> dict[str, Any]:
    """Read a JSON object; empty if the file is missing, damaged or not a regular file."""
    try:
        with open_regular(path) as file:
            members = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return members if isinstance(members, dict) else {}


def _version(members: dict[str, Any]) -> Version:
    """Return the version that a file states, without members that are malformed."""
    etag, modified, validator = (
        value if isinstance(value := members.get(name), str) else ""
        for name in ("etag", "modified", "validator")
    )
    return Version(etag, modified if _is_utc(modified) else "", validator)


def _is_utc(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo == UTC
    except ValueError:
        return False


def _write(path: Path, members: dict[str, Any]) -> None:
    with atomic.staged_file(path) as fresh:
        fresh.write_text(json.dumps(members, indent=2) + "\n", encoding="utf-8")
