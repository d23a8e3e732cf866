"""A real server for the tests: ``geolookup serve`` in a process of its own, asked over sockets."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from geolookup.gate import open_accounts
from tests.conftest import ROOT
from tests.servers import PATIENCE, free_port, until

PATH = "/v1/geo/lookup"
#: "endless" never refuses in a test; the others do at once.
PLANS = """
[plan.endless]
rate = 1000000
[plan.slow]
rate = 1
[plan.small]
rate = 100
quota = 2
"""


class Reply(NamedTuple):
    """An answer. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Store:
    """An account store with a plans file, and keys of it."""

    url: str
    plans: Path

    def key(self, plan: str = "endless", *, name: str | None = None) -> str:
        with open_accounts(self.url, self.plans) as accounts:
            return accounts.create_key(name or f"{plan} {time.monotonic_ns()}", plan)


def sqlite_store(folder: Path) -> Store:
    return store_at(f"sqlite:///{folder / 'accounts.db'}", folder)


def store_at(url: str, folder: Path) -> Store:
    plans = folder / "plans.toml"
    plans.write_text(PLANS, encoding="utf-8")
    return Store(url, plans)


def request(key: str) -> bytes:
    """A lookup that keeps the connection."""
    return f"GET {PATH}?ip=8.8.8.8 HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n".encode()


def connection_to(port: int) -> AbstractContextManager[socket.socket]:
    """Connect to a port of this machine, for the block."""
    return closing(socket.create_connection(("127.0.0.1", port), PATIENCE))


def sample(text: str, name: str, **labels: str) -> float:
    """Return the value of a metric in a text for Prometheus, as its own parser reads it."""
    from prometheus_client.parser import text_string_to_metric_families

    (value,) = (
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if (sample.name, sample.labels) == (name, labels)
    )
    return value


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int
    admin: int
    output: Path

    def ask(self, query: str = "", headers: list[tuple[str, str]] | None = None) -> Reply:
        """GET the endpoint with exactly these headers."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers or [])
        return self.raw(f"GET {PATH}{query} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode("latin-1"))

    def raw(self, request: bytes) -> Reply:
        """Send bytes, read one answer; HEAD is told by its first word."""
        with connection_to(self.port) as line:
            line.sendall(request)
            method = request.partition(b" ")[0].decode("latin-1")
            answer = http.client.HTTPResponse(line, method=method)
            answer.begin()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, headers, answer.read())

    def show(self, path: str) -> Reply:
        """GET a path of the admin port."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.admin, PATIENCE)) as line:
            line.request("GET", path)
            answer = line.getresponse()
            return Reply(answer.status, dict(answer.getheaders()), answer.read())

    def metric(self, name: str, **labels: str) -> float:
        """Return the value of a metric."""
        return sample(self.show("/metrics").body.decode(), name, **labels)

    @property
    def log(self) -> str:
        return self.output.read_text(encoding="utf-8")

    def until(self, text: str, times: int = 1) -> None:
        """Wait until the server has logged a text so often."""
        self.becomes(lambda: self.log.count(text) >= times)

    def until_ready(self, status: int) -> None:
        self.becomes(lambda: self.show("/readyz").status == status)

    def becomes(self, condition: Callable[[], object]) -> None:
        """Wait for a condition while the server runs."""
        until(lambda: condition() or self.process.poll() is not None, lambda: self.log)
        assert self.process.poll() is None, self.log


@contextmanager
def serving(
    store: Store,
    folder: Path,
    *options: str,
    workers: int = 1,
    ended: int | None = None,
    has_admin: bool = True,
    **settings: object,
) -> Iterator[Server]:
    """Serve while in use; the output goes to a file of the folder.

    ``settings`` are environment variables, without GEOLOOKUP_. ``ended`` is the exit status of a
    server that is ended while in use.
    """
    port, admin = free_port(), free_port()
    output = folder / f"output-{port}"
    command = [sys.executable, "-m", "geolookup", "serve", "--accounts", store.url]
    command += ["--plans", str(store.plans), "--port", str(port), "--workers", str(workers)]
    command += ["--admin", f"127.0.0.1:{admin}"] if has_admin else []
    settings = {"drain": 0.1, **settings}
    variables = {f"GEOLOOKUP_{name.upper()}": str(value) for name, value in settings.items()}
    with output.open("wb") as file:
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, stdout=file, stderr=file, env=os.environ | variables
        )
    server = Server(process, port, admin, output)
    try:
        # The second line of a worker: its socket listens.
        server.until("runtime-1", workers)
        yield server
        assert ended is not None or process.poll() is None, server.log
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
    assert process.returncode == (ended or 0), server.log
    assert "Traceback" not in server.log
