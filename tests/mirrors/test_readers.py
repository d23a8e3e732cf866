"""Readers of a mirror through web servers while it is written again and again: nothing is amiss."""

from __future__ import annotations

import http.client
import os
import re
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest

from geolookup.mirrors.folder import mirror
from geolookup.mirrors.index import INDEX
from tests.conftest import ROOT
from tests.servers import free_port, nginx, nginx_files, started

_RUNS, _READERS, _PATIENCE = 20, 3, 120
_PAGE = (ROOT / "docs" / "operate" / "mirrors.md").read_text(encoding="utf-8")


_NGINX = """
worker_processes 1; daemon off; pid "{folder}/pid"; error_log stderr; {user}
events {{ }}
http {{ access_log off; {temporary} server {{ listen 127.0.0.1:{port}; {locations} }} }}
"""


@contextmanager
def served(server: str, root: Path, folder: Path) -> Iterator[int]:
    """Run the server of the standard library, or nginx with the locations of the page."""
    port = free_port()
    root.mkdir()
    folder.mkdir()
    if server == "http.server":
        bound = ("--bind", "127.0.0.1", "--directory", str(root))
        with started([sys.executable, "-m", "http.server", str(port), *bound], port):
            yield port
        return
    (actual,) = re.findall(r"^```nginx\n(.*?)^```", _PAGE, re.DOTALL | re.MULTILINE)
    assert actual.count("/srv/www") == 1
    text = _NGINX.format(
        # nginx would answer as a user that may not enter this folder
        user="user root;" if os.geteuid() == 0 else "",
        temporary=nginx_files(folder),
        locations=actual.replace("/srv/www", f'"{root}"'),
        folder=folder,
        port=port,
    )
    with nginx(folder, port, text) as port:
        yield port


SERVERS = ("http.server", "nginx")


class Answer(NamedTuple):
    status: int
    headers: Message
    content: bytes


def asked(port: int, path: str, **headers: str) -> Answer:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)) as server:
        server.request("GET", f"/geo/{path}", headers=headers)
        answer = server.getresponse()
        return Answer(answer.status, answer.headers, answer.read())


@pytest.mark.parametrize("server", SERVERS)
def test_an_index_within_the_same_second_is_another_version(
    store: Path, tmp_path: Path, server: str
) -> None:
    """Servers compare times by seconds; nginx makes its ETag of second and size."""
    root = tmp_path / "www"
    with served(server, root, tmp_path / "server") as port:
        mirror(store, root / "geo", deltas=0, expires="7d")
        for _ in range(3):
            headers = asked(port, INDEX).headers
            known = {"If-Modified-Since": headers["Last-Modified"]}
            if "ETag" in headers:
                known["If-None-Match"] = headers["ETag"]
            assert asked(port, INDEX, **known).status == 304
            mirror(store, root / "geo", deltas=0, expires="7d")  # of the same size
            assert asked(port, INDEX, **known).status == 200
