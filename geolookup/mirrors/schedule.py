"""When a follower polls: the intervals are random within bounds, and shorter after a failure."""

from __future__ import annotations

import random
from dataclasses import dataclass

from geolookup.remote import backoff_wait

#: The first wait after a failure is the interval over this; it doubles with each further one.
_FIRST_PART = 10
#: Seconds: the longest wait that a mirror may ask for, unless the interval is longer.
_LONGEST_ASKED = 3600.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """An interval in seconds, and the part of it by which each wait may differ."""

    every: float
    jitter: float = 0.1

    def first(self) -> float:
        """Return the wait after the first poll that succeeded, anything up to the interval.

        Followers that start together, as after a power failure, poll apart from then on.
        """
        return random.uniform(0, self.every)  # noqa: S311 (no secret)

    def next(self) -> float:
        """Return the wait after a poll that succeeded."""
        return self.every * self._about_one()

    def retry(self, failures: int, asked: float | None) -> float:
        """Return the wait after so many failures in a row, of which the last asked for a wait.

        It is never longer than that after a success, unless the mirror asks for more.
        """
        wait = backoff_wait(failures, self.every / _FIRST_PART, self.every)
        limited = min(asked or 0.0, max(self.every, _LONGEST_ASKED))
        # Not less than what was asked for, and apart from others that were asked the same.
        return max(
            wait * self._about_one(),
            limited * random.uniform(1, 1 + self.jitter),  # noqa: S311 (no secret)
        )

    def _about_one(self) -> float:
        return random.uniform(1 - self.jitter, 1 + self.jitter)  # noqa: S311 (no secret)
