"""How long, how often and how much: what bounds a download."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a download; times in seconds, sizes in bytes."""

    attempts: int = 6
    first_wait: float = 1.0  # doubled with each failure
    longest_wait: float = 120.0
    silence: float = 30.0  # of a server that sends nothing
    pace_over: float = 60.0  # a download is too slow that brings, over so long,
    slowest: int = 1024  # fewer bytes a second than this
    largest: int = 64 << 30

    def wait(self, failures: int, asked: float | None) -> float | None:
        """Return how long to wait after so many failures; None where it is time to give up.

        ``asked`` is what the server asks for. Waits are cut at random, so that clients that
        failed together do not come back together.
        """
        if failures >= self.attempts or (asked or 0) > self.longest_wait:
            return None
        longest = min(self.first_wait * 2.0 ** (failures - 1), self.longest_wait)
        return max(asked or 0, longest * random.uniform(0.5, 1))  # noqa: S311 (no secret)
