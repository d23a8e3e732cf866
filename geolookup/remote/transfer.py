"""A download into the cache: retries, resuming, limits, checks, and the atomic replacement."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from geolookup.errors import BuildError, DownloadError
from geolookup.filesystem.atomic import output_errors
from geolookup.progress import Progress
from geolookup.remote import Answer, CacheState, Limits, Pace, TransientError, content
from geolookup.remote.address import Remote
from geolookup.remote.cache import CachedFile, CacheEntry, Part, sha256_of
from geolookup.remote.key import hide_keys, key_of, mask_of

#: Reads a compressed file through, up to its checksum; BuildError for a damaged one.
ReadThrough = Callable[[Path], None]
Origin = Callable[[Remote, CacheState, Limits], AbstractContextManager[Answer | None]]
#: The module of each scheme, imported when it is used: ``buckets`` loads Arrow.
_ORIGINS = {"https": "web", "http": "web", "s3": "buckets", "gs": "buckets"}
DEFAULT_LIMITS = Limits()


def _origin(remote: Remote) -> Origin:
    module = import_module(f"geolookup.remote.{_ORIGINS[remote.scheme]}")
    return cast("Origin", module.request)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A current file; ``changed`` if this run downloaded it, from byte ``start`` on."""

    file: CachedFile
    changed: bool
    start: int = 0

    def __str__(self) -> str:
        if not self.changed:
            return f"unchanged, {self.file.bytes:,} bytes"
        resumed = f", resumed at byte {self.start:,}" if self.start else ""
        return f"fetched {self.file.bytes:,} bytes{resumed}"


@dataclass(frozen=True, slots=True)
class Pending:
    """The effect of a download: whether the file changed, and its size if known."""

    changed: bool
    bytes: int | None

    def __str__(self) -> str:
        size = "a file of unknown size" if self.bytes is None else f"{self.bytes:,} bytes"
        return f"would download {size}" if self.changed else f"unchanged, {size}"


def ask(remote: Remote, sha256: str, folder: Path, limits: Limits = DEFAULT_LIMITS) -> Pending:
    """Ask once whether ``fetch`` would download a file; its bytes are not read.

    The cache does not change. Raises BuildError.
    """
    current = CacheEntry(folder, remote).current(sha256)
    if current is not None and sha256:
        return Pending(changed=False, bytes=current.bytes)
    state = CacheState(current.condition if current else None)
    try:
        with hide_keys(mask_of([remote])), _origin(remote)(remote, state, limits) as answer:
            if answer is None:
                return Pending(changed=False, bytes=cast("CachedFile", current).bytes)
            return Pending(changed=True, bytes=answer.total)
    except TransientError as error:
        raise _later(remote, error.problem, error) from error


def _later(remote: Remote, problem: str, error: TransientError) -> DownloadError:
    return DownloadError(remote.safe_uri, problem, wait=error.wait, remedy="try again later")


def fetch(
    remote: Remote,
    sha256: str,
    folder: Path,
    progress: Progress,
    limits: Limits = DEFAULT_LIMITS,
    read_through: ReadThrough = lambda _path: None,
) -> FetchedFile:
    """Download the file of an address into the cache at ``folder``, unless it is current there.

    With ``sha256``, a file is current if it has that digest, and no other file is accepted.
    ``read_through`` checks a downloaded file further. Raises DownloadError if the server does
    not deliver the file, BuildError if the file is refused; the cached file then stays.
    """
    with hide_keys(mask_of([remote])), CacheEntry(folder, remote).lock():
        cached = CacheEntry(folder, remote)
        current = cached.current(sha256)
        if current is not None and sha256:
            return FetchedFile(current, changed=False)
        return _Transfer(remote, sha256, cached, current, progress, limits, read_through).run()


