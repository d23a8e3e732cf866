"""Clients of the admin port that are slow, silent or many: they shut no probe out."""

from __future__ import annotations

import select
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from tests.http.serving import connection_to
from tests.internals.http import PLAIN, AdminPort, Page, admin_port
from tests.servers import free_port, until

_ASKED = b"GET /well HTTP/1.1\r\nHost: x\r\n\r\n"


def _page(path: str) -> Page:
    return Page(200, PLAIN, "well\n") if path == "/well" else Page(404, PLAIN, "")


@pytest.fixture
def port() -> Iterator[int]:
    number = free_port()
    with AdminPort(f"127.0.0.1:{number}", _page):
        yield number


def ask(port: int, request: bytes = _ASKED) -> tuple[bytes, bytes]:
    """Return the status line and the body of an answer."""
    with connection_to(port) as line:
        line.sendall(request)
        answer = b""
        while part := line.recv(65_536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.partition(b"\r\n")[0], body


def test_a_head_that_trickles_ends_in_time(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin_port, "DEADLINE", 0.3)
    with connection_to(port) as slow:
        while not select.select([slow], [], [], 0.05)[0]:
            slow.send(b"x")
        with suppress(ConnectionResetError):  # bytes came after the end
            assert slow.recv(1) == b""
    monkeypatch.setattr(admin_port, "DEADLINE", 60.0)
    assert ask(port) == (b"HTTP/1.1 200 OK", b"well\n")


def test_silent_connections_shut_no_probe_out(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin_port, "CONNECTIONS", 8)
    threads = threading.active_count()
    with ExitStack() as stack:
        silent = [stack.enter_context(connection_to(port)) for _ in range(50)]
        assert ask(port) == (b"HTTP/1.1 200 OK", b"well\n")
        assert threading.active_count() == threads
        until(lambda: set(select.select(silent, [], [], 0)[0]) >= set(silent[:42]))
