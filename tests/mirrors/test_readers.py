"""Readers of a mirror through a web server."""

from __future__ import annotations

import http.client
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.message import Message
from pathlib import Path
from typing import NamedTuple

from tests.internals.mirrors import INDEX, mirror
from tests.servers import PATIENCE, free_port, started


@contextmanager
def served(root: Path) -> Iterator[int]:
    """Run the server of the standard library."""
    port = free_port()
    root.mkdir()
    bound = ("--bind", "127.0.0.1", "--directory", str(root))
    with started([sys.executable, "-m", "http.server", str(port), *bound], port):
        yield port


class Answer(NamedTuple):
    status: int
    headers: Message
    content: bytes


def asked(port: int, path: str, **headers: str) -> Answer:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as server:
        server.request("GET", f"/geo/{path}", headers=headers)
        answer = server.getresponse()
        return Answer(answer.status, answer.headers, answer.read())


def test_an_index_within_the_same_second_is_another_version(store: Path, tmp_path: Path) -> None:
    """Servers compare times by seconds."""
    root = tmp_path / "www"
    with served(root) as port:
        mirror(store, root / "geo", expires="7d")
        for _ in range(3):
            headers = asked(port, INDEX).headers
            known = {"If-Modified-Since": headers["Last-Modified"]}
            if "ETag" in headers:
                known["If-None-Match"] = headers["ETag"]
            assert asked(port, INDEX, **known).status == 304
            mirror(store, root / "geo", expires="7d")  # of the same size
            assert asked(port, INDEX, **known).status == 200
