"""``geolookup serve`` refuses what it cannot do before it listens: one line, exit status 2."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.http.serving import PATH, Store, free_port, serving

httpx = pytest.importorskip("httpx")


def refused(*options: str) -> str:
    """Return the line that the command ends with."""
    command = [sys.executable, "-m", "geolookup", "serve", *options]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_what_cannot_be_served(own_store: Store, tmp_path: Path) -> None:
    good = ("--accounts", own_store.url)
    nothing = str(tmp_path / "nothing")
    assert "no dataset here" in refused(*good, "--dataset", nothing)
    assert "cannot be opened" in refused("--accounts", f"sqlite:///{nothing}")
    assert "unknown kind of store" in refused("--accounts", "ftp://x")
    assert "accounts: unknown kind of store; write sqlite:///PATH" in refused("--accounts", "a.db")
    assert "cannot be read" in refused(*good, "--plans", nothing)
    assert "--trusted-proxy 'x'" in refused(*good, "--trusted-proxy", "x")
    assert "--admin 'x'" in refused(*good, "--admin", "x")
    assert "choose another" in refused(*good, "--host", "203.0.113.1")
    assert "--tls-key" in refused(*good, "--tls-certificate", nothing)
    assert "--connections 2000000000" in refused(*good, "--connections", "2000000000")
    plans = str(own_store.plans)
    tls = ("--tls-certificate", plans, "--tls-key", plans)
    assert "not a certificate" in refused(*good, *tls)
    os.mkfifo(tmp_path / "fifo")
    tls = ("--tls-certificate", str(tmp_path / "fifo"), "--tls-key", plans)
    assert "not a regular file" in refused(*good, *tls)


@pytest.mark.parametrize("option", ["--port", "--admin"])
def test_a_port_in_use(own_store: Store, option: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = str(other.getsockname()[1])
        value = f"127.0.0.1:{port}" if option == "--admin" else port
        options: tuple[str, ...] = ("--accounts", own_store.url, option, value)
        if option == "--admin":
            options += ("--port", str(free_port()))
        assert port in refused(*options)


def test_a_second_server_on_the_port_is_refused(own_store: Store, tmp_path: Path) -> None:
    with serving(own_store, tmp_path) as server:
        said = refused("--accounts", own_store.url, "--port", str(server.port))
    assert str(server.port) in said


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_tls(own_store: Store, tmp_path: Path) -> None:
    certificate, private = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    made += ["-out", str(certificate), "-keyout", str(private)]
    subprocess.run(made, check=True, capture_output=True)
    options = ("--tls-certificate", str(certificate), "--tls-key", str(private))
    context = ssl.create_default_context(cafile=str(certificate))
    headers = {"X-API-Key": own_store.key()}
    with (
        serving(own_store, tmp_path, *options) as server,
        httpx.Client(verify=context, headers=headers) as client,
    ):
        reply = client.get(f"https://127.0.0.1:{server.port}{PATH}", params={"ip": "8.8.8.8"})
    assert reply.json()["data"]["ip"] == "8.8.8.8"


def test_ipv6(own_store: Store, tmp_path: Path) -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, "--host", "::") as server:
        # The peer is ::ffff:127.0.0.1, which is this machine's IPv4 address.
        assert server.ask("", header).status == 400
        assert server.ask("?ip=8.8.8.8", header).status == 200
