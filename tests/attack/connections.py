"""Connections that send nothing, and many honest ones: who is still answered, and how soon."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.http.clients import allow_descriptors, ask_each_second, beside_silent, p99
from tests.http.serving import serving, sqlite_store

_SILENT, _HONEST, _SECONDS = 3_000, 2_000, 12


def attack() -> None:
    """2,000 honest clients once a second are all served; 3,000 silent ones delay nobody."""
    allow_descriptors(8_000)
    with TemporaryDirectory() as text:
        store = sqlite_store(Path(text))
        key = store.key()
        with serving(store, Path(text), workers=2) as server:
            clients = asyncio.run(ask_each_second(server, key, _HONEST, _SECONDS))
            took = [item for client in clients for item in client]
            print(f"{_HONEST} honest clients: p99 {p99(took) * 1e3:.1f} ms", flush=True)
            assert max(took) < 1  # so each asked and was answered in every second
            took = asyncio.run(beside_silent(server, key, _SILENT, _SECONDS))
            print(
                f"beside {_SILENT} silent connections: {len(took)} requests,"
                f" p99 {p99(took) * 1e3:.1f} ms",
                flush=True,
            )
            assert p99(took) < 0.25
