"""A download into the cache: retries, resuming, limits, checks, and the atomic replacement.

Publishers name a file by the month of its data (``{month}``). A new month may begin days before its
file is published, so the month before follows.
"""

from __future__ import annotations

import time
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import cast

from geolookup.errors import BuildError, DownloadError, MissingFileError
from geolookup.filesystem.atomic import output_errors
from geolookup.filesystem.signatures import END_BYTES, MMDB, PARQUET, looks_like
from geolookup.filesystem.unpacking import packing, reading_errors
from geolookup.progress import Progress
from geolookup.remote import Answer, Limits, NoConnectionError, Pace, TransientError, Version
from geolookup.remote.address import MONTH_PLACEHOLDER, Remote
from geolookup.remote.cache import CachedFile, CacheEntry, sha256_of
from geolookup.remote.key import hide_keys, key_of, mask_of

DEFAULT_LIMITS = Limits()
_HEAD = 4096
_ASK = "ask the vendor, or correct sha256 in the recipe"
_KEY_OR_PATH = "the key or the path may be wrong"
_LATER = "try again later"


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


def ask(
    remote: Remote, sha256: str, folder: Path, limits: Limits = DEFAULT_LIMITS
) -> tuple[bool, str]:
    """Ask once whether ``fetch`` would download a file; return that, and a line about it.

    The bytes of the file are not read, and the cache does not change. Raises BuildError.
    """
    current = CacheEntry(folder, remote).current(sha256)
    if not (current and sha256):
        known = current.known if current else None
        try:
            with hide_keys(mask_of([remote])), _request(remote, known, 0, limits) as answer:
                if answer is not None:
                    is_known = answer.total is not None
                    size = f"{answer.total:,} bytes" if is_known else "a file of unknown size"
                    return True, f"would download {size}"
        except TransientError as error:
            raise _failure(remote, error, error.problem) from error
    return False, str(FetchedFile(cast("CachedFile", current), changed=False))


def fetch(
    remote: Remote,
    sha256: str,
    folder: Path,
    progress: Progress,
    limits: Limits = DEFAULT_LIMITS,
    read_through: Callable[[Path], object] = lambda _path: None,
) -> FetchedFile:
    """Download the file of an address into the cache at ``folder``, unless it is current there.

    With ``sha256``, a file is current if it has that digest, and no other file is accepted.
    ``read_through`` reads a downloaded file up to its end, and raises BuildError if it is damaged.
    Raises DownloadError if the server does not deliver the file, BuildError if the file is refused;
    the cached file then stays.
    """
    cached, failures = CacheEntry(folder, remote), 0
    with hide_keys(mask_of([remote])), cached.lock():
        current = cached.current(sha256)
        if current is not None and sha256:
            return FetchedFile(current, changed=False)
        transfer = _Transfer(remote, sha256, cached, current, progress, limits, read_through)
        while True:
            try:
                return transfer.attempt()
            except TransientError as error:
                if error.discard or cached.part() is None:
                    cached.discard_part()
                failures += 1
                wait = limits.wait(failures, error)
                if wait is None:
                    asked = f", and to wait for {error.wait:,.0f} s" if error.wait else ""
                    times = f"tried {failures} times" if failures > 1 else "tried once"
                    raise _failure(remote, error, f"{error.problem}{asked} ({times})") from error
                if not isinstance(error, NoConnectionError):  # its waits are short
                    progress.note(f"{error.problem}; retry in {wait:.1f} s")
                time.sleep(wait)


def candidates(known: str, day: date) -> tuple[str, ...]:
    """Return the months to request, the newest first; ``known`` is that of the cached file.

    An older file never replaces the cached one: on 2026-12-02 with the file of 2026-12 cached, only
    2026-12 is requested, also if the publisher has withdrawn it. Without a cached file, 2026-11
    follows.
    """
    before = day.replace(day=1) - timedelta(days=1)
    months = (f"{date:%Y-%m}" for date in (day, before))
    return tuple(month for month in months if month >= known) or (known,)


def today() -> date:
    """Return the day in UTC."""
    return datetime.now(UTC).date()


@contextmanager
def _request(
    remote: Remote, known: Version | None, start: int, limits: Limits
) -> Iterator[Answer | None]:
    """Yield the answer for the newest month that the server has; None if it is ``known``."""
    if remote.scheme in ("s3", "gs"):
        from geolookup.remote.buckets import request  # it loads Arrow
    else:
        from geolookup.remote.web import request
    has_months = MONTH_PLACEHOLDER in remote.uri
    months = candidates(known.month if known else "", today()) if has_months else ("",)
    with ExitStack() as stack:
        for month in months:
            # Conditions and ranges are of the same address only.
            same = replace(known, month="") if known and known.month == month else None
            one = request(remote.of_month(month), same, start if same else 0, limits)
            try:
                answer = stack.enter_context(one)
                break
            except MissingFileError:
                if month == months[-1]:
                    raise
        yield answer and replace(answer, version=replace(answer.version, month=month))


