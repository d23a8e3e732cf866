"""Connections that send nothing, slowly or seldom: they are closed, and shut nobody out."""

from __future__ import annotations

import asyncio
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from geolookup.http.limits import HEAD_TIMEOUT
from tests.http.clients import allow_descriptors, beside_silent, kept, request
from tests.http.serving import Server, Store, serving


@contextmanager
def _connected(server: Server) -> Iterator[socket.socket]:
    with closing(socket.create_connection(("127.0.0.1", server.port), 20)) as line:
        yield line


def test_silent_connections_shut_nobody_out(server: Server, key: str) -> None:
    allow_descriptors(4_096)
    assert asyncio.run(beside_silent(server, key, silent=1_100, seconds=0.3))


@pytest.mark.long
def test_many_honest_clients_are_all_answered(server: Server, key: str) -> None:
    allow_descriptors(4_096)
    clients = asyncio.run(kept(server, key, clients=2_000, seconds=4))
    assert {len(took) for took in clients} == {4}


@pytest.mark.long
def test_what_sends_no_complete_head_in_time_is_closed(server: Server, key: str) -> None:
    asked = request(key)
    with ExitStack() as stack:
        silent, partial, trickled, idle = (
            stack.enter_context(_connected(server)) for _ in range(4)
        )
        partial.sendall(asked[:20])
        idle.sendall(asked)
        assert idle.recv(65536).startswith(b"HTTP/1.1 200 ")
        began, waiting = time.monotonic(), {silent, partial, trickled, idle}
        for byte in asked:  # takes longer than the time
            if not waiting:
                break
            waiting.difference_update(select.select(waiting, [], [], 0.25)[0])
            if trickled in waiting:
                trickled.send(bytes([byte]))
        assert not waiting
        assert time.monotonic() - began >= HEAD_TIMEOUT / 1_000 - 1


def test_a_connection_beyond_the_limit_waits_for_an_end(own_store: Store, tmp_path: Path) -> None:
    asked = request(own_store.key())
    with (
        serving(own_store, tmp_path, "--connections", "2") as server,
        _connected(server) as first,
        _connected(server) as second,
        _connected(server) as third,
    ):
        for line in (first, second):
            line.sendall(asked)
            assert line.recv(65536).startswith(b"HTTP/1.1 200 ")
        third.sendall(asked)
        assert not select.select([third], [], [], 0.2)[0]
        first.close()
        assert third.recv(65536).startswith(b"HTTP/1.1 200 ")
