"""Files from other machines: https, s3 and gs addresses, downloaded into a cache of whole files.

In the order of a download: ``address`` (checked) -> ``key`` (the credential) -> ``web`` or
``buckets`` (one request) -> ``transfer`` (months, retries, resuming, checks) -> ``cache`` (atomic
replacement). All share this module: the answer of a request, and the limits of a download.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

#: Doublings after which a wait is far beyond any limit, and still no float overflows.
_MOST_DOUBLINGS = 16


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a remote file; unknown members are empty.

    ``etag`` is an entity tag, or the generation of an object. ``modified`` is ISO 8601 in UTC.
    ``month`` is the month of an address with ``{month}``.
    """

    etag: str = ""
    modified: str = ""
    month: str = ""

    @property
    def validator(self) -> str:
        """The tag if equal ones mean equal bytes, else empty (RFC 9110, 8.8.1: weak tags)."""
        return "" if self.etag.startswith("W/") else self.etag


@dataclass(frozen=True, slots=True)
class Answer:
    """The bytes of a file from ``start`` on; ``total`` is the size of the whole file if known.

    ``ends``: length or protocol show the end, so truncation is noticed.
    """

    version: Version
    chunks: Iterator[bytes]
    total: int | None
    start: int = 0
    ends: bool = True


class TransientError(Exception):
    """A failure that a retry may resolve; ``discard``: the bytes received so far are of no use.

    ``wait``: the seconds that the server asks to wait before a retry.
    """

    def __init__(self, problem: str, *, wait: float | None = None, discard: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.wait, self.discard = problem, wait, discard


class NoConnectionError(TransientError):
    """No connection was made; after so many ``attempts`` a retry will not help soon."""

    def __init__(self, problem: str, *, attempts: int = 3) -> None:
        super().__init__(problem)
        self.attempts = attempts


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

    def wait(self, failures: int, error: TransientError) -> float | None:
        """Return the seconds to wait after that many failures; None to give up."""
        # A name that is not found is seldom found a minute later.
        most = error.attempts if isinstance(error, NoConnectionError) else self.attempts
        if failures >= min(most, self.attempts) or (error.wait or 0) > self.longest_wait:
            return None
        longest = backoff_wait(failures, self.first_wait, self.longest_wait)
        # Half to all of the backoff: 8 s become 4 to 8 s.
        return max(error.wait or 0, longest * random.uniform(0.5, 1))  # noqa: S311 (no secret)


class Pace:
    """The rate of one download, kept between ``slowest`` and ``fastest`` of its limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._since = self._last = time.monotonic()
        self._received = 0

    def keep(self, count: int) -> None:
        """Wait if ``count`` more bytes came too fast; TransientError if they came too slowly."""
        limits = self._limits
        if limits.fastest is not None:
            due = self._last + count / limits.fastest
            time.sleep(max(0.0, due - time.monotonic()))
        self._last = time.monotonic()
        self._received += count
        passed = self._last - self._since
        if passed >= limits.pace_over:
            if self._received < passed * limits.slowest:
                problem = f"the server sends fewer than {limits.slowest:,} bytes a second"
                raise TransientError(problem)
            self._since, self._received = self._last, 0