def _failure(remote: Remote, error: TransientError, problem: str) -> DownloadError:
    remedy = f"check the network, or {_LATER}" if isinstance(error, NoConnectionError) else _LATER
    return remote.failed(problem, remedy, error.wait)


@dataclass(frozen=True, slots=True)
class _Transfer:
    """One download; ``former`` is the file that it replaces if it has changed."""

    remote: Remote
    sha256: str
    cached: CacheEntry
    former: CachedFile | None
    progress: Progress
    limits: Limits
    read_through: Callable[[Path], object]

    def attempt(self) -> FetchedFile:
        """Try once; TransientError if a retry may help."""
        # 3 MB of 10 are there: bytes from 3,000,000 on are requested, with If-Range. Status 206
        # continues the part, 200 begins anew.
        part, former = self.cached.part(), self.former
        start = part.path.stat().st_size if part else 0
        known = part.version if part and start else former.known if former else None
        with _request(self.remote, known, start, self.limits) as answer:
            if answer is None:
                return FetchedFile(cast("CachedFile", former), changed=False)
            if not (answer.ends or self.sha256):
                problem = "the server does not state the length: the file may be truncated"
                raise self.remote.refused(problem, "state its sha256 in the recipe")
            if part and answer.start:
                self._check_same(part, answer)
                path = part.path
            else:
                path = self.cached.begin(answer.total, answer.version)
            try:
                self._receive(path, answer)
                digest = self._check(path)
            except BuildError as error:
                self.cached.discard_part()
                if answer.start:  # the file may be of two versions
                    raise TransientError(error.problem) from error
                raise self.remote.refused(error.problem, error.remedy) from error
        kept = self.cached.keep(path, digest, answer.version)
        return FetchedFile(kept, changed=True, start=answer.start)

    def _check_same(self, part: CachedFile, answer: Answer) -> None:
        """Raise TransientError if an answer continues another version than the part's."""
        # A 206 may leave out the ETag; then the date is compared, and always the total size.
        old, new = part.version, answer.version
        is_same = new.etag == old.etag if new.etag else new.modified in ("", old.modified)
        if not is_same or answer.total != part.bytes:
            raise TransientError("the file changed on the server", discard=True)

    def _receive(self, path: Path, answer: Answer) -> None:
        at, pace, largest = answer.start, Pace(self.limits), self.limits.largest
        with output_errors(path), path.open("ab") as file:
            for chunk in answer.chunks:
                at += len(chunk)
                if max(at, answer.total or 0) > largest:
                    problem = f"the file is larger than {largest:,} bytes"
                    raise self.remote.refused(problem, "download it, and name the local file")
                file.write(chunk)
                self.progress.bytes(at, answer.total)
                pace.keep(len(chunk))
        # Fewer bytes: the next attempt resumes. More bytes than stated: the part is useless.
        if answer.total is not None and at != answer.total:
            problem = f"the file was truncated, at {at:,} of {answer.total:,} bytes"
            raise TransientError(problem, discard=at > answer.total)

    def _check(self, path: Path) -> str:
        """Return the digest of a complete part; BuildError if content and name do not match."""
        digest = sha256_of(path)
        with reading_errors(str(path)), path.open("rb") as file:
            head = file.read(_HEAD)
            file.seek(max(0, path.stat().st_size - END_BYTES))
            tail = file.read()
        name, kind, key = path.name.lower(), looks_like(head, tail), key_of(self.remote)
        is_page = head.removeprefix(BOM_UTF8).lstrip().startswith(b"<")  # no table begins so
        has_key = key is not None and key.is_in(head.decode("latin-1"))
        # "list.csv.gz" that is plain text is refused, "list.csv" that is gzip is not.
        is_known = packing(path) or name.endswith((*PARQUET.endings, *MMDB.endings))
        is_other = is_known and (kind is None or not name.endswith(kind.endings))
        is_cut = kind is PARQUET and not tail.endswith(b"PAR1")
        wrong = self.sha256 not in ("", digest)
        for is_fault, problem, remedy in (
            (wrong, f"the SHA-256 of the file is {digest}, but {self.sha256} is expected", _ASK),
            (not head, "the downloaded file is empty", _ASK),
            (is_page, "the server answered with an HTML or XML page", _KEY_OR_PATH),
            (has_key, "the server answered with the key in the file", _KEY_OR_PATH),
            (is_other or is_cut, f"the content is not a whole {path.suffix} file", _KEY_OR_PATH),
        ):
            if is_fault:
                raise BuildError(path, problem, remedy=remedy)
        self.read_through(path)
        return digest
