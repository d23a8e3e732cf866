"""The middleware in real servers, behind the real nginx, which sees clients of any address.

nginx takes the address of the client from the PROXY protocol, so that one machine can be any
client; it adds it to ``X-Forwarded-For`` as it does for others.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.conftest import ROOT, Build
from tests.http.serving import free_port

pytestmark = pytest.mark.long
IP, IPV6, LIE = "8.8.8.8", "2001:4860:4860::8888", "1.1.1.1"
_MODULE = "tests.integrations.applications"
_DJANGO = "tests.integrations.django.site"
_PATIENCE = 30
_NGINX = """
{user} daemon off; worker_processes 1; pid {folder}/pid; error_log stderr emerg;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} proxy_protocol;
        set_real_ip_from 127.0.0.1;
        real_ip_header proxy_protocol;
        location / {{
            proxy_pass http://{upstream};
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
def started(command: Sequence[str], address: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until it accepts connections, and while in use."""
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        ends = time.monotonic() + _PATIENCE
        while not _accepts(address):
            assert process.poll() is None, command
            assert time.monotonic() < ends, command
            time.sleep(0.02)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(_PATIENCE)


def _accepts(address: str) -> bool:
    host, _, port = address.rpartition(":")
    family = socket.AF_UNIX if host == "unix" else socket.AF_INET
    with closing(socket.socket(family)) as line:
        try:
            line.connect(port if host == "unix" else (host, int(port)))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        return True


@contextmanager
def serving(name: str, folder: Path) -> Iterator[str]:
    """Run a server; yield its address, as nginx writes it."""
    port, path = free_port(), folder / "socket"
    module, *arguments = SERVERS[name]
    places = {"address": f"127.0.0.1:{port}", "port": port, "socket": path}
    options = [each.format(**places) for each in arguments]
    address = f"unix:{path}" if any("{socket}" in each for each in arguments) else places["address"]
    with started([sys.executable, "-m", module, *options], str(address)):
        yield str(address)


@contextmanager
def nginx(folder: Path, upstream: str) -> Iterator[int]:
    """Run nginx in front of a server; yield its port."""
    port, file = free_port(), folder / "nginx.conf"
    # As root, nginx would answer as a user that may not open sockets in this folder.
    places = {"user": "user root;" if os.getuid() == 0 else "", "folder": folder, "port": port}
    file.write_text(_NGINX.format(upstream=upstream, **places), encoding="utf-8")
    command = ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(file)]
    with started(command, f"127.0.0.1:{port}"):
        yield port


def ask(port: int, client: str, *lines: str) -> Any:
    """Ask nginx as a client of any address, with header lines."""
    family = "TCP6" if ":" in client else "TCP4"
    own = "::1" if ":" in client else "127.0.0.1"
    head = f"PROXY {family} {client} {own} 51000 80\r\n"
    return _asked(("127.0.0.1", port), head, lines)


def _asked(address: tuple[str, int], head: str, lines: Sequence[str]) -> Any:
    with closing(socket.create_connection(address, _PATIENCE)) as connection:
        request = ["GET / HTTP/1.1", "Host: x", *lines, "Connection: close", "", ""]
        connection.sendall((head + "\r\n".join(request)).encode("latin-1"))
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return json.loads(answer.read())


@pytest.fixture(params=SERVERS)
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """The port of nginx in front of each server."""
    if shutil.which("nginx") is None:
        pytest.skip("no nginx here")
    pytest.importorskip(SERVERS[request.param][0])
    with serving(request.param, tmp_path) as upstream, nginx(tmp_path, upstream) as port:
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
    with serving("gunicorn", tmp_path) as address:
        publish("Lyon")
        host, _, port = address.rpartition(":")
        ends = time.monotonic() + _PATIENCE
        lines = [f"X-Forwarded-For: {IP}"]
        while (found := _asked((host, int(port)), "", lines))["city"] != "Lyon":
            assert time.monotonic() < ends
            time.sleep(0.05)
    assert found["forked"]


def test_a_web_socket(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    client = pytest.importorskip("websockets.sync.client")
    with serving("uvicorn", tmp_path) as address:
        headers = {"X-Forwarded-For": IP}
        with client.connect(f"ws://{address}/", additional_headers=headers) as line:
            assert json.loads(line.recv())["ip"] == IP
