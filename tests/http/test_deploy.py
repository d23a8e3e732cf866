"""``geolookup serve``: refusals at the start, requests through nginx, TLS."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from geolookup.errors import SettingsError
from tests import servers
from tests.cli.program import refusal
from tests.conftest import ROOT
from tests.http.serving import PATH, Server, Store, serving
from tests.internals.http import Settings
from tests.servers import free_port
from tests.skips import needs, optional
from tests.tiers import scaled

CONFIGURATION = (ROOT / "docs" / "deploy" / "nginx.conf").read_text(encoding="utf-8")


def nginx(folder: Path, upstream: int) -> AbstractContextManager[int]:
    """Run nginx in front of a port; the context is its own port."""
    port, text = servers.free_port(), CONFIGURATION
    for old, new in {
        "worker_processes auto;": f'worker_processes 1;\ndaemon off;\npid "{folder}/pid";',
        "listen 80;": f"listen 127.0.0.1:{port};",
        "127.0.0.1:8000;": f"127.0.0.1:{upstream};",
        "http {": f"http {{\n{servers.nginx_files(folder)}",
    }.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return servers.nginx(folder, port, text)


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
    lies = [("X-Forwarded-For", "8.8.8.8"), ("Forwarded", "for=8.8.8.8"), ("X-Real-IP", "8.8.8.8")]
    reply = front.ask("", [("X-API-Key", key), *lies])
    assert json.loads(reply.body)["error_code"] == 10002  # the client: this machine
    for path, status in (("/v1/geo/%6cookup", 401), ("/v1/geo/%256cookup", 404), ("/", 404)):
        assert front.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()).status == status


httpx, trustme = optional("httpx"), optional("trustme")


def test_refusals_at_the_start(own_store: Store, server: Server, tmp_path: Path) -> None:
    good = ("--accounts", own_store.url)
    nothing, plans = str(tmp_path / "nothing"), str(own_store.plans)
    used_address = f"127.0.0.1:{server.admin}"
    for options, says in (
        ((*good, "--dataset", nothing), "no dataset here"),
        (("--accounts", f"sqlite:///{nothing}"), "cannot be opened"),
        (("--accounts", "a.db"), "accounts: not the URL of a store; write sqlite:///PATH"),
        ((*good, "--trusted-proxy", "x"), "--trusted-proxy 'x'"),
        ((*good, "--admin", "x"), "--admin 'x'"),
        ((*good, "--admin", "é..x:1"), "--admin é..x:1: "),
        ((*good, "--host", "localhost"), "--host 'localhost': write an IP address"),
        ((*good, "--tls-certificate", nothing), "--tls-key"),
        ((*good, "--tls-certificate", plans, "--tls-key", plans), "not a certificate"),
        ((*good, "--port", str(server.port)), f"port {server.port}: "),  # of another server
        ((*good, "--admin", used_address, "--port", str(free_port())), f"--admin {used_address}: "),
    )[: scaled(2, 99)]:
        assert says in refusal("serve", *options), options


@needs("httpx", "trustme")
def test_tls_on_ipv4_and_ipv6(own_store: Store, tmp_path: Path) -> None:
    certificate, private = tmp_path / "certificate.pem", tmp_path / "key.pem"
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1", "::1")
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(private)
    dual = False
    with suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        dual = socket.has_dualstack_ipv6()  # and ::1 exists: some containers lack it
    options = ["--tls-certificate", str(certificate), "--tls-key", str(private)]
    options += ["--host", "::" if dual else "127.0.0.1"]
    context = ssl.create_default_context()
    authority.configure_trust(context)
    headers = {"X-API-Key": own_store.key()}
    with (
        serving(own_store, tmp_path, *options) as server,
        httpx.Client(verify=context, headers=headers, trust_env=False) as client,
    ):
        for host in ("127.0.0.1", "[::1]")[: 1 + dual]:
            url = f"https://{host}:{server.port}{PATH}"
            # The peer ::ffff:127.0.0.1 is this machine's IPv4 address.
            assert client.get(url).json()["error_code"] == 10002
            assert client.get(url, params={"ip": "8.8.8.8"}).json()["data"]["ip"] == "8.8.8.8"
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises(httpx.ConnectError):
            httpx.get(url, verify=context, trust_env=False)


@pytest.mark.parametrize(
    "variable",
    ["CONNECTIONS=0", "DRAIN=-1", "DRAIN=nan", "LOG_LEVEL=INFO", "ALLOW_LOST_FIELDS=yes"],
)
def test_a_bad_variable(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, value = f"GEOLOOKUP_{variable}".partition("=")
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"^{name}={value}: write "):
        Settings("sqlite:///accounts.db")
