"""The listening socket of a worker, with limits that each accepted connection inherits.

Strategy: Granian limits neither the time that a client takes to read its answers nor the memory of
its connection. Linux does: TCP_USER_TIMEOUT closes a connection whose peer acknowledges nothing, or
keeps its receive window closed, for that time (RFC 5482; tcp(7)); buffers of a fixed size do not
grow with the unread answers. Accepted sockets have the options of the listening one.

Example: a client pipelines requests and reads nothing. The buffers of both ends fill up after a few
hundred answers, so the worker reads no further request. After STALL_TIMEOUT the connection ends.
"""

from __future__ import annotations

import socket
from typing import Any

from geolookup.http.settings import BUFFER, STALL_TIMEOUT


def with_limits(spec: Any, holder: Any) -> Any:
    """Return Granian's holder of a bound socket with limits; None: ``spec`` binds one.

    On Linux each worker binds a socket of its own; elsewhere all share the one in ``holder``.
    """
    holder = holder or spec.build()
    listener = socket.socket(fileno=holder.get_fd())
    try:
        limit(listener)
    finally:
        listener.detach()  # Granian closes it
    return holder


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
