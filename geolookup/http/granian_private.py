"""The private members of Granian that the service uses, all in one place.

``_spawn_rsgi_worker`` runs a worker; here it gets a listener with limits. Granian limits neither
the time that a client takes to read its answers nor the memory of its connection. Linux does:
TCP_USER_TIMEOUT closes a connection whose peer acknowledges nothing, or keeps its receive window
closed, for that time (RFC 5482; tcp(7)); buffers of a fixed size do not grow with unread answers.
Accepted sockets have the options of the listening one.

Example: a client pipelines requests and reads nothing. The buffers of both ends fill up after a few
hundred answers, so the worker reads no further request. After STALL_TIMEOUT the connection ends.
Without that, 20 such clients keep all of 20 connections until they hang up.

``_new_cbscheduler`` makes the object that Granian's thread gives requests to, a subclass of
``CallbackScheduler`` with the member ``_schedule_fn``. Granian's own starts a coroutine for each
request and wakes the loop for it; that costs more than a lookup. Ours adds the request to a queue,
and wakes the loop if no wakeup is pending. The loop gives all waiting requests to the gate: it
decides them in one transaction.

Example: while the loop answers 16 requests, Granian's thread queues 20 more. They are the next
batch. With a coroutine for each request, the public way, every request is a transaction and takes
four times the processor time. ASGI would show the raw bytes of all header lines, which RSGI does
not (``requests``), but takes 12 % more.
"""

from __future__ import annotations

import socket
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Self

from granian import Granian
from granian._granian import CallbackScheduler
from granian.server import mp

from geolookup.http.settings import BUFFER, STALL_TIMEOUT

if TYPE_CHECKING:
    from geolookup.http.application import Arrival
    from geolookup.http.worker import Worker


def run_worker(
    number: int, name: Any, loader: Callable[[int], Worker], sockets: Any, *arguments: Any
) -> None:
    """Serve in a worker process; ``loader`` makes the worker of a number, from 0."""

    def load() -> Worker:
        worker = loader(number - 1)

        def scheduler(loop: AbstractEventLoop, _callback: object, **_options: object) -> _Batches:
            return _Batches(loop, worker.application.answer_all)

        module: Any = mp
        module._new_cbscheduler = scheduler  # noqa: SLF001
        return worker

    (specification, holder), shared = sockets
    # On Linux each worker binds a socket of its own; elsewhere all share the one of the server.
    holder = holder or specification.build()
    with socket.socket(fileno=holder.get_fd()) as listener:
        # It does not listen yet: the handshake states the scale of the receive window.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # not on macOS
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALL_TIMEOUT)
        listener.detach()  # Granian closes it
    spawn: Any = Granian._spawn_rsgi_worker  # noqa: SLF001
    spawn(number, name, load, ((None, holder), shared), *arguments)


class _Batches(CallbackScheduler):
    """Calls ``answer`` on the loop with all requests that came; it must not raise."""

    def __new__(cls, loop: AbstractEventLoop, _answer: object) -> Self:
        """Leave out the members that run coroutines."""
        # Granian's annotations lack the parameters.
        return super().__new__(cls, loop, None, None, None, None)  # type: ignore[call-arg]

    def __init__(
        self, loop: AbstractEventLoop, answer: Callable[[Sequence[Arrival]], None]
    ) -> None:
        super().__init__()
        arrivals, is_woken = deque[Any](), False

        def add(request: Any) -> None:  # called by Granian's thread
            nonlocal is_woken
            arrivals.append((request.scope, request.proto, perf_counter_ns()))
            if not is_woken:
                is_woken = True
                loop.call_soon_threadsafe(answer_waiting)

        def answer_waiting() -> None:
            nonlocal is_woken
            # Before the queue is read: a request that comes later wakes the loop again.
            is_woken = False
            answer([arrivals.popleft() for _ in range(len(arrivals))])

        self._schedule_fn = add
