"""One poll of a mirror: whether its index changed, and if so, what it says is installed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from geolookup.errors import GeoLookupError, OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.lock import locked, locked_if_free
from geolookup.mirrors import status
from geolookup.mirrors.index import is_past
from geolookup.mirrors.request import Polled, Request, current_in
from geolookup.mirrors.source import FOLDER, Source
from geolookup.mirrors.status import CURRENT, Status
from geolookup.store import pointer
from geolookup.store.changing import changing

Install = Callable[[Request, Path, Status], Polled]
Tell = Callable[[str], None]


def poll(
    request: Request, install: Install | None = None, tell: Tell = lambda _text: None
) -> Polled:
    """Bring a store to the current generation of a mirror; return what was done.

    The store is created if it is missing. ``install`` does what an index that changed asks for;
    None: in this process. Another poll of the same store is waited for. Raises MirrorError where
    the mirror does not answer, or has nothing that the store may take, DatasetError for an index,
    an archive or a store that is damaged or refused, OutputError for a store that cannot be
    written. The store then keeps its generation, and STORE/follow.json says why.
    """
    if not (request.store / pointer.GENERATIONS).is_dir():
        with changing(request.store, make=True):
            pass
    with _alone(request.store, tell):
        before = replace(status.read(request.store), url=source_of(request).shown)
        try:
            polled, after = _polled(request, before, install or _installed_here)
        except (GeoLookupError, OSError) as error:
            with suppress(OutputError):  # the disk may be full: that is not what failed first
                status.write(request.store, before.after_failure(str(error)))
            raise
        status.write(request.store, after)
    return polled


def _installed_here(request: Request, index_file: Path, before: Status) -> Polled:
    from geolookup.mirrors.install import install  # imports Arrow

    return install(request, index_file, before)


@contextmanager
def _alone(store: Path, tell: Tell) -> Iterator[None]:
    """Hold the lock of polls of a store for the block; other polls wait."""
    lock = store / FOLDER / "lock"
    with ExitStack() as stack:
        with atomic.output_errors(lock):
            lock.parent.mkdir(exist_ok=True)
            is_free = stack.enter_context(locked_if_free(lock))
        if not is_free:
            tell(f"another process polls for {store}; waiting until it has finished")
            with atomic.output_errors(lock):
                stack.enter_context(locked(lock))
        yield


def source_of(request: Request) -> Source:
    """Return the mirror that a store is asked to follow."""
    return Source(request.url, request.store, request.budget)


def _polled(request: Request, before: Status, install: Install) -> tuple[Polled, Status]:
    """Poll; return what was done, and the state of the follower after it."""
    path, fetched = source_of(request).index()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    current = current_in(request.store)
    if current and _is_followed(before, digest):
        return Polled(CURRENT, current), before.after_success(
            CURRENT, generation=current, bytes=before.bytes + fetched
        )
    polled = install(request, path, before)
    return polled, before.after_success(
        polled.state,
        index=digest,
        serial=polled.serial,
        expires_at=polled.expires_at,
        followed=polled.followed,
        generation=polled.generation,
        bytes=before.bytes + fetched + polled.bytes,
    )


def _is_followed(before: Status, digest: str) -> bool:
    """Return whether an index was followed before, and has not expired since."""
    has_expired = before.expires_at != "" and is_past(before.expires_at, datetime.now(UTC))
    return before.index == digest and not has_expired
