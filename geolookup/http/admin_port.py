"""The port of health and metrics: short answers to GET, in one thread of the server process.

Strategy: an event loop: slow or silent clients cost a few kilobytes, and no thread.
A connection ends after DEADLINE seconds. If more than CONNECTIONS are open, the oldest is closed. A
probe sends its request at once and gets an answer, even beside many other connections.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from http import HTTPStatus
from threading import Event, Thread
from types import TracebackType
from typing import Any, NamedTuple

from geolookup.errors import SettingsError
from geolookup.http.settings import HEAD_LIMIT, HEAD_TIMEOUT

#: Seconds from the start of a connection to its end.
DEADLINE = HEAD_TIMEOUT / 1_000
#: Open connections.
CONNECTIONS = 256
PLAIN = "text/plain; charset=utf-8"


class Page(NamedTuple):
    """One answer."""

    status: int
    content_type: str
    text: str


_MALFORMED, _NOT_ALLOWED = Page(400, PLAIN, ""), Page(405, PLAIN, "")


class AdminPort:
    """The port; a context manager. Raises SettingsError if it cannot listen."""

    def __init__(self, address: str, page: Callable[[str], Page]) -> None:
        self._page = page
        self._listener = _listener(address)
        self._open: dict[Any, None] = {}
        self._loop, self._stop, self._started = asyncio.new_event_loop(), asyncio.Event(), Event()
        self._thread = Thread(target=self._run, name="geolookup-admin", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()
        self._started.wait()

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._answer, sock=self._listener, limit=HEAD_LIMIT)
        self._started.set()
        await self._stop.wait()
        server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._open[task] = None
        if len(self._open) > CONNECTIONS:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.cancel()
        try:
            async with asyncio.timeout(DEADLINE):
                writer.write(self._response(await reader.readuntil(b"\r\n\r\n")))
                writer.close()
                await writer.wait_closed()  # when the answer is sent
        # Cancelled: by a newer connection, or because the server ends.
        except (OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            self._open.pop(task, None)
            writer.transport.abort()

    def _response(self, head: bytes) -> bytes:
        method, _, line = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
        target, _, version = line.partition(" ")
        if not version.startswith("HTTP/1."):
            page = _MALFORMED
        elif method not in {"GET", "HEAD"}:
            page = _NOT_ALLOWED
        else:
            page = self._page(target)
        body = page.text.encode()
        lines = (
            f"HTTP/1.1 {page.status} {HTTPStatus(page.status).phrase}",
            *(f"Content-Type: {page.content_type}", f"Content-Length: {len(body)}"),
            *("Connection: close", "", ""),
        )
        return "\r\n".join(lines).encode() + (b"" if method == "HEAD" else body)


def _listener(address: str) -> socket.socket:
    host, port = _host_and_port(address)
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(CONNECTIONS)
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"--admin {address}: {error.strerror or error}; choose another port"
        ) from None
    return listener


def _host_and_port(address: str) -> tuple[str, int]:
    # rpartition: "[::]:9090" has colons in its host.
    host, _, port = address.rpartition(":")
    if not host or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise SettingsError(
            f"--admin {address!r}: write HOST:PORT, like 127.0.0.1:9090 or [::]:9090"
        )
    return host.strip("[]"), int(port)
