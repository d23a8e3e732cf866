"""What is asked of an origin and what it answers, whatever protocol it speaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """Which state of a file this is; every member is empty where it is not known.

    ``modified`` is ISO 8601 in UTC. ``validator`` is the same only as long as every byte is.
    """

    etag: str = ""
    modified: str = ""
    validator: str = ""


@dataclass(frozen=True, slots=True)
class Had:
    """What is here already: a whole file of a version, or the first bytes of one."""

    kept: Version | None = None
    start: int = 0
    validator: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The bytes of a file from ``start`` on; ``total`` counts the whole file, where it is told.

    ``ends`` says that the protocol marks the end, so that a missing ``total`` is no harm.
    ``coding`` is "gzip" where the server packed the file for the way.
    """

    version: Version
    chunks: Iterator[bytes]
    total: int | None
    start: int = 0
    ends: bool = True
    coding: str = ""


class PassingError(Exception):
    """A failure that another attempt may mend; ``discard``: but not with the bytes that are here.

    ``wait`` is how many seconds the server asks to wait.
    """

    def __init__(self, problem: str, *, wait: float | None = None, discard: bool = False) -> None:
        super().__init__(problem)
        self.problem = problem
        self.wait = wait
        self.discard = discard
