"""What a download asks of a server or bucket, what it receives, and its limits.

The same types serve every scheme (``web`` for https, ``buckets`` for s3 and gs).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a remote file; a member that is not known is empty.

    ``modified`` is ISO 8601 in UTC. Equal validators (a strong ETag, a generation) mean
    equal bytes.
    """

    etag: str = ""
    modified: str = ""
    validator: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """What the cache holds: a whole file of a version, or the first ``start`` bytes of one."""

    kept: Version | None = None
    start: int = 0
    validator: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The bytes of a file from ``start`` on; ``total`` is the size of the file where known.

    ``ends``: the protocol marks the end, so that a truncated file is noticed without ``total``.
    ``coding`` is "gzip" where the server compressed the response (Content-Encoding).
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
        self.problem = problem
        self.wait = wait
        self.discard = discard


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

    def wait(self, failures: int, asked: float | None) -> float | None:
        """Return the seconds to wait after that many failures; None to give up.

        ``asked`` is the wait that the server asks for. The wait is random within bounds, so
        that clients that failed together do not retry together.
        """
        if failures >= self.attempts or (asked or 0) > self.longest_wait:
            return None
        longest = min(self.first_wait * 2.0 ** (failures - 1), self.longest_wait)
        return max(asked or 0, longest * random.uniform(0.5, 1))  # noqa: S311 (no secret)
