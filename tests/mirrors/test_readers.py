"""Readers of a mirror through web servers while it is written again and again: nothing is amiss."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest

from geolookup import publish
from geolookup.mirrors.folder import mirror
from geolookup.mirrors.index import INDEX, Index, read_index
from tests.conftest import ROOT
from tests.servers import free_port, nginx, nginx_files, started
from tests.store.numbered import shared

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


class Reader(threading.Thread):
    """Reads the index and then all that it names, until it is told to end."""

    def __init__(self, port: int, serials: list[int], ended: threading.Event) -> None:
        super().__init__()
        self._port, self._serials, self._ended = port, serials, ended
        self.read = 0
        self.problems: list[str] = []

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self._read_all(self._index())
            except Exception as error:  # noqa: BLE001 - the test shows it
                self.problems.append(repr(error))

    def _index(self) -> Index:
        status, _, text = asked(self._port, INDEX)
        assert status == 200
        return read_index(text, None, INDEX)

    def _read_all(self, index: Index) -> None:
        for file in index.files:
            status, _, content = asked(self._port, file.path)
            if status == 404:
                self._check_late(index)
                return
            assert (status, len(content)) == (200, file.bytes)
            assert hashlib.sha256(content).hexdigest() == file.sha256
            self.read += 1

    def _check_late(self, index: Index) -> None:
        """A file may be gone only if two later indexes were published meanwhile."""
        later = {serial for serial in list(self._serials) if serial > index.serial}
        assert len(later | {self._index().serial}) >= 2


def test_what_nginx_says_to_caches(store: Path, tmp_path: Path) -> None:
    root = tmp_path / "www"
    with served("nginx", root, tmp_path / "server") as port:
        file = mirror(store, root / "geo").index.files[0]
        index, archive = asked(port, INDEX), asked(port, file.path)
        assert (index.status, index.headers["Cache-Control"]) == (200, "public, max-age=30")
        assert archive.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert asked(port, INDEX, **{"If-None-Match": index.headers["ETag"]}).status == 304
        part = asked(port, file.path, Range=f"bytes={file.bytes - 7}-")
        assert (part.status, part.headers["Content-Length"]) == (206, "7")
        others = [asked(port, text).status for text in (".lock", "packs", "packs/")]
        assert others == [404, 301, 403]


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


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_many_runs(store: Path, tmp_path: Path, server: str) -> None:
    root, ended = tmp_path / "www", threading.Event()
    with served(server, root, tmp_path / "server") as port:
        serials = [mirror(store, root / "geo", deltas=2).index.serial]
        readers = [Reader(port, serials, ended) for _ in range(_READERS)]
        for reader in readers:
            reader.start()
        for run in range(_RUNS):
            publish(shared(run % 5), store)
            serials.append(mirror(store, root / "geo", deltas=2).index.serial)
        ends = time.monotonic() + _PATIENCE
        while sum(reader.read for reader in readers) <= _RUNS and time.monotonic() < ends:
            time.sleep(0.01)
        ended.set()
        for reader in readers:
            reader.join()
    assert [reader.problems for reader in readers] == [[]] * _READERS
    assert sum(reader.read for reader in readers) > _RUNS
    assert len({*serials}) == _RUNS + 1
