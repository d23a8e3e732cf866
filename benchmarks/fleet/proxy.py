"""The proxy before the origin: it forwards over a ``Link``, and counts its answers.

Each connection has one request. nginx answers it. The proxy delays the answer, sends it at the
rate of the link, and now and then sends an error instead or cuts it. It runs as a process of its
own: it prints its port, then answers each line on its standard input with its counts.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.fleet.link import CHUNK, Link, Quality
from benchmarks.fleet.server import serve_folder
from benchmarks.harness.processes import say

_MOST_HEAD = 16 << 10
#: Seconds for a head; a connection that sends none does not stay.
_PATIENCE = 10.0
_ERROR = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Proxy:
    """The proxy, and its counts by kind of file: answers by status, bytes sent."""

    def __init__(self, socket: str, link: Link) -> None:
        self._socket, self._link = socket, link
        self.counts: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the request of a connection."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
            await self._answer(head, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.counts["broken by the client"] += 1
        finally:
            writer.close()

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        of = kind(head.split(b" ")[1].decode("latin-1"))
        await self._link.delay()
        if self._link.fails():
            self._count(of, "503", len(_ERROR))
            await self._link.send(writer, _ERROR)
        else:
            await self._forward(of, head, writer)

    async def _forward(self, of: str, head: bytes, writer: asyncio.StreamWriter) -> None:
        origin, upstream = await asyncio.open_unix_connection(self._socket)
        try:
            upstream.write(_with_one_answer(head))
            begin = await origin.readuntil(b"\r\n\r\n")
            size = len(begin) + _length(begin)
            count = self._link.length_of(size)
            self._count(of, "cut" if count < size else begin[9:12].decode(), count)
            await self._send(begin, origin, writer, count)
        finally:
            upstream.close()
        if count < size:
            writer.transport.abort()

    async def _send(
        self, part: bytes, origin: asyncio.StreamReader, writer: asyncio.StreamWriter, count: int
    ) -> None:
        """Send ``count`` bytes: ``part``, then what the origin sends."""
        while part and count:
            await self._link.send(writer, part[:count])
            count -= min(count, len(part))
            part = await origin.read(CHUNK)

    def _count(self, of: str, status: str, size: int) -> None:
        self.counts[f"{of} {status}"] += 1
        self.counts[f"{of} bytes"] += size


def _with_one_answer(head: bytes) -> bytes:
    """Return the head of a request; the origin ends the connection after its answer."""
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*lines[:-2], b"Connection: close", b"", b""])


def _length(head: bytes) -> int:
    """Return the bytes of a body; an answer to a conditional request has none."""
    match = re.search(rb"\r\ncontent-length: *(\d+)\r\n", head, re.IGNORECASE)
    return int(match[1]) if match else 0


def kind(target: str) -> str:
    """Return what a file of a mirror is: "index", "packs", "deltas", or "other"."""
    match = re.match(r"/(index|packs|deltas)\b", target)
    return match[1] if match else "other"


async def run(socket: str, link: Link) -> None:
    """Serve until the standard input ends."""
    proxy = Proxy(socket, link)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=_MOST_HEAD, backlog=512)
    say({"port": server.sockets[0].getsockname()[1]})
    async with server:
        while await asyncio.to_thread(sys.stdin.readline):
            say(dict(proxy.counts))


if __name__ == "__main__":
    quality = Quality(*map(float, sys.argv[2:6]))
    with (
        tempfile.TemporaryDirectory(prefix="origin-") as folder,
        serve_folder(Path(sys.argv[1]).resolve(), Path(folder)) as socket,
    ):
        asyncio.run(run(socket, Link(quality)))
