"""Files from other machines: https, s3 and gs addresses, downloaded into a cache of whole files.

In the order of a download: ``address`` (checked) -> ``key`` (the credential) -> ``months`` (of an
address with ``{month}``) -> ``web`` and ``buckets`` (one request) -> ``transfer`` (retries,
resuming) -> ``content`` (the expected file, with its end) -> ``cache`` (atomic replacement). All
share this module: the answer of a request, and the limits of a download.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

#: Seconds of the highest rate that may be received at once, after a time without bytes.
_BURST = 1.0
#: Doublings after which a wait is far beyond any limit, and still no float overflows.
_MOST_DOUBLINGS = 16


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a remote file; unknown members are empty.

    ``modified`` is ISO 8601 in UTC. Equal validators (a strong ETag, a sure date, a generation)
    mean equal bytes. ``month`` is the month of an address with ``{month}``.
    """

    etag: str = ""
    modified: str = ""
    validator: str = ""
    month: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The bytes of a file from ``start`` on; ``total`` is the size of the whole file if known.

    ``ends``: length or protocol show the end, so truncation is noticed.
    ``coding`` is "gzip" if the server compressed the response (Content-Encoding).
    """

    version: Version
    chunks: Iterator[bytes]
    total: int | None
    start: int = 0
    ends: bool = True
    coding: str = ""


class TransientError(Exception):
    """A failure that a retry may resolve; ``discard``: the bytes received so far are of no use.

    ``wait``: the seconds that the server asks to wait before a retry.
    """

    def __init__(self, problem: str, *, wait: float | None = None, discard: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.wait, self.discard = problem, wait, discard


def backoff_wait(failures: int, first: float, longest: float) -> float:
    """Return the seconds to wait after so many failures in a row.

    That is 0, ``first``, 2 ``first``, 4 ``first`` and so on, up to ``longest``. Clients that failed
    together must not retry together: their callers randomise the wait (jitter).
    """
    doubled = first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS)
    return min(doubled, longest) if failures else 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a download; times in seconds, sizes in bytes."""

    attempts: int = 6
    first_wait: float = 1.0  # doubled with each failure
    longest_wait: float = 120.0
    silence: float = 30.0  # timeout while the server sends nothing
    pace_over: float = 60.0  # the period over which the transfer rate is measured
    slowest: int = 1024  # the lowest rate, in bytes a second
    fastest: int | None = None  # the highest rate, in bytes a second
    largest: int = 64 << 30

    def wait(self, failures: int, retry_after: float | None) -> float | None:
        """Return the seconds to wait after that many failures; None to give up.

        ``retry_after`` is the wait that the server asks for (Retry-After).
        """
        if failures >= self.attempts or (retry_after or 0) > self.longest_wait:
            return None
        longest = backoff_wait(failures, self.first_wait, self.longest_wait)
        # Half to all of the backoff: 8 s become 4 to 8 s.
        return max(retry_after or 0, longest * random.uniform(0.5, 1))  # noqa: S311 (no secret)


class Pace:
    """The rate of one download, kept between ``slowest`` and ``fastest`` of its limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._since = self._due = time.monotonic()
        self._received = 0

    def keep(self, count: int) -> None:
        """Wait if ``count`` more bytes came too fast; TransientError if they came too slowly."""
        now, limits = time.monotonic(), self._limits
        if limits.fastest is not None:
            # When the bytes so far are due (a leaky bucket). A pause saves up a second at most.
            self._due = max(self._due, now - _BURST) + count / limits.fastest
            if self._due > now:
                time.sleep(self._due - now)
        self._received += count
        passed = time.monotonic() - self._since
        if passed < limits.pace_over:
            return
        if self._received < passed * limits.slowest:
            raise TransientError(f"the server sends fewer than {limits.slowest:,} bytes a second")
        self._since, self._received = time.monotonic(), 0
