"""Many connections in one thread: honest ones that are kept, and ones that say nothing."""

from __future__ import annotations

import asyncio
import resource
import time
from contextlib import suppress

import pytest

from geolookup.http.settings import HEAD_TIMEOUT
from tests.http.serving import PATH, Server
from tests.servers import PATIENCE


def allow_descriptors(count: int) -> None:
    """Raise the limit of this process, to so many connections; skip if that is impossible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < count:  # below 0: without bound
        pytest.skip(f"needs {count} open files; the hard limit is {hard}")
    if 0 <= soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def request(key: str) -> bytes:
    """A lookup that keeps the connection."""
    return f"GET {PATH}?ip=8.8.8.8 HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n".encode()


async def _ask(server: Server, key: str, times: int = 1, begin: float = 0.0) -> list[float]:
    """Ask at most once a second, from a moment on; return the seconds of each.

    Every answer is status 200. They share a connection, unless this process is so slow that the
    server closes it for want of a request.
    """
    took = list[float]()
    while len(took) < times:
        idle_since = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        try:
            while len(took) < times:
                await asyncio.sleep(begin + len(took) - time.monotonic())
                began = time.monotonic()
                writer.write(request(key))
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200 "), head
                length = head.lower().partition(b"content-length: ")[2].split()[0]
                await reader.readexactly(int(length))
                idle_since = time.monotonic()
                took.append(idle_since - began)
        except (asyncio.IncompleteReadError, ConnectionError):
            if time.monotonic() - idle_since < HEAD_TIMEOUT / 1_000:
                raise
        finally:
            writer.transport.abort()
    return took


async def ask_each_second(
    server: Server, key: str, clients: int, seconds: int
) -> list[list[float]]:
    """Ask once a second on so many connections; return the seconds of the answers of each."""
    begin = time.monotonic() + clients / 2000  # when all are connected, on a machine that is idle
    asked = (_ask(server, key, seconds, begin + number / clients) for number in range(clients))
    return await asyncio.gather(*asked)


async def _hold(server: Server, opened: asyncio.Semaphore) -> None:
    """Hold a connection that sends nothing; connect again whenever the server closes it."""
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        opened.release()
        try:
            with suppress(ConnectionError):
                await reader.read()
        finally:
            writer.transport.abort()


async def beside_silent(server: Server, key: str, silent: int, seconds: float) -> list[float]:
    """Hold silent connections, and ask with a good client that connects anew each time.

    Returns the seconds of each of its answers.
    """
    crowd, opened, took = [], asyncio.Semaphore(0), list[float]()
    async with asyncio.timeout(seconds + PATIENCE), asyncio.TaskGroup() as group:
        for _ in range(silent):
            crowd.append(group.create_task(_hold(server, opened)))
            await opened.acquire()
        ends = time.monotonic() + seconds
        while not took or time.monotonic() < ends:
            began = time.monotonic()
            await _ask(server, key)
            took.append(time.monotonic() - began)
            await asyncio.sleep(0.02)
        for client in crowd:
            client.cancel()
    return took
