"""The origin: a web server of one folder behind a ``Link``, which counts what it sends.

It speaks as much of HTTP as static files need (RFC 9110): GET, ETag with If-None-Match, and ranges
up to the end of a file with If-Range. Each connection has one request. It runs as a process of its
own: it prints its port, then answers each line on its standard input with its counts.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path

from benchmarks.fleet.link import Link, Quality
from benchmarks.harness.processes import say

_MOST_HEAD = 16 << 10
#: Seconds for a head; a connection that sends none does not stay.
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request gets: status, fields of the header, and the body."""

    status: HTTPStatus
    fields: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def __bytes__(self) -> bytes:
        fields = {"Content-Length": str(len(self.body)), "Connection": "close", **self.fields}
        if self.status == HTTPStatus.NOT_MODIFIED:
            del fields["Content-Length"]
        lines = [f"HTTP/1.1 {self.status} {self.status.phrase}"]
        lines += [f"{name}: {value}" for name, value in fields.items()]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


def answer(folder: Path, target: str, asked: dict[str, str]) -> Answer:
    """Return what a GET of a file gets; ``asked`` has the header's fields by lower-case name."""
    path = folder / target.lstrip("/")
    if ".." in path.parts or not path.is_file():
        return Answer(HTTPStatus.NOT_FOUND)
    with path.open("rb") as stream:  # one open file: its status is that of its content
        body, found = stream.read(), path.stat()
    tag = f'"{found.st_mtime_ns:x}-{found.st_ino:x}-{len(body):x}"'
    fields = {"ETag": tag, "Last-Modified": formatdate(found.st_mtime, usegmt=True)}
    if asked.get("if-none-match") == tag:
        return Answer(HTTPStatus.NOT_MODIFIED, fields)
    begin = _begin(asked, tag)
    if begin == 0:
        return Answer(HTTPStatus.OK, fields | {"Accept-Ranges": "bytes"}, body)
    if begin >= len(body):
        return Answer(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
    fields["Content-Range"] = f"bytes {begin}-{len(body) - 1}/{len(body)}"
    return Answer(HTTPStatus.PARTIAL_CONTENT, fields, body[begin:])


def _begin(asked: dict[str, str], tag: str) -> int:
    """Return the first byte that is wanted; 0 unless the range is one of this version."""
    first = asked.get("range", "").removeprefix("bytes=").removesuffix("-")
    return int(first) if first.isdecimal() and asked.get("if-range", tag) == tag else 0


class Origin:
    """The server, and its counts by kind of file: requests, answers by status, bytes sent."""

    def __init__(self, folder: Path, link: Link) -> None:
        self._folder, self._link = folder, link
        self.counts: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the request of a connection."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
            await self._answer(head.decode("latin-1"), writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.counts["broken by the client"] += 1
        finally:
            writer.close()

    async def _answer(self, head: str, writer: asyncio.StreamWriter) -> None:
        first, *lines = head.split("\r\n")
        target = first.split(" ")[1]
        fields = (line.partition(":") for line in lines)
        asked = {name.lower(): value.strip() for name, _, value in fields}
        await self._link.delay()
        if self._link.fails():
            content = bytes(Answer(HTTPStatus.SERVICE_UNAVAILABLE))
            sent = len(content)
        else:
            content = bytes(answer(self._folder, target, asked))
            sent = self._link.length_of(len(content))
        self._count(kind(target), content, sent)
        await self._link.send(writer, content[:sent])
        if sent < len(content):
            writer.transport.abort()

    def _count(self, of: str, content: bytes, sent: int) -> None:
        status = "cut" if sent < len(content) else content[9:12].decode()
        self.counts[f"{of} {status}"] += 1
        self.counts[f"{of} bytes"] += sent


def kind(target: str) -> str:
    """Return what a file of a mirror is: "index", "packs", "deltas", or "other"."""
    found = re.match(r"/(index|packs|deltas)\b", target)
    return found[1] if found else "other"


async def run(folder: Path, link: Link) -> None:
    """Serve until the standard input ends."""
    origin = Origin(folder, link)
    server = await asyncio.start_server(origin.serve, "127.0.0.1", 0, limit=_MOST_HEAD, backlog=512)
    say({"port": server.sockets[0].getsockname()[1]})
    async with server:
        while await asyncio.to_thread(sys.stdin.readline):
            say(dict(origin.counts))


if __name__ == "__main__":
    quality = Quality(*map(float, sys.argv[2:6]))
    asyncio.run(run(Path(sys.argv[1]), Link(quality)))
