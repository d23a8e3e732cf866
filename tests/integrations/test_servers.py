"""The middleware in real servers, behind the real nginx; its clients have any address."""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import geolookup
from tests import servers
from tests.conftest import Build

pytestmark = pytest.mark.long
IP, IPV6, LIE = "8.8.8.8", "2001:4860:4860::8888", "1.1.1.1"
_MODULE = "tests.integrations.applications"
_DJANGO = "tests.integrations.django.site"
_NGINX = """
{user} daemon off; worker_processes 1; pid "{folder}/pid"; error_log stderr emerg;
events {{ worker_connections 64; }}
http {{
    access_log off;
    {files}
    server {{
        listen 127.0.0.1:{port} proxy_protocol;
        set_real_ip_from 127.0.0.1;
        real_ip_header proxy_protocol;
        location / {{
            proxy_pass "http://{upstream}";
            proxy_set_header Host x;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }}
    }}
}}
"""
#: Without it, Waitress removes the headers.
_WAITRESS = "--no-clear-untrusted-proxy-headers"
#: Servers by name: the command, and the option that binds a Unix socket instead of a port.
SERVERS: dict[str, Sequence[str]] = {
    "gunicorn": ("gunicorn", "--bind", "{address}", "--preload", f"{_MODULE}:wsgi"),
    "gunicorn, Unix socket": ("gunicorn", "--bind", "unix:{socket}", f"{_MODULE}:wsgi"),
    "waitress": ("waitress", _WAITRESS, "--listen={address}", f"{_MODULE}:wsgi"),
    "waitress, Unix socket": ("waitress", _WAITRESS, "--unix-socket={socket}", f"{_MODULE}:wsgi"),
    "granian, WSGI": ("granian", "--interface=wsgi", "--port={port}", f"{_MODULE}:wsgi"),
    "granian, ASGI": ("granian", "--interface=asgi", "--port={port}", f"{_MODULE}:asgi"),
    "uvicorn": ("uvicorn", "--port={port}", f"{_MODULE}:asgi"),
    "gunicorn, Django": ("gunicorn", "--bind", "unix:{socket}", f"{_DJANGO}:wsgi"),
    "uvicorn, Django": ("uvicorn", "--port={port}", f"{_DJANGO}:asgi"),
    "uvicorn, Unix socket": ("uvicorn", "--uds={socket}", f"{_MODULE}:asgi"),
}


@contextmanager
def serving(name: str) -> Iterator[int | Path]:
    """Run a server; yield its port or its Unix socket, whose path has 107 bytes at most."""
    with TemporaryDirectory(prefix="geo-") as folder:
        port, path = servers.free_port(), Path(folder, "socket")
        module, *arguments = SERVERS[name]
        places = {"address": f"127.0.0.1:{port}", "port": port, "socket": path}
        options = [argument.format(**places) for argument in arguments]
        address = path if any("{socket}" in argument for argument in arguments) else port
        with servers.started([sys.executable, "-m", module, *options], address):
            yield address


def nginx(folder: Path, upstream: int | Path) -> AbstractContextManager[int]:
    """Run nginx in front of a server; the context is its port."""
    port = servers.free_port()
    places = {
        # As root, nginx would answer as a user that may not open sockets in a folder of ours.
        "user": "user root;" if os.getuid() == 0 else "",
        "upstream": f"127.0.0.1:{upstream}" if isinstance(upstream, int) else f"unix:{upstream}",
        "files": servers.nginx_files(folder),
    }
    return servers.nginx(folder, port, _NGINX.format(folder=folder, port=port, **places))


def ask(port: int, client: str, *lines: str) -> Any:
    """Ask nginx as a client of any address, with header lines."""
    family = "TCP6" if ":" in client else "TCP4"
    own = "::1" if ":" in client else "127.0.0.1"
    head = f"PROXY {family} {client} {own} 51000 80\r\n"
    return _ask(port, head, lines)


def _ask(port: int, head: str, lines: Sequence[str]) -> Any:
    with closing(socket.create_connection(("127.0.0.1", port), servers.PATIENCE)) as connection:
        request = ["GET / HTTP/1.1", "Host: x", *lines, "Connection: close", "", ""]
        connection.sendall((head + "\r\n".join(request)).encode("latin-1"))
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return json.loads(answer.read())


@pytest.fixture(params=SERVERS)
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """The port of nginx in front of each server."""
    pytest.importorskip(SERVERS[request.param][0])
    with serving(request.param) as upstream, nginx(tmp_path, upstream) as port:
        yield port


def test_the_client_is_who_nginx_says(front: int) -> None:
    for client in (IP, IPV6):
        assert ask(front, client)["ip"] == client
        for lie in (LIE, f"{LIE}:80", f"{LIE}, 127.0.0.1", "unknown", "[", ""):
            assert ask(front, client, f"X-Forwarded-For: {lie}")["ip"] == client
        # Granian's WSGI interface drops a value that is not ASCII.
        assert ask(front, client, "X-Forwarded-For: \xff")["ip"] in (client, None)
        assert ask(front, client, f"X-Real-IP: {LIE}", f"X_Forwarded_For: {LIE}")["ip"] == client
        assert ask(front, client, *[f"X-Forwarded-For: {LIE}"] * 2)["ip"] == client
    assert ask(front, IP, f"Forwarded: for={LIE}")["ip"] != LIE
    assert ask(front, "10.0.0.1")["code"] == 10002


def test_workers_that_were_forked_follow_the_store(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gunicorn --preload opens before it forks; the thread that polls is started in each worker."""
    pytest.importorskip("gunicorn")
    store = tmp_path / "store"

    def publish(city: str) -> None:
        geolookup.publish(build({"a.csv": f"network,city_name\n8.8.8.0/24,{city}\n"})[0], store)

    publish("Paris")
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(store))
    with serving("gunicorn") as port:
        publish("Lyon")
        assert isinstance(port, int)
        asked = partial(_ask, port, "", [f"X-Forwarded-For: {IP}"])
        servers.until(lambda: asked()["city"] == "Lyon")
        assert asked()["forked"]
