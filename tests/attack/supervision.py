"""Workers killed, mapped files truncated under load, the server process killed."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.http.deaths import kill_workers, truncate, two_generations, until_answered, until_free
from tests.http.load import Load
from tests.http.serving import Store, serving, sqlite_store

_KILLS, _WITHIN = 20, 5.0


def attack() -> None:
    """The service outlives all but the last, which leaves no process."""
    for each in (_kills, _truncated, _orphans):
        with TemporaryDirectory() as text:
            each(sqlite_store(Path(text)), Path(text))


def _kills(store: Store, folder: Path) -> None:
    key = store.key()
    with serving(store, folder, workers=2) as server:
        killed = kill_workers(server, _KILLS, _WITHIN)
        lives = server.process.poll() is None
        print(f"{killed} kills: the server {'lives' if lives else 'ended'}", flush=True)
        assert lives
        began = time.monotonic()
        until_answered(server, key)
        print(f"answered {time.monotonic() - began:.1f} s after the last kill", flush=True)


def _truncated(store: Store, folder: Path) -> None:
    dataset, before, current = two_generations(folder)
    key = store.key()
    with serving(store, folder, "--dataset", str(dataset), workers=2) as server:
        with Load(server, key) as load:
            while load.outcomes.total() < 200:
                time.sleep(0.01)
            truncate(current)
            time.sleep(2)
        print(
            f"truncated under load: {load.outcomes.total()} answered, {len(load.broken)} broken",
            flush=True,
        )
        assert until_answered(server, key) == before


def _orphans(store: Store, folder: Path) -> None:
    key = store.key()
    with serving(store, folder, workers=2, ended=-signal.SIGKILL) as server:
        until_answered(server, key)
        server.signal(signal.SIGKILL)
        server.process.wait()
        began = time.monotonic()
        until_free(server.port)
        print(f"the port is free {time.monotonic() - began:.1f} s after the kill", flush=True)
