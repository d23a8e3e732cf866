"""``geolookup serve`` refuses what it cannot do before it listens: one line, exit status 2."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.http.serving import PATH, Server, Store, serving
from tests.servers import free_port
from tests.skips import needs, optional

httpx = optional("httpx")


def refused(*options: str) -> str:
    """Return the line that the command ends with."""
    done = run("serve", *options)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_what_cannot_be_served(own_store: Store, server: Server, tmp_path: Path) -> None:
    good = ("--accounts", own_store.url)
    nothing, plans = str(tmp_path / "nothing"), str(own_store.plans)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    taken = f"127.0.0.1:{server.admin}"
    for options, says in (
        ((*good, "--dataset", nothing), "no dataset here"),
        (("--accounts", f"sqlite:///{nothing}"), "cannot be opened"),
        (("--accounts", "ftp://x"), "unknown kind of store"),
        (("--accounts", "a.db"), "accounts: unknown kind of store; write sqlite:///PATH"),
        ((*good, "--plans", nothing), "cannot be read"),
        ((*good, "--trusted-proxy", "x"), "--trusted-proxy 'x'"),
        ((*good, "--admin", "x"), "--admin 'x'"),
        ((*good, "--host", "203.0.113.1"), "choose another"),
        ((*good, "--tls-certificate", nothing), "--tls-key"),
        ((*good, "--connections", "2000000000"), "--connections 2000000000"),
        ((*good, "--tls-certificate", plans, "--tls-key", plans), "not a certificate"),
        ((*good, "--tls-certificate", str(fifo), "--tls-key", plans), "not a regular file"),
        ((*good, "--port", str(server.port)), f"port {server.port}: "),  # of another server
        ((*good, "--admin", taken, "--port", str(free_port())), f"--admin {taken}: "),
    ):
        assert says in refused(*options), options


@needs("httpx")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_tls_on_ipv4_and_ipv6(own_store: Store, tmp_path: Path) -> None:
    certificate, private = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,IP:::1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    made += ["-out", str(certificate), "-keyout", str(private)]
    subprocess.run(made, check=True, capture_output=True)
    dual = socket.has_dualstack_ipv6()
    host = "::" if dual else "127.0.0.1"
    options = ("--tls-certificate", str(certificate), "--tls-key", str(private), "--host", host)
    context = ssl.create_default_context(cafile=str(certificate))
    headers = {"X-API-Key": own_store.key()}
    with (
        serving(own_store, tmp_path, *options) as server,
        httpx.Client(verify=context, headers=headers) as client,
    ):
        for host in ("127.0.0.1", "[::1]")[: 1 + dual]:
            url = f"https://{host}:{server.port}{PATH}"
            # The peer ::ffff:127.0.0.1 is this machine's IPv4 address.
            assert client.get(url).json()["error_code"] == 10002
            assert client.get(url, params={"ip": "8.8.8.8"}).json()["data"]["ip"] == "8.8.8.8"
