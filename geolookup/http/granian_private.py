"""The private members of Granian that the service uses, all in one place.

``_spawn_rsgi_worker`` runs a worker; it is called with a listener that has limits. Granian limits
neither the time that a client takes to read its answers nor the memory of its connection. Linux
does: TCP_USER_TIMEOUT closes a connection whose peer acknowledges nothing, or keeps its receive
window closed, for that time (RFC 5482; tcp(7)); buffers of a fixed size do not grow with the unread
answers. Accepted sockets have the options of the listening one.

Example: a client pipelines requests and reads nothing. The buffers of both ends fill up after a few
hundred answers, so the worker reads no further request. After STALL_TIMEOUT the connection ends.
Without the limit, 20 such clients held all of 20 connections for good.

``_new_cbscheduler`` makes the object that Granian gives requests to; ``Batches`` takes its place.
"""

from __future__ import annotations

import socket
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Any

from granian import Granian
from granian.server import mp

from geolookup.http.application import Application
from geolookup.http.batches import Batches
from geolookup.http.settings import BUFFER, STALL_TIMEOUT


def run_worker(
    number: int, name: Any, loader: Callable[[int], Application], sockets: Any, *arguments: Any
) -> None:
    """Serve in a worker process; ``loader`` makes the application of a worker number, from 0."""

    def load() -> Application:
        application = loader(number - 1)

        def scheduler(loop: AbstractEventLoop, _callback: object, **_options: object) -> Batches:
            return Batches(loop, application.answer_all)

        module: Any = mp
        module._new_cbscheduler = scheduler  # noqa: SLF001
        return application

    (specification, holder), shared = sockets
    # On Linux each worker binds a socket of its own; elsewhere all share the one of the server.
    holder = holder or specification.build()
    with socket.socket(fileno=holder.get_fd()) as listener:
        limit(listener)
        listener.detach()  # Granian closes it
    spawn: Any = Granian._spawn_rsgi_worker  # noqa: SLF001
    spawn(number, name, load, ((None, holder), shared), *arguments)


def limit(listener: socket.socket, *, stall: int = STALL_TIMEOUT) -> None:
    """Limit the connections that a socket will accept; it must not listen yet.

    ``stall``: milliseconds until the connection of a client that does not read is closed. macOS
    has no such option.
    """
    # Before listen(): the handshake states the scale of the receive window.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, stall)
