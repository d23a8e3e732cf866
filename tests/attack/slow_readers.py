"""Connections that pipeline requests without a key and read nothing: how long others wait."""

from __future__ import annotations

import selectors
import socket
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from geolookup.http.settings import STALL_TIMEOUT
from tests.http.clients import request
from tests.http.serving import Server, serving, sqlite_store

#: More attackers than connections: each that ends makes room for another of them first.
_CONNECTIONS, _ATTACKERS, _SECONDS = 200, 220, 30.0
#: Seconds that bound a wait: two generations of attackers, twice for a loaded machine.
_BOUND = 4 * STALL_TIMEOUT / 1_000


def attack() -> None:
    """A worker whose connections all belong to attackers answers an honest client in between."""
    with TemporaryDirectory() as scratch:
        store = sqlite_store(Path(scratch))
        header, ended = [("X-API-Key", store.key())], Event()
        with serving(store, Path(scratch), "--connections", str(_CONNECTIONS)) as server:
            attackers = Thread(target=_pipeline, args=(server, ended))
            attackers.start()
            try:
                took = _ask(server, header)
            finally:
                ended.set()
                attackers.join()
    print(f"{len(took)} honest requests, the slowest took {max(took):.1f} s", flush=True)
    assert max(took) < _BOUND


def _ask(server: Server, header: list[tuple[str, str]]) -> list[float]:
    time.sleep(1.0)
    took, ends = list[float](), time.monotonic() + _SECONDS
    while time.monotonic() < ends:
        began = time.monotonic()
        assert server.ask("?ip=8.8.8.8", header).status == 200
        took.append(time.monotonic() - began)
        time.sleep(0.5)
    return took


def _pipeline(server: Server, ended: Event) -> None:
    """Fill all connections with requests, and connect again where one ends."""
    asked = request("x") * 200
    with selectors.DefaultSelector() as selector:

        def connect() -> None:
            line = socket.create_connection(("127.0.0.1", server.port))
            line.setblocking(False)
            selector.register(line, selectors.EVENT_WRITE)

        for _ in range(_ATTACKERS):
            connect()
        while not ended.is_set():
            for key, _ in selector.select(0.1):
                line = key.fileobj
                assert isinstance(line, socket.socket)
                try:
                    with suppress(BlockingIOError):
                        line.send(asked)
                except OSError:
                    selector.unregister(line)
                    line.close()
                    connect()
        for key in list(selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
