"""A real web server on this machine that does what a test says, and keeps the requests.

Every request is answered by the next act of the plan, the last act again and again.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from tests.internals.builder import read_through
from tests.internals.progress import Progress
from tests.internals.remote import FetchedFile, Limits, Remote, fetch, location

if TYPE_CHECKING:
    import trustme

#: Waits that no test has to sit through; one retry more than any test here needs.
FAST = Limits(attempts=4, first_wait=0.001, longest_wait=2.0, silence=60.0)

MODIFIED = "Thu, 19 Nov 2020 08:00:00 GMT"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self.close_connection = True
        self.server.site.take(self)

    do_HEAD = do_GET  # noqa: N815 (the name that the library calls)

    def log_message(self, *args: object) -> None:
        """Keep the output of the tests clean."""

    def answer(self, status: int, body: bytes = b"", /, **headers: str) -> None:
        """Send a whole answer; names of headers are written with underscores."""
        headers = {"Content_Length": str(len(body)), **headers}
        self.send_response(status)
        for name, value in headers.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def reset(self) -> None:
        """End the connection the hard way: the other side sees a reset."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


Act = Callable[[Handler], None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    site: Site

    def handle_error(self, request: object, client_address: object) -> None:
        """A client may go away in the middle."""


@dataclass
class Site:
    """A server: its address, its plan, and the path and headers of every request so far."""

    url: str
    plan: list[Act]
    asked: list[tuple[str, Message]] = field(default_factory=list)

    def take(self, handler: Handler) -> None:
        self.asked.append((handler.path, handler.headers))
        act = self.plan[0] if len(self.plan) == 1 else self.plan.pop(0)
        act(handler)

    @property
    def ranges(self) -> list[str | None]:
        """The Range of every request."""
        return [headers.get("Range") for _, headers in self.asked]


@contextmanager
def serving(*plan: Act, tls: trustme.LeafCert | None = None) -> Iterator[Site]:
    """Run a server for the block."""
    server = _Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "https" if tls else "http"
    server.site = Site(f"{scheme}://127.0.0.1:{server.server_port}", list(plan))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def file(content: bytes, etag: str = '"one"', **headers: str) -> Act:
    """A server that does everything right: conditions, ranges, lengths."""

    def act(handler: Handler) -> None:
        asked = handler.headers
        stated = {"ETag": etag, **headers}
        since = headers.get("Last_Modified")
        if (etag and asked.get("If-None-Match") == etag) or (
            since and asked.get("If-Modified-Since") == since
        ):
            handler.answer(304, Content_Length="", **stated)
        elif asked.get("Range") and asked.get("If-Range") in (etag, since):
            start = int(asked["Range"].removeprefix("bytes=").removesuffix("-"))
            content_range = f"bytes {start}-{len(content) - 1}/{len(content)}"
            handler.answer(206, content[start:], Content_Range=content_range, **stated)
        else:
            handler.answer(200, content, **stated)

    return act


def cut(content: bytes, at: int, *, reset: bool = False, etag: str = '"one"') -> Act:
    """Promise the whole file, send so many bytes of it, and end the connection."""

    def act(handler: Handler) -> None:
        handler.answer(200, content[:at], Content_Length=str(len(content)), ETag=etag)
        if reset:
            handler.reset()

    return act


def status(code: int, body: bytes = b"", **headers: str) -> Act:
    return lambda handler: handler.answer(code, body, **headers)


def to(location: str, code: int = 302) -> Act:
    return lambda handler: handler.answer(code, Location=location)


def drop(handler: Handler) -> None:
    """End the connection without a word."""
    handler.reset()


def trickle(content: bytes, pause: float) -> Act:
    """Send a byte now and then."""

    def act(handler: Handler) -> None:
        handler.answer(200, b"", Content_Length=str(len(content)), ETag='"one"')
        for at in range(len(content)):
            handler.wfile.write(content[at : at + 1])
            time.sleep(pause)

    return act


def remote(uri: str, folder: Path, **texts: str) -> Remote:
    """A remote source as a recipe in ``folder`` states it."""
    insecure = texts.pop("insecure", "") == "true"
    result = location(folder / "recipe.toml", uri, texts, insecure=insecure)
    assert isinstance(result, Remote)
    return result


def fetched(
    uri: str, folder: Path, sha256: str = "", limits: Limits = FAST, /, **texts: str
) -> FetchedFile:
    """Fetch an address into the cache below ``folder``."""
    source, cache = remote(uri, folder, **texts), folder / "cache"
    return fetch(source, sha256, cache, Progress(), limits, read_through)


def kept_files(folder: Path, name: str) -> list[bytes]:
    """Return every file of that name in the cache below ``folder``, but parts of files."""
    result = (folder / "cache").glob(f"*/*/{name}")
    return [path.read_bytes() for path in result if path.parent.name != "part"]
