"""The rate of a download: too slow a server is given up, too fast a one is held back."""

from __future__ import annotations

import time

from geolookup_builder.remote.protocol import Limits, TransientError

#: Seconds of the highest rate that may be received at once, after a time without bytes.
_BURST = 1.0


class Pace:
    """The rate of one download, kept between ``slowest`` and ``fastest`` of its limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._since, self._then = time.monotonic(), 0
        self._last, self._due = 0, self._since

    def keep(self, received: int) -> None:
        """Wait if the ``received`` bytes came too fast; TransientError if they came too slowly."""
        if self._limits.fastest is not None:
            self._hold_back(received, self._limits.fastest)
        passed = time.monotonic() - self._since
        if passed >= self._limits.pace_over:
            self._check(received, passed)

    def _hold_back(self, received: int, fastest: int) -> None:
        """Wait until the last bytes are due at the highest rate (a leaky bucket)."""
        now = time.monotonic()
        self._due = max(self._due, now - _BURST) + (received - self._last) / fastest
        self._last = received
        if self._due > now:
            time.sleep(self._due - now)

    def _check(self, received: int, passed: float) -> None:
        """Check the mean rate over the last period, and begin the next one."""
        if (received - self._then) / passed < self._limits.slowest:
            raise TransientError(
                f"the server sends fewer than {self._limits.slowest:,} bytes a second"
            )
        self._since, self._then = time.monotonic(), received
