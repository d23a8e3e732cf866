"""``geolookup follow``: one poll of a mirror, and polls again and again, whatever fails."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from geolookup.errors import GeoLookupError, MirrorError, OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock, hold_lock_if_free
from geolookup.mirrors.child import install_in_child
from geolookup.mirrors.index import is_past
from geolookup.mirrors.polling import (
    CURRENT,
    HELD,
    UPDATED,
    Polling,
    PollResult,
    Status,
    current_in,
    read_status,
    write_status,
)
from geolookup.mirrors.source import FOLDER, Source
from geolookup.store import pointer
from geolookup.store.changing import changing

#: The origin of an installed generation, by ``PollResult.kind``.
_ORIGINS = {
    "stored": "which was in the store",
    "delta": "from a delta of {0.bytes:,} bytes",
    "pack": "from a pack of {0.bytes:,} bytes",
}
Install = Callable[[Source, Path, Status], PollResult]
Tell = Callable[[str], None]


@dataclass(slots=True)
class Follower:
    """A store that follows a mirror; ``tell`` gets lines of news, ``warn`` lines of failures."""

    source: Source
    polling: Polling
    tell: Tell
    warn: Tell
    _succeeded: bool = field(default=False, init=False)
    _failures: int = field(default=0, init=False)  # in a row
    _warned: str = field(default="", init=False)

    def run(self) -> NoReturn:
        """Poll for ever."""
        while True:
            time.sleep(self.step())

    def step(self) -> float:
        """Poll once; return the seconds until the next poll."""
        try:
            polled = poll(self.source, install_in_child, self.tell)
        except (GeoLookupError, OSError, MemoryError) as error:
            return self._after_failure(error)
        return self._after_success(polled)

    def _after_failure(self, error: Exception) -> float:
        self._failures += 1
        retry_after = error.wait if isinstance(error, MirrorError) else None
        wait = self.polling.retry(self._failures, retry_after)
        text = str(error) or type(error).__name__
        if text != self._warned:  # one line for each problem, not for each poll
            self._warned = text
            self.warn(f"{text}; the next poll is in {wait:.0f} s")
        return wait

    def _after_success(self, polled: PollResult) -> float:
        if self._failures:
            self.tell("the mirror can be followed again")
        self._failures, self._warned = 0, ""
        is_first, self._succeeded = not self._succeeded, True
        if line := _news(polled) or (is_first and f"generation {polled.generation} is current"):
            self.tell(line)
        return self.polling.first() if is_first else self.polling.next()


def _news(polled: PollResult) -> str | None:
    """Return a line about a poll that changed the generation, or would have; None for others."""
    if polled.state == UPDATED:
        origin = _ORIGINS[polled.kind].format(polled)
        return f"generation {polled.generation} is current, {origin}"
    if polled.state == HELD:
        return f"generation {polled.generation} was chosen here; the mirror's is not installed"
    return None


def poll(
    source: Source, install: Install | None = None, tell: Tell = lambda _text: None
) -> PollResult:
    """Bring a store to the current generation of a mirror; return the outcome.

    The store is created if it is missing. ``install`` installs the generation of a changed index;
    None: in this process. Another poll of the same store is waited for. Raises MirrorError if
    the mirror does not answer, or has nothing that the store accepts, DatasetError for an index,
    an archive or a store that is damaged or refused, OutputError for a store that cannot be
    written. The store then keeps its generation, and STORE/follow.json has the reason.
    """
    if not (source.store / pointer.GENERATIONS).is_dir():
        with changing(source.store, make=True):
            pass
    with _alone(source.store, tell):
        before = replace(read_status(source.store), url=source.safe_url)
        try:
            polled, after = _poll(source, before, install or _installed_here)
        except (GeoLookupError, OSError) as error:
            with suppress(OutputError):  # the disk may be full: the first failure is the cause
                write_status(source.store, before.after_failure(str(error)))
            raise
        write_status(source.store, after)
    return polled


def _installed_here(source: Source, index_file: Path, before: Status) -> PollResult:
    from geolookup.mirrors.install import install  # imports Arrow

    return install(source, index_file, before)


@contextmanager
def _alone(store: Path, tell: Tell) -> Iterator[None]:
    """Hold the lock of polls of a store for the block; other polls wait."""
    lock = store / FOLDER / "lock"
    with ExitStack() as stack:
        with atomic.output_errors(lock):
            lock.parent.mkdir(exist_ok=True)
            is_free = stack.enter_context(hold_lock_if_free(lock))
        # First without waiting, in order to tell; then the lock is waited for.
        if not is_free:
            tell(f"another process polls for {store}; waiting until it has finished")
            with atomic.output_errors(lock):
                stack.enter_context(hold_lock(lock))
        yield


def _poll(source: Source, before: Status, install: Install) -> tuple[PollResult, Status]:
    """Poll; return the outcome, and the state of the follower after it."""
    path, fetched = source.index()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    current = current_in(source.store)
    # The same bytes as those that were followed last: no signature needs to be checked again.
    if current and _is_followed(before, digest):
        return PollResult(CURRENT, current), before.after_success(
            CURRENT, generation=current, bytes=before.bytes + fetched
        )
    polled = _install_index(source, path, before, install)
    return polled, before.after_success(
        polled.state,
        index=digest,
        serial=polled.serial,
        expires_at=polled.expires_at,
        followed=polled.followed,
        generation=polled.generation,
        bytes=before.bytes + fetched + polled.bytes,
    )


def _install_index(source: Source, path: Path, before: Status, install: Install) -> PollResult:
    """Install the generation of a changed index; forget the index if that fails.

    With the ETag of a refused index, a server could answer "not modified" in every later poll.
    """
    try:
        return install(source, path, before)
    except BaseException:
        source.forget_index()
        raise


def _is_followed(before: Status, digest: str) -> bool:
    """Return whether an index was followed before, and has not expired since."""
    has_expired = before.expires_at != "" and is_past(before.expires_at, datetime.now(UTC))
    return before.index == digest and not has_expired