@dataclass(frozen=True, slots=True)
class _Transfer:
    """One download; ``former`` is the file that it replaces if it has changed."""

    remote: Remote
    sha256: str
    cached: CacheEntry
    former: CachedFile | None
    progress: Progress
    limits: Limits
    read_through: ReadThrough

    def run(self) -> FetchedFile:
        """Try until the file is downloaded, or until the limits are reached."""
        failures = 0
        while True:
            try:
                return self._attempt()
            except TransientError as error:
                # Without a validator nothing tells whether the file changed: no resuming.
                if error.discard or not self.cached.part().validator:
                    self.cached.discard_part()
                failures += 1
                wait = self.limits.wait(failures, error.wait)
                if wait is None:
                    raise self._failure(error, failures) from error
                self.progress.note(f"{error.problem}; retry in {wait:.1f} s")
                time.sleep(wait)

    def _failure(self, error: TransientError, failures: int) -> DownloadError:
        requested = f", and to wait for {error.wait:,.0f} s" if error.wait else ""
        times = f"tried {failures} times" if failures > 1 else "tried once"
        return _later(self.remote, f"{error.problem}{requested} ({times})", error)

    def _attempt(self) -> FetchedFile:
        part = self.cached.part()
        # 3 MB of 10 are there: bytes from 3,000,000 on are requested, with If-Range. Status 206
        # continues the part, 200 begins anew.
        start = part.size if part.validator else 0
        former = self.former.condition if self.former else None
        state = CacheState(former, start, part.validator)
        with _origin(self.remote)(self.remote, state, self.limits) as answer:
            if answer is None:
                return FetchedFile(cast("CachedFile", self.former), changed=False)
            self._check_end(answer)
            part = self._resume(part, answer) if answer.start else self.cached.begin(answer)
            self._receive(part, answer)
        return self._finish(part, answer)

    def _resume(self, part: Part, answer: Answer) -> Part:
        """Return the part that an answer continues; TransientError if its version differs."""
        # A 206 may leave out the ETag; then the total size is compared.
        same = answer.version.validator in ("", part.validator) and not answer.coding
        if not same or answer.total != part.total:
            raise TransientError("the file changed on the server", discard=True)
        return part

    def _receive(self, part: Part, answer: Answer) -> None:
        self._check_size(answer.total or 0)
        at, pace = answer.start, Pace(self.limits)
        with output_errors(part.path), part.path.open("ab") as file:
            for chunk in answer.chunks:
                at += len(chunk)
                self._check_size(at)
                file.write(chunk)
                self.progress.bytes(at, answer.total)
                pace.keep(at - answer.start)
        # Fewer bytes: the next attempt resumes. More bytes than stated: the part is useless.
        if answer.total is not None and at != answer.total:
            problem = f"the file was truncated, at {at:,} of {answer.total:,} bytes"
            raise TransientError(problem, discard=at > answer.total)

    def _check_size(self, size: int) -> None:
        if size > self.limits.largest:
            self.cached.discard_part()
            raise content.too_large(self.remote.safe_uri, self.limits.largest)

    def _finish(self, part: Part, answer: Answer) -> FetchedFile:
        """Check a complete part, and make it the current file."""
        try:
            if answer.coding:
                content.decompress(part.path, self.limits.largest)
            self._check_digest(part)
            content.check(part.path, key_of(self.remote))
            self.read_through(part.path)
        except BuildError as error:
            self.cached.discard_part()
            if answer.start:  # resumed: the parts may be of different versions
                raise TransientError(error.problem) from error
            raise BuildError(self.remote.safe_uri, error.problem, remedy=error.remedy) from error
        return FetchedFile(self.cached.keep(part, answer.version), changed=True, start=answer.start)

    def _check_digest(self, part: Part) -> None:
        if self.sha256 and (digest := sha256_of(part.path)) != self.sha256:
            problem = f"the SHA-256 of the file is {digest}, the recipe says {self.sha256}"
            remedy = "correct sha256, or ask the vendor"
            raise BuildError(part.path, problem, remedy=remedy)

    def _check_end(self, answer: Answer) -> None:
        """Raise BuildError if only a digest could show that the file is complete."""
        if answer.total is None and not answer.ends and not self.sha256:
            problem = "the server does not state the length of the file"
            raise BuildError(self.remote.safe_uri, problem, remedy="state its sha256 in the recipe")
