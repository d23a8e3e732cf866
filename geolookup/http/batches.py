"""Requests in batches: Granian's thread queues them, the event loop answers all that wait.

Strategy: Granian starts a coroutine for each request and wakes the loop for it. That costs more
than a lookup. Here its thread adds the request to a queue, and wakes the loop if no wakeup is
pending. The loop gives all waiting requests to the gate: it decides them in one transaction.

Example: while the loop answers 16 requests, Granian's thread queues 20 more. They are the next
batch.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter_ns
from typing import Any, Protocol, Self

from granian._granian import CallbackScheduler


class Headers(Protocol):
    """The headers of a request in Granian's interface RSGI.

    Values with bytes beyond ASCII are left out, but their names are not.
    """

    def __contains__(self, name: str) -> bool: ...

    def get(self, name: str) -> str | None:
        """Return the value of the first line of a name; None if it is left out."""

    def __iter__(self) -> Iterator[str]:
        """Iterate over all names, each once, in lower case."""

    def get_all(self, name: str) -> list[str]:
        """Return the values of all lines of a name."""

    def items(self) -> list[tuple[str, str]]:
        """Return all lines; names are in lower case."""


class Scope(Protocol):
    """A request in RSGI. The path is decoded, the query is not; ``client`` has the port too."""

    headers: Headers
    http_version: str
    method: str
    path: str
    query_string: str
    client: str


class Channel(Protocol):
    """The way of one answer in RSGI; after the client has gone it ignores the answer."""

    def response_bytes(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        """Send an answer with a body."""

    def response_empty(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Send an answer without a body."""


#: A request: its scope, its channel, and when it came (``perf_counter_ns``).
Arrival = tuple[Scope, Channel, int]


class Batches(CallbackScheduler):
    """Calls ``answer`` on the loop with all requests that came; it must not raise.

    Granian's scheduler with our ``_schedule_fn``: its thread calls that for each request.
    """

    def __new__(cls, loop: AbstractEventLoop, _answer: object) -> Self:
        """Leave out the members that run coroutines."""
        # Granian's annotations lack the parameters.
        return super().__new__(cls, loop, None, None, None, None)  # type: ignore[call-arg]

    def __init__(
        self, loop: AbstractEventLoop, answer: Callable[[Sequence[Arrival]], None]
    ) -> None:
        super().__init__()
        self._schedule_fn = _Queue(loop, answer).add


class _Queue:
    """The requests that came since the last batch."""

    def __init__(
        self, loop: AbstractEventLoop, answer: Callable[[Sequence[Arrival]], None]
    ) -> None:
        self._loop, self._answer = loop, answer
        self._arrivals = deque[Arrival]()
        self._is_woken = False

    def add(self, request: Any) -> None:
        """Add a request; called by Granian's thread."""
        self._arrivals.append((request.scope, request.proto, perf_counter_ns()))
        if not self._is_woken:
            self._is_woken = True
            self._loop.call_soon_threadsafe(self._answer_all)

    def _answer_all(self) -> None:
        # Before the queue is read: a request that comes later wakes the loop again.
        self._is_woken = False
        arrivals = self._arrivals
        self._answer([arrivals.popleft() for _ in range(len(arrivals))])
