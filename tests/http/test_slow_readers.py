"""Clients that do not read: their connections end, and their answers fill no memory."""

from __future__ import annotations

import select
import socket
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.http.serving import Server, Store, connection_to, request, serving


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
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="TCP_USER_TIMEOUT is an option of Linux"
)
def test_slow_readers_shut_nobody_out(own_store: Store, tmp_path: Path) -> None:
    """The honest client waits for one of the connections; attackers hold all of them."""
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, connections=20) as server, ExitStack() as stack:
        attackers = pipeline(stack, server, 20)
        # An answer has more than 200 bytes: a few hundred fit into the buffers of a connection.
        answered = server.metric("geolookup_http_requests_total", status="401", code="20002")
        assert answered < len(attackers) * 2_000
        assert server.ask("?ip=8.8.8.8", header).status == 200
