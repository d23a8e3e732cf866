"""The options of polls of a mirror, the result of one, and the state after it.

STORE/follow.json has the state. The follower writes it after each poll; ``geolookup serve`` reads
it for its probes and metrics. A missing or damaged file counts as a follower that has not polled.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from geolookup.contract.gregorian import read_timestamp, timestamp
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FILE_MODE
from geolookup.remote import backoff_wait
from geolookup.store import pointer

STATUS = "follow.json"
#: The results of a poll, for the counts.
CURRENT, UPDATED, HELD, FAILED = RESULTS = ("current", "updated", "held", "failed")
_FORMAT, _VERSION = "geolookup-follow", 1
#: The first wait after a failure is the interval over this; it doubles with each further one.
#: every 300 s: waits after failures of 30, 60, 120, 240, 300, 300 ... s, and a jitter.
_FIRST_PART = 10
#: The default jitter is the interval over this.
_JITTER_PART = 10
#: Seconds: the longest wait that a mirror may ask for, unless the interval is longer.
_LONGEST_ASKED = 3600.0


@dataclass(frozen=True, slots=True)
class Polling:
    """How a follower polls: the options of ``geolookup follow``, and their defaults.

    ``every`` is the interval in seconds. A random delay of up to ``jitter`` seconds follows each;
    None: a tenth of the interval. ``limit_rate`` is the maximum rate of a download in bytes
    a second; None: no limit. ``keep`` is the number of generations to keep, ``keep_for`` the days,
    or a text such as "1y", for which they are kept; both None: two generations.
    """

    every: float = 300.0
    jitter: float | None = None
    limit_rate: int | None = None
    keep: int | None = None
    keep_for: float | str | None = None

    def first(self) -> float:
        """Return the wait after the first poll that succeeded, anything up to the interval.

        Followers that start together, as after a power failure, poll apart from then on.
        """
        return random.uniform(0, self.every)  # noqa: S311 (no secret)

    def next(self) -> float:
        """Return the wait after a poll that succeeded."""
        return self._with_jitter(self.every)

    def retry(self, failures: int, retry_after: float | None) -> float:
        """Return the wait after ``failures`` in a row; ``retry_after`` is the mirror's Retry-After.

        It is never longer than after a success, unless the mirror asks for more.
        """
        wait = backoff_wait(failures, self.every / _FIRST_PART, self.every)
        limited = min(retry_after or 0.0, max(self.every, _LONGEST_ASKED))
        return self._with_jitter(max(wait, limited))

    def _with_jitter(self, wait: float) -> float:
        """Return a wait with its jitter, in proportion to the wait.

        every 300 s, jitter 30 s: 300 s become 300 to 330 s, and 60 s after a failure 60 to 66 s.
        """
        jitter = self.every / _JITTER_PART if self.jitter is None else self.jitter
        return wait * random.uniform(1, 1 + jitter / self.every)  # noqa: S311 (no secret)


@dataclass(frozen=True, slots=True)
class PollResult:
    """The outcome of one poll.

    ``state`` is one of ``RESULTS`` but "failed": "current" (the store has the generation of the
    mirror), "updated", or "held" (a rollback or a publication here stands until the mirror
    publishes again). ``generation`` is current in the store. ``kind`` is the origin of an
    installation: "stored" (the store had it), "delta" or "pack", of so many ``bytes``; empty
    without one. The other members are members of the index, as in ``Status``.
    """

    state: str
    generation: str
    bytes: int = 0
    kind: str = ""
    serial: int = 0
    expires_at: str = ""
    followed: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a follower after a poll. Times are ISO 8601 in UTC, empty for never.

    ``index`` is the SHA-256 of the index that was followed last, ``serial`` and ``expires_at``
    are its own. ``followed`` is its current generation, and when the mirror published that.
    ``failures`` counts the polls that failed since the last one that succeeded.
    """

    url: str = ""
    index: str = ""
    serial: int = 0
    expires_at: str = ""
    followed: str = ""
    generation: str = ""
    polled_at: str = ""
    succeeded_at: str = ""
    failures: int = 0
    problem: str = ""
    polls: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 0

    def after_failure(self, problem: str) -> Status:
        """Return the state after a poll that failed."""
        counted = self._count(FAILED)
        return replace(counted, failures=self.failures + 1, problem=problem)

    def after_success(self, result: str, **changes: Any) -> Status:
        """Return the state after a poll with a result of ``RESULTS``, and members that changed."""
        counted = self._count(result)
        now = counted.polled_at
        return replace(counted, failures=0, problem="", succeeded_at=now, **changes)

    def _count(self, result: str) -> Status:
        polls = {**self.polls, result: self.polls.get(result, 0) + 1}
        return replace(self, polls=polls, polled_at=timestamp())


def read_status(store: str | os.PathLike[str]) -> Status:
    """Return the state of the follower of a store; without one, the state before any poll."""
    try:
        document = json.loads(Path(store, STATUS).read_bytes())
        is_ours = document.pop("format") == _FORMAT and document.pop("format_version") == _VERSION
        return _status(document) if is_ours else Status()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Status()


def _status(members: dict[str, Any]) -> Status:
    """Return the state that a file states; TypeError or ValueError if a member is malformed."""
    status = Status(**members)
    for member in fields(Status):
        value = getattr(status, member.name)
        # The defaults are all of the type of their member.
        if member.name != "polls" and type(value) is not type(member.default):
            raise TypeError
    for time in filter(None, (status.polled_at, status.succeeded_at, status.expires_at)):
        read_timestamp(time)
    if not all(type(count) is int for count in status.polls.values()):
        raise TypeError
    return status


def write_status(store: Path, status: Status) -> None:
    """Replace the file, atomically; OutputError if it cannot be written."""
    document = {"format": _FORMAT, "format_version": _VERSION, **asdict(status)}
    with atomic.staged_file(store / STATUS, FILE_MODE) as fresh:
        fresh.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def current_in(store: Path) -> str:
    """Return the current generation of a store; an empty text if it has none, or lost its files."""
    not_withdrawn = pointer.not_withdrawn(pointer.read(store))
    if not not_withdrawn or not pointer.is_unpacked(store, not_withdrawn[-1].generation):
        return ""
    return not_withdrawn[-1].generation
