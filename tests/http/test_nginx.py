"""The nginx of docs/deploy in front of the service: what it passes on, and whom it limits."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests import servers
from tests.conftest import ROOT
from tests.http.serving import PATH, Server

CONFIGURATION = (ROOT / "docs" / "deploy" / "nginx.conf").read_text(encoding="utf-8")


def nginx(
    folder: Path, upstream: int, changes: dict[str, str] | None = None
) -> AbstractContextManager[int]:
    """Run nginx in front of a port; the context is its own port."""
    port, text = servers.free_port(), CONFIGURATION
    for old, new in {
        "worker_processes auto;": f'worker_processes 1;\ndaemon off;\npid "{folder}/pid";',
        "listen 80;": f"listen 127.0.0.1:{port};",
        "127.0.0.1:8000;": f"127.0.0.1:{upstream};",
        "http {": f"http {{\n{servers.nginx_files(folder)}",
        **(changes or {}),
    }.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return servers.nginx(folder, port, text)


def _connected(port: int) -> AbstractContextManager[socket.socket]:
    return closing(socket.create_connection(("127.0.0.1", port), servers.PATIENCE))


@pytest.fixture
def front(server: Server, tmp_path: Path) -> Iterator[Server]:
    """The tests' server, asked through nginx."""
    with nginx(tmp_path, server.port) as port:
        yield replace(server, port=port)


def test_answers_pass_and_lies_do_not(front: Server, server: Server, key: str) -> None:
    header = [("X-API-Key", key)]
    for headers, query in ((header, "?ip=8.8.8.8"), (header, "?ip=x"), ([], "?ip=8.8.8.8")):
        through, direct = front.ask(query, headers), server.ask(query, headers)
        assert through.status == direct.status
        assert json.loads(through.body)["error_code"] == json.loads(direct.body)["error_code"]
        name = "x-dataset-generation"
        assert through.headers[name] == direct.headers[name]
    assert front.ask("?ip=8.8.8.8", header * 2).status == 401
    lies = [("X-Forwarded-For", "8.8.8.8"), ("Forwarded", "for=8.8.8.8"), ("X-Real-IP", "8.8.8.8")]
    reply = front.ask("", [("X-API-Key", key), *lies])
    assert json.loads(reply.body)["error_code"] == 10002  # the client, which is this machine
    for path in ("/v1%2Fgeo/lookup", "/v1/geo/%6cookup", "/", f"{PATH}/"):
        assert front.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()).status == 404, path


def test_idle_connections_are_closed_to_make_room(server: Server, key: str, tmp_path: Path) -> None:
    few = {"worker_connections 16384;": "worker_connections 64;"}
    with nginx(tmp_path, server.port, few) as port, ExitStack() as stack:
        front = replace(server, port=port)
        for _ in range(100):
            stack.enter_context(_connected(port))
            assert front.ask("?ip=8.8.8.8", [("X-API-Key", key)]).status == 200


def test_requests_in_progress_are_limited_by_address(tmp_path: Path) -> None:
    asked = f"GET {PATH} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    five = {"limit_conn callers 100;": "limit_conn callers 5;"}
    with closing(socket.create_server(("127.0.0.1", 0))) as silent, ExitStack() as stack:
        port = stack.enter_context(nginx(tmp_path, silent.getsockname()[1], five))
        lines = [stack.enter_context(_connected(port)) for _ in range(6)]
        for line in lines:
            line.sendall(asked)
        answered, _, _ = select.select(lines, [], [], servers.PATIENCE)
        assert [line.recv(65536)[:13] for line in answered] == [b"HTTP/1.1 503 "]
