"""The origin of a fleet: serves a folder over a slow, lossy link that all connections share.

A byte is sent when all bytes before it are, of whichever connection. Answers are drawn to fail from
a seeded generator. It runs as a process of its own: it prints its port, then answers each line on
its standard input with its counts.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.harness.processes import say

_CHUNK, _PATIENCE = 16 << 10, 10.0
_HEADER = re.compile(rb"^(if-none-match|if-range|range): *(.*?)\r$", re.IGNORECASE | re.MULTILINE)


class Origin:
    """The files, the link, and the counts: answers by status, bytes."""

    def __init__(self, root: Path, rate: float, latency: float, loss: float) -> None:
        self._root, self._rate, self._latency, self._loss = root, rate, latency, loss
        self._random, self._free = random.Random(1), 0.0
        self.counts: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the one request of a connection."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
            await asyncio.sleep(self._latency)
            await self._send(writer, *self._answer(head))
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            self.counts["broken by the client"] += 1
        finally:
            writer.close()

    def _answer(self, head: bytes) -> tuple[str, bytes]:
        """Return the status and the whole answer: conditional and partial ones too (RFC 9110)."""
        if self._random.random() < self._loss:
            return "503", _message("503 Service Unavailable", "")
        path = self._root / head.split(b" ")[1].decode("ascii").partition("?")[0].lstrip("/")
        headers = {name.lower(): value.decode() for name, value in _HEADER.findall(head)}
        if not path.resolve().is_relative_to(self._root) or not path.is_file():
            return "404", _message("404 Not Found", "")
        status, body = path.stat(), path.read_bytes()
        etag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
        if headers.get(b"if-none-match") == etag:
            return "304", _message("304 Not Modified", etag)
        if b"range" in headers and headers.get(b"if-range") == etag:
            begin = int(headers[b"range"].removeprefix("bytes=").partition("-")[0])
            of_file = f"bytes {begin}-{len(body) - 1}/{len(body)}"
            return "206", _message("206 Partial Content", etag, body[begin:], of_file)
        return "200", _message("200 OK", etag, body)

    async def _send(self, writer: asyncio.StreamWriter, status: str, answer: bytes) -> None:
        """Send an answer at the rate of the link, in turn with others; some are cut."""
        is_cut = self._random.random() < self._loss
        if is_cut:
            answer = answer[: self._random.randrange(len(answer))]
        self.counts["cut" if is_cut else status] += 1
        self.counts["bytes"] += len(answer)
        for begin in range(0, len(answer), _CHUNK):
            part, now = answer[begin : begin + _CHUNK], time.monotonic()
            self._free = max(now, self._free) + len(part) / self._rate
            await asyncio.sleep(self._free - now)
            writer.write(part)
            await writer.drain()


def _message(status: str, etag: str, body: bytes = b"", content_range: str = "") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"ETag: {etag}"] if etag else []
    lines += [f"Content-Range: {content_range}"] if content_range else []
    return "\r\n".join([*lines, "", ""]).encode() + body


async def run(origin: Origin) -> None:
    """Serve until the standard input ends."""
    server = await asyncio.start_server(origin.serve, "127.0.0.1", 0, backlog=512)
    say({"port": server.sockets[0].getsockname()[1]})
    async with server:
        while await asyncio.to_thread(sys.stdin.readline):
            say(dict(origin.counts))


if __name__ == "__main__":
    asyncio.run(run(Origin(Path(sys.argv[1]).resolve(), *map(float, sys.argv[2:5]))))
