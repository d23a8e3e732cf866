"""The port of health and metrics, for probes and Prometheus, in one thread of the server process.

``/livez`` is 200 while the server runs and replaces silent workers. ``/readyz`` is 200 if a worker
accepts requests and can use the account store, and every worker has a recent beat. Both name silent
workers. ``/metrics`` shows the counters and the last update of the store.

Strategy: an event loop: slow or silent clients cost a few kilobytes, and no thread. A connection
ends after DEADLINE seconds. If more than CONNECTIONS are open, the oldest is closed. A probe sends
its request at once and gets an answer, even beside many other connections.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from http import HTTPStatus
from threading import Thread

from geolookup.errors import SettingsError
from geolookup.http.checks import bound
from geolookup.http.settings import HEAD_LIMIT
from geolookup.http.shared import Shared
from geolookup.http.watchdog import LATE, LOST, Watchdog
from geolookup.store import paths
from geolookup.updates.state import read_state

#: Seconds from the start of a connection to its end.
DEADLINE = 5.0
#: Open connections.
CONNECTIONS = 256
#: Of every page: of Prometheus' text format.
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Admin:
    """The port at ``HOST:PORT``. Raises SettingsError if it cannot listen."""

    def __init__(
        self, address: str, shared: Shared, watchdog: Watchdog, dataset: str | None
    ) -> None:
        self._shared, self._watchdog, self._dataset = shared, watchdog, dataset
        # The host may have colons: "[::]:9090".
        match = re.fullmatch(r"(\[.+\]|[^\[\]]+):([0-9]{1,5})", address)
        if match is None or int(match[2]) > 65535:
            raise SettingsError(
                f"--admin {address!r}: write HOST:PORT, like 127.0.0.1:9090 or [::]:9090"
            )
        self._listener = bound(match[1].strip("[]"), int(match[2]), f"--admin {address}")
        self._listener.listen(CONNECTIONS)
        self._open: dict[asyncio.StreamWriter, None] = {}  # the oldest first
        # A daemon: it answers until the process ends.
        Thread(
            target=asyncio.run, args=[self._serve()], name="geolookup-admin", daemon=True
        ).start()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._answer, sock=self._listener, limit=HEAD_LIMIT)
        await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open[writer] = None
        if len(self._open) > CONNECTIONS:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.transport.abort()
        # OSError: also the timeout. EOFError: also a connection that was closed for a newer one.
        with suppress(OSError, EOFError, asyncio.LimitOverrunError):
            async with asyncio.timeout(DEADLINE):
                writer.write(self._response(await reader.readuntil(b"\r\n\r\n")))
                writer.close()
                await writer.wait_closed()  # when the answer is sent
        self._open.pop(writer, None)
        writer.transport.abort()

    def _response(self, head: bytes) -> bytes:
        request = re.match(rb"(\S+) (\S+) HTTP/1\.", head)
        if request is None:
            status, body = 400, b""
        elif request[1] not in {b"GET", b"HEAD"}:
            status, body = 405, b""
        else:
            status, body = self._page(request[2])
        lines = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            f"Content-Type: {_CONTENT_TYPE}",
            f"Content-Length: {len(body)}",
            "Connection: close\r\n\r\n",
        )
        return "\r\n".join(lines).encode() + (b"" if head.startswith(b"HEAD") else body)

    def _page(self, path: bytes) -> tuple[int, bytes]:
        """Return the status and the text of a page."""
        match path:
            case b"/livez":
                return self._health("alive", not self._watchdog.silent_workers(LOST), LOST)
            case b"/readyz":
                return self._health("ready", self._is_ready(), LATE)
            case b"/metrics":
                from geolookup.http.metrics import exposition  # probes do not need it

                updates = read_state(self._dataset or paths.user_store())
                return 200, exposition(self._shared, updates)
            case _:
                return 404, b""

    def _health(self, word: str, is_well: bool, limit: int) -> tuple[int, bytes]:
        lines = [word if is_well else f"not {word}"]
        for worker, seconds in sorted(self._watchdog.silent_workers(limit).items()):
            lines.append(f"worker-{worker + 1} is silent for {seconds} seconds")
        return 200 if is_well else 503, "".join(f"{line}\n" for line in lines).encode()

    def _is_ready(self) -> bool:
        """Return whether each worker that the system can choose answers a new connection."""
        is_usable = any(not slot.is_unusable for slot in self._shared.serving())
        is_draining = self._shared.orders.drain
        return is_usable and not is_draining and not self._watchdog.silent_workers(LATE)
