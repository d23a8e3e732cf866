"""Many connections in one thread: honest ones that are kept, and ones that say nothing."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Sequence

from tests.http.serving import PATH, Server
from tests.servers import PATIENCE


def allow_descriptors(count: int) -> None:
    """Raise the limit of this process, so that it can hold so many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))


def request(key: str) -> bytes:
    """A lookup that keeps the connection."""
    return f"GET {PATH}?ip=8.8.8.8 HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n".encode()


class Kept(asyncio.Protocol):
    """A client that keeps its connection; ``took`` has the seconds of each answer."""

    def __init__(self, asked: bytes) -> None:
        self._request = asked
        self.took: list[float] = []
        self.asked = self.refused = self.lost = 0
        self.waits = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def ask(self) -> None:
        """Send a request, unless one waits for its answer."""
        if not self.waits and not self.transport.is_closing():
            self.waits, self._began = True, time.perf_counter()
            self.asked += 1
            self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if data.startswith(b"HTTP/1.1 200 "):
            self.waits = False
            self.took.append(time.perf_counter() - self._began)
        elif data.startswith(b"HTTP/1.1 "):
            self.waits = False
            self.refused += 1

    def connection_lost(self, _error: Exception | None) -> None:
        self.lost += 1


async def kept(server: Server, key: str, clients: int, seconds: int) -> list[Kept]:
    """Ask once a second on so many connections; return the clients."""
    loop, asked = asyncio.get_running_loop(), request(key)
    made = [
        (await loop.create_connection(lambda: Kept(asked), "127.0.0.1", server.port))[1]
        for _ in range(clients)
    ]
    for second in range(seconds):
        began = loop.time()
        for number, client in enumerate(made):
            client.ask()
            if number % 20 == 0:  # spread over the second
                await asyncio.sleep(max(0.0, began + number / clients - loop.time()))
        if second + 1 < seconds:
            await asyncio.sleep(max(0.0, began + 1 - loop.time()))
    ends = loop.time() + PATIENCE
    while any(client.waits for client in made) and loop.time() < ends:
        await asyncio.sleep(0.05)
    for client in made:
        client.transport.abort()
    await asyncio.sleep(0.01)
    return made


class _Silent(asyncio.Protocol):
    def __init__(self, crowd: Silent) -> None:
        self._crowd = crowd

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._crowd.opened.add(transport)

    def connection_lost(self, _error: Exception | None) -> None:
        self._crowd.opened.discard(self._transport)
        self._crowd.connect_again()


class Silent:
    """So many connections that send nothing; whichever the server closes connects again."""

    def __init__(self, server: Server) -> None:
        self._port, self._ended = server.port, False
        self._tasks: set[asyncio.Task[None]] = set()
        self.opened: set[asyncio.Transport] = set()

    async def connect(self, count: int) -> None:
        for _ in range(count):
            await self._connect()

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: _Silent(self), "127.0.0.1", self._port)

    def connect_again(self) -> None:
        if not self._ended:
            task = asyncio.get_running_loop().create_task(self._connect())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        self._ended = True
        await asyncio.gather(*self._tasks)
        for transport in list(self.opened):
            transport.abort()
        await asyncio.sleep(0.01)


async def beside_silent(
    server: Server, key: str, silent: int, seconds: float
) -> tuple[list[float], int]:
    """Hold silent connections, and ask with a good client that connects anew each time.

    Returns the seconds of each of its answers, and how many of its requests got none.
    """
    crowd = Silent(server)
    await crowd.connect(silent)
    loop, asked = asyncio.get_running_loop(), request(key)
    took, unanswered, ends = [], 0, time.perf_counter() + seconds
    while time.perf_counter() < ends:
        began = time.perf_counter()
        _, good = await loop.create_connection(lambda: Kept(asked), "127.0.0.1", server.port)
        good.ask()
        while not good.took and time.perf_counter() < began + PATIENCE:
            await asyncio.sleep(0.001)
        took.append(time.perf_counter() - began)
        unanswered += not good.took
        good.transport.abort()
        await asyncio.sleep(0.02)
    await crowd.end()
    return took, unanswered


def p99(values: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return sorted(values)[len(values) * 99 // 100]
