"""Clients that do not read: their connections end, and their answers fill no memory."""

from __future__ import annotations

import errno
import select
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tests.http.clients import request
from tests.http.serving import Server, Store, connection_to, serving
from tests.internals.http import limit
from tests.servers import PATIENCE

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="TCP_USER_TIMEOUT is an option of Linux"
)
_PART = bytes(65_536)


@contextmanager
def limited_pair(stall: int) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield both ends of a connection: of a limited listener, and of its client."""
    with socket.socket() as listener:
        limit(listener, stall=stall)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with (
            connection_to(listener.getsockname()[1]) as client,
            closing(listener.accept()[0]) as end,
        ):
            end.settimeout(PATIENCE)
            yield end, client


def test_a_client_that_reads_nothing_is_disconnected() -> None:
    with limited_pair(stall=200) as (end, _client):
        with pytest.raises(OSError, match=r"timed out") as caught:
            end.sendall(bytes(16 * 1024 * 1024))  # more than all buffers hold
        assert caught.value.errno == errno.ETIMEDOUT


def pipeline(stack: ExitStack, server: Server, count: int) -> list[socket.socket]:
    """Fill connections with requests without a key, and read nothing, until no more is accepted."""
    asked, attackers = request("x") * 1_000, list[socket.socket]()
    for _ in range(count):
        client = stack.enter_context(connection_to(server.port))
        client.setblocking(False)
        attackers.append(client)
    open_ones = attackers
    while open_ones := select.select([], open_ones, [], 0.5)[1]:
        for client in open_ones:
            client.send(asked)
    return attackers


@pytest.mark.long
def test_slow_readers_shut_nobody_out(own_store: Store, tmp_path: Path) -> None:
    """The honest client waits for one of the connections; attackers hold all of them."""
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, "--connections", "20") as server, ExitStack() as stack:
        attackers = pipeline(stack, server, 20)
        answered = 'geolookup_http_requests_total{status="401",code="20002"}'
        # An answer has more than 200 bytes: a few hundred fit into the buffers of a connection.
        assert server.metric(answered) < len(attackers) * 2_000
        assert server.ask("?ip=8.8.8.8", header).status == 200
