"""The cache: a folder of downloaded files, each complete, in a folder named by its digest.

There is one folder for each address:

    NAME-ADDRESS/lock          held by the process that downloads
    NAME-ADDRESS/kept.json     the current file: size, digest, ETag, date
    NAME-ADDRESS/DIGEST/NAME   the current file itself
    NAME-ADDRESS/part.json     the version of the partial file
    NAME-ADDRESS/part/NAME     the first bytes of a file, to be resumed

A file is renamed to its final name after its checks, then kept.json is replaced. The digest
is verified at each use, so a crash between the two costs one download.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from geolookup.errors import BuildError, OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock_if_free
from geolookup.filesystem.unpacking import reading_errors
from geolookup.remote import Answer, Version
from geolookup.remote.address import Remote

#: Hexadecimal digits of the digest in a folder's name: enough to tell the files of one address.
_DIGEST_DIGITS = 16


def default_folder() -> Path:
    """Return GEOLOOKUP_CACHE, else the user's cache folder of the system.

    Raises OutputError if that is in an unknown home folder.
    """
    if folder := os.environ.get("GEOLOOKUP_CACHE"):
        return Path(folder)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home()) / "geolookup" / "cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "geolookup"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "geolookup"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:  # neither HOME nor an entry of the user
        problem = "the home folder is not known"
        raise OutputError("~", problem, "name a cache with --cache or $GEOLOOKUP_CACHE") from error


@dataclass(frozen=True, slots=True)
class Kept:
    """A complete file in the cache."""

    path: Path
    bytes: int
    sha256: str
    version: Version


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


class Cached:
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
                self._folder.mkdir(parents=True, exist_ok=True)
                mine = stack.enter_context(hold_lock_if_free(self._folder / "lock"))
            if not mine:
                problem = "another process is downloading it"
                raise BuildError(
                    self._remote.safe_uri, problem, remedy="wait until it has finished"
                )
            yield

    def current(self, sha256: str = "") -> Kept | None:
        """Return the current file; None if it is missing or damaged, or has another digest."""
        members = _read(self._folder / "kept.json")
        digest = str(members.get("sha256", ""))
        path = self._folder / digest[:_DIGEST_DIGITS] / self._remote.file
        if not digest or sha256 not in ("", digest):
            return None
        # Read anew at each use: a file changed on disk counts as missing.
        if not path.is_file() or sha256_of(path) != digest:
            return None
        etag, modified, validator = (
            str(members.get(name, "")) for name in ("etag", "modified", "validator")
        )
        return Kept(path, path.stat().st_size, digest, Version(etag, modified, validator))

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
            shutil.rmtree(self._folder / "part", ignore_errors=True)

    def keep(self, part: Part, version: Version) -> Kept:
        """Make a complete and checked part the current file."""
        digest = sha256_of(part.path)
        path = self._folder / digest[:_DIGEST_DIGITS] / part.path.name
        size = part.path.stat().st_size
        with atomic.output_errors(path):
            atomic.fsync_file(part.path)
            path.parent.mkdir(exist_ok=True)
            # After a crash here the file has no kept.json, and is downloaded once more.
            part.path.replace(path)
            members = {"address": self._remote.safe_uri, "bytes": size, "sha256": digest}
            _write(self._folder / "kept.json", {**members, **asdict(version)})
        self.discard_part()
        self._remove_others(path.parent)
        return Kept(path, size, digest, version)

    def _remove_others(self, current: Path) -> None:
        with atomic.output_errors(self._folder):
            for folder in self._folder.iterdir():
                if folder.is_dir() and folder != current:
                    shutil.rmtree(folder, ignore_errors=True)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in lower-case hexadecimal."""
    with reading_errors(str(path)), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> dict[str, Any]:
    """Read a JSON object; empty if the file is missing or damaged."""
    try:
        members = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return members if isinstance(members, dict) else {}


def _write(path: Path, members: dict[str, Any]) -> None:
    with atomic.staged_file(path) as fresh:
        fresh.write_text(json.dumps(members, indent=2) + "\n", encoding="utf-8")
