"""Connections that send nothing, and many honest ones: who is still answered, and how soon."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.http.clients import allow_descriptors, beside_silent, kept, p99
from tests.http.serving import Server, serving, sqlite_store

_SILENT, _HONEST, _SECONDS = 3_000, 2_000, 12


def attack() -> None:
    """2,000 honest clients once a second are all served; 3,000 silent ones delay nobody."""
    allow_descriptors(8_000)
    with TemporaryDirectory() as text:
        folder = Path(text)
        store = sqlite_store(folder)
        key = store.key()
        with serving(store, folder, workers=2) as server:
            _honest(server, key)
            _silent(server, key)


def _honest(server: Server, key: str) -> None:
    clients = asyncio.run(kept(server, key, _HONEST, _SECONDS))
    took = [each for client in clients for each in client.took]
    never = sum(not client.took for client in clients)
    all_served = sum(len(client.took) == _SECONDS for client in clients)
    print(
        f"{_HONEST} honest clients: {all_served} were answered each second, {never} never;"
        f" p99 {p99(took) * 1e3:.1f} ms",
        flush=True,
    )
    assert all_served == _HONEST


def _silent(server: Server, key: str) -> None:
    took, unanswered = asyncio.run(beside_silent(server, key, _SILENT, _SECONDS))
    print(
        f"beside {_SILENT} silent connections: {len(took)} requests, {unanswered} unanswered,"
        f" p99 {p99(took) * 1e3:.1f} ms",
        flush=True,
    )
    assert unanswered == 0
    assert p99(took) < 0.25
