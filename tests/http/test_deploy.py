"""``geolookup serve`` and its deployment files: starts, refusals, and requests through nginx."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geolookup.cli.follow import with_polling
from geolookup.cli.serve import serve as command
from geolookup.http.settings import Settings
from tests import servers
from tests.cli.program import run
from tests.conftest import ROOT
from tests.http.serving import PATH, Server, Store, connection_to, serving
from tests.servers import free_port
from tests.skips import needs, optional
from tests.tiers import scaled

yaml = optional("yaml")
DEPLOY = ROOT / "docs" / "deploy"


def _text(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def _container() -> tuple[dict[str, Any], dict[str, Any]]:
    deployment, service = yaml.safe_load_all(_text("kubernetes.yaml"))
    pod = deployment["spec"]["template"]["spec"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    (container,) = pod["containers"]
    return pod, container


def _arguments(name: str) -> list[str]:
    """Return the arguments of the program in a unit of systemd, or in the Dockerfile."""
    if name == "Dockerfile":
        (command,) = re.findall(r"^CMD (\[.*\])$", _text(name), re.MULTILINE)
        return [*json.loads(command)]
    (line,) = re.findall(r"^ExecStart=(.*)$", _text(name), re.MULTILINE)
    return shlex.split(line)[1:]


def _settings(arguments: list[str]) -> Settings:
    return Settings(**with_polling(command.make_context("serve", arguments[1:]).params))


@needs("yaml")
def test_the_command_lines_are_understood() -> None:
    command_lines = (*map(_arguments, ("Dockerfile", "geolookup.service")), _container()[1]["args"])
    for arguments in command_lines:
        assert arguments[0] == "serve"
        settings = _settings(arguments)
        assert (settings.admin or "").endswith(":9090")
        assert settings.trusted_proxies == ()


@needs("yaml")
def test_root_drain_and_probes(server: Server) -> None:
    pod, container = _container()
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert re.search(r"^USER (?!0|root)", _text("Dockerfile"), re.MULTILINE)
    assert "DynamicUser=yes" in _text("geolookup.service")
    pod, container = _container()
    assert pod["terminationGracePeriodSeconds"] > _settings(container["args"]).drain + 10
    _, container = _container()
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["port"] == "admin"
        assert server.show(asked["path"]).status == 200


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
    assert json.loads(reply.body)["error_code"] == 10002  # the client: this machine
    for path, status in (("/v1/geo/%6cookup", 401), ("/v1/geo/%256cookup", 404), ("/", 404)):
        assert front.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()).status == status


def test_idle_connections_are_closed_to_make_room(server: Server, key: str, tmp_path: Path) -> None:
    few = {"worker_connections 16384;": "worker_connections 64;"}
    with nginx(tmp_path, server.port, few) as port, ExitStack() as stack:
        front = replace(server, port=port)
        for _ in range(100):
            stack.enter_context(connection_to(port))
            assert front.ask("?ip=8.8.8.8", [("X-API-Key", key)]).status == 200


def test_requests_in_progress_are_limited_by_address(tmp_path: Path) -> None:
    asked = f"GET {PATH} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    five = {"limit_conn callers 100;": "limit_conn callers 5;"}
    with closing(socket.create_server(("127.0.0.1", 0))) as silent, ExitStack() as stack:
        port = stack.enter_context(nginx(tmp_path, silent.getsockname()[1], five))
        lines = [stack.enter_context(connection_to(port)) for _ in range(6)]
        for line in lines:
            line.sendall(asked)
        answered, _, _ = select.select(lines, [], [], servers.PATIENCE)
        assert [line.recv(65536)[:13] for line in answered] == [b"HTTP/1.1 503 "]


httpx = optional("httpx")


def refusal(*options: str) -> str:
    """Return the line that the command ends with."""
    done = run("serve", *options)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_refusals_at_the_start(own_store: Store, server: Server, tmp_path: Path) -> None:
    good = ("--accounts", own_store.url)
    nothing, plans = str(tmp_path / "nothing"), str(own_store.plans)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    used_address = f"127.0.0.1:{server.admin}"
    for options, says in (
        ((*good, "--dataset", nothing), "no dataset here"),
        (("--accounts", f"sqlite:///{nothing}"), "cannot be opened"),
        (("--accounts", "ftp://x"), "not the URL of a store"),
        (("--accounts", "a.db"), "accounts: not the URL of a store; write sqlite:///PATH"),
        ((*good, "--plans", nothing), "cannot be read"),
        ((*good, "--trusted-proxy", "x"), "--trusted-proxy 'x'"),
        ((*good, "--admin", "x"), "--admin 'x'"),
        ((*good, "--host", "203.0.113.1"), "choose another"),
        ((*good, "--tls-certificate", nothing), "--tls-key"),
        ((*good, "--connections", "2000000000"), "--connections 2000000000"),
        ((*good, "--tls-certificate", plans, "--tls-key", plans), "not a certificate"),
        ((*good, "--tls-certificate", str(fifo), "--tls-key", plans), "not a regular file"),
        ((*good, "--port", str(server.port)), f"port {server.port}: "),  # of another server
        ((*good, "--admin", used_address, "--port", str(free_port())), f"--admin {used_address}: "),
    )[: scaled(4, 99)]:
        assert says in refusal(*options), options


@needs("httpx")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_tls_on_ipv4_and_ipv6(own_store: Store, tmp_path: Path) -> None:
    certificate, private = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,IP:::1"]
    command_line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    command_line += ["-out", str(certificate), "-keyout", str(private)]
    subprocess.run(command_line, check=True, capture_output=True)
    dual = False
    with suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        dual = socket.has_dualstack_ipv6()  # and ::1 exists: some containers lack it
    options = ["--tls-certificate", str(certificate), "--tls-key", str(private)]
    options += ["--host", "::" if dual else "127.0.0.1"]
    context = ssl.create_default_context(cafile=str(certificate))
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
