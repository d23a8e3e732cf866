"""A worker that dies is started again, and passes a damaged generation over."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

import pytest

from geolookup import publish
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.http.serving import Server, Store, serving
from tests.servers import until

_STARTED = re.compile(r"Spawning worker-\d+ with PID: (\d+)")


def workers(server: Server) -> list[int]:
    """Return the processes of all workers that were started, in order."""
    return [int(process) for process in _STARTED.findall(server.log)]


def two_generations(folder: Path) -> tuple[Path, str, Path]:
    """Make a store of two generations; return it, the first's id and the second's folder."""
    (folder / "new").mkdir()
    first, _ = build_at(folder / "new", {"a.csv": "network,country_code\n8.8.8.0/24,FR\n"})
    store = folder / "store"
    before = publish(first, store).generation or ""
    # Copied: the files are damaged in place.
    return store, before, store / "generations" / str(publish(SMALL, store).generation)


def truncate(dataset: Path) -> None:
    """Cut off the files that each lookup reads; a worker that touches them gets SIGBUS."""
    for name in ("ipv4.arrow", "ipv4_jump.arrow", "location.arrow"):
        os.truncate(dataset / name, 64)


def until_answered(server: Server, key: str) -> str:
    """Wait for an answer; return its generation."""
    answers: list[str] = []

    def received() -> list[str]:
        with suppress(OSError):
            answer = server.ask("?ip=8.8.8.8", [("X-API-Key", key)])
            answers.extend([answer.headers["x-dataset-generation"]] * (answer.status == 200))
        return answers

    until(received, lambda: server.log)
    return answers[0]


def test_a_truncated_generation_is_passed_over(own_store: Store, tmp_path: Path) -> None:
    dataset, before, current = two_generations(tmp_path)
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, "--dataset", str(dataset)) as server:
        assert server.ask("?ip=8.8.8.8", header).headers["x-dataset-generation"] == current.name
        truncate(current)
        with pytest.raises((OSError, EOFError)):
            server.ask("?ip=8.8.8.8", header)
        assert until_answered(server, header[0][1]) == before
        note = f"answering from generation {before[:12]}, published before it"
        assert server.log.count(note) == 1
        assert "64 bytes, but the manifest says" in server.log
