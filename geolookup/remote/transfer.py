"""A download into the cache: retries, resuming, limits, checks, and the atomic replacement."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from geolookup.errors import BuildError, DownloadError, MissingFileError
from geolookup.filesystem.atomic import output_errors
from geolookup.progress import Progress
from geolookup.remote import (
    Answer,
    Limits,
    Pace,
    TransientError,
    Version,
    content,
)
from geolookup.remote.address import MONTH_PLACEHOLDER, Remote
from geolookup.remote.cache import CachedFile, CacheEntry, sha256_of
from geolookup.remote.key import hide_keys, key_of, mask_of
from geolookup.remote.months import candidates, today

#: Reads a file up to the end that its format has, such as a checksum, and returns whether it has
#: one; BuildError for a damaged file.
ReadThrough = Callable[[Path], bool]
DEFAULT_LIMITS = Limits()
_LATER = "try again later"


@contextmanager
def _request(
    remote: Remote, known: Version | None, start: int, limits: Limits
) -> Iterator[Answer | None]:
    """Yield the answer for the newest month that the server has, as ``_request_one`` does."""
    months, answer = candidates(known.month if known else "", today()), None
    with ExitStack() as stack:
        for month in months if MONTH_PLACEHOLDER in remote.uri else ("",):
            # Conditions and ranges are of the same address only.
            same = known if known and known.month == month else None
            one = _request_one(remote.of_month(month), same, start if same else 0, limits)
            try:
                answer = stack.enter_context(one)
            except MissingFileError as error:
                missing = error
            else:
                break
        else:
            raise missing
        yield answer and replace(answer, version=replace(answer.version, month=month))


def _request_one(
    remote: Remote, known: Version | None, start: int, limits: Limits
) -> AbstractContextManager[Answer | None]:
    if remote.scheme in ("s3", "gs"):
        from geolookup.remote import buckets  # it loads Arrow

        return buckets.request(remote, known, start, limits)
    from geolookup.remote import web

    return web.request(remote, known, start, limits)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A current file; ``changed`` if this run downloaded it, from byte ``start`` on."""

    file: CachedFile
    changed: bool
    start: int = 0

    def __str__(self) -> str:
        size = f"{self.file.bytes:,} bytes"
        resumed = f", resumed at byte {self.start:,}" if self.start else ""
        return f"fetched {size}{resumed}" if self.changed else f"unchanged, {size}"


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
    unchanged = Pending(changed=False, bytes=current.bytes if current else None)
    if current and sha256:
        return unchanged
    known = current.known if current else None
    try:
        with hide_keys(mask_of([remote])), _request(remote, known, 0, limits) as answer:
            return Pending(changed=True, bytes=answer.total) if answer else unchanged
    except TransientError as error:
        raise remote.failed(error.problem, _LATER, error.wait) from error


def fetch(
    remote: Remote,
    sha256: str,
    folder: Path,
    progress: Progress,
    limits: Limits = DEFAULT_LIMITS,
    read_through: ReadThrough = lambda _path: False,
) -> FetchedFile:
    """Download the file of an address into the cache at ``folder``, unless it is current there.

    With ``sha256``, a file is current if it has that digest, and no other file is accepted.
    ``read_through`` checks a downloaded file further; without a length, the end that it sees shows
    that the file is whole. Raises DownloadError if the server does not deliver the file, BuildError
    if the file is refused; the cached file then stays.
    """
    cached = CacheEntry(folder, remote)
    with hide_keys(mask_of([remote])), cached.lock():
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
                if error.discard or self.cached.part() is None:
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
        return self.remote.failed(f"{error.problem}{requested} ({times})", _LATER, error.wait)

    def _attempt(self) -> FetchedFile:
        # 3 MB of 10 are there: bytes from 3,000,000 on are requested, with If-Range. Status 206
        # continues the part, 200 begins anew.
        part, former = self.cached.part(), self.former
        start = part.path.stat().st_size if part else 0
        known = part.version if part and start else former.known if former else None
        with _request(self.remote, known, start, self.limits) as answer:
            if answer is None:
                return FetchedFile(cast("CachedFile", former), changed=False)
            if part and answer.start:
                self._check_same(part, answer)
                path = part.path
            else:
                # A response with a Content-Encoding is decompressed in place: no resuming.
                month = answer.version.month
                version = Version(month=month) if answer.coding else answer.version
                path = self.cached.begin(answer.total, version)
            self._receive(path, answer)
        return self._finish(path, answer)

    def _check_same(self, part: CachedFile, answer: Answer) -> None:
        """Raise TransientError if an answer continues another version than the part's."""
        # A 206 may leave out the ETag; then the total size is compared.
        same = answer.version.validator in ("", part.version.validator) and not answer.coding
        if not same or answer.total != part.bytes:
            raise TransientError("the file changed on the server", discard=True)

    def _receive(self, path: Path, answer: Answer) -> None:
        at, pace = answer.start, Pace(self.limits)
        with output_errors(path), path.open("ab") as file:
            for chunk in self._chunks(answer):
                at += len(chunk)
                if max(at, answer.total or 0) > self.limits.largest:
                    self.cached.discard_part()
                    raise content.too_large(self.remote.safe_uri, self.limits.largest)
                file.write(chunk)
                self.progress.bytes(at, answer.total)
                pace.keep(len(chunk))
        # Fewer bytes: the next attempt resumes. More bytes than stated: the part is useless.
        if answer.total is not None and at != answer.total:
            problem = f"the file was truncated, at {at:,} of {answer.total:,} bytes"
            raise TransientError(problem, discard=at > answer.total)

    def _chunks(self, answer: Answer) -> Iterator[bytes]:
        try:
            yield from answer.chunks
        except TransientError:
            # Some servers end without a mark of TLS: then a digest shows the end.
            if answer.ends or not self.sha256:
                raise

    def _finish(self, path: Path, answer: Answer) -> FetchedFile:
        """Check a complete part, and make it the current file."""
        try:
            if answer.coding:
                content.decompress(path, self.limits.largest)
            digest = sha256_of(path)
            content.check(path, digest, self.sha256, key_of(self.remote))
            has_end = self.read_through(path) or bool(answer.coding)
        except BuildError as error:
            self.cached.discard_part()
            # A resumed file may be of two versions, and one without a length may have been cut.
            if answer.start or not answer.ends:
                raise TransientError(error.problem) from error
            raise self.remote.refused(error.problem, error.remedy) from error
        if not (answer.ends or self.sha256 or has_end):
            self.cached.discard_part()
            problem = "the server does not state the length, and a text has no end mark"
            remedy = "name a compressed copy (.gz) of it, or state its sha256 in the recipe"
            raise self.remote.refused(f"{problem}: it may be truncated", remedy)
        kept = self.cached.keep(path, digest, answer.version)
        return FetchedFile(kept, changed=True, start=answer.start)
