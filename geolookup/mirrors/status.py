"""STORE/follow.json: what a follower knows of its mirror, and how its polls went.

The follower writes it after each poll; ``geolookup serve`` reads it for its probes and metrics.
A file that is missing or damaged is that of a follower that has not polled yet.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from geolookup.filesystem import atomic

STATUS = "follow.json"
#: The results of a poll, as they are counted.
CURRENT, UPDATED, HELD, FAILED = RESULTS = ("current", "updated", "held", "failed")
_FORMAT, _VERSION = "geolookup-follow", 1


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
        counted = self._counted(FAILED)
        return replace(counted, failures=self.failures + 1, problem=problem)

    def after_success(self, result: str, **changes: Any) -> Status:
        """Return the state after a poll with a result of ``RESULTS``, and members that changed."""
        counted = self._counted(result)
        now = counted.polled_at
        return replace(counted, failures=0, problem="", succeeded_at=now, **changes)

    def _counted(self, result: str) -> Status:
        polls = {**self.polls, result: self.polls.get(result, 0) + 1}
        return replace(self, polls=polls, polled_at=datetime.now(UTC).isoformat("T", "seconds"))


def read(store: str | os.PathLike[str]) -> Status:
    """Return the state of the follower of a store; of one that has not polled if there is none."""
    try:
        stated = json.loads(Path(store, STATUS).read_bytes())
        is_ours = stated.pop("format") == _FORMAT and stated.pop("format_version") == _VERSION
        return _status(stated) if is_ours else Status()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Status()


def _status(stated: dict[str, Any]) -> Status:
    """Return the state that a file states; TypeError or ValueError if a member is malformed."""
    status = Status(**stated)
    for each in fields(Status):
        found = getattr(status, each.name)
        if each.name != "polls" and type(found) is not type(each.default):
            raise TypeError
    for time in filter(None, (status.polled_at, status.succeeded_at, status.expires_at)):
        if datetime.fromisoformat(time).tzinfo is None:
            raise ValueError
    if not all(type(each) is int for each in status.polls.values()):
        raise TypeError
    return status


def write(store: Path, status: Status) -> None:
    """Replace the file, atomically; OutputError if it cannot be written."""
    stated = {"format": _FORMAT, "format_version": _VERSION, **asdict(status)}
    with atomic.staged_file(store / STATUS) as fresh:
        fresh.write_text(json.dumps(stated, indent=1) + "\n", encoding="utf-8")
