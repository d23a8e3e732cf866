"""Workers that hang or die, and the end of the server process."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import socket
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from geolookup import publish
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.http.serving import Server, Store, serving
from tests.internals.http import LATE, SILENT, Shared, Watchdog, notify
from tests.servers import PATIENCE, accepts, until

_STARTED = re.compile(r"Spawning worker-\d+ with PID: (\d+)")


def workers(server: Server) -> list[int]:
    """Return the processes of all workers that were started, in order."""
    return [int(process) for process in _STARTED.findall(server.log)]


def until_answered(server: Server, key: str) -> str:
    """Wait for an answer; return its generation."""
    answers: list[str] = []

    def received() -> list[str]:
        with suppress(OSError, EOFError):
            answer = server.ask("?ip=8.8.8.8", [("X-API-Key", key)])
            answers.extend([answer.headers["x-dataset-generation"]] * (answer.status == 200))
        return answers

    until(received, lambda: server.log)
    return answers[0]


def test_a_silent_worker_is_killed_unless_it_starts(caplog: pytest.LogCaptureFixture) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=time.sleep, args=[PATIENCE], daemon=True
    )
    process.start()
    shared = Shared(1)
    (slot,), watchdog = shared.slots, Watchdog(shared)
    slot.process = process.pid or 0
    for _ in range(10 * SILENT):
        watchdog.look()
    assert watchdog.silent_workers(1) == {}
    slot.beats = 1
    for _ in range(SILENT):  # the first look notices the beat
        watchdog.look()
    assert watchdog.silent_workers(LATE) == {0: SILENT - 1}
    assert process.is_alive()
    watchdog.look()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGKILL
    assert caplog.messages == ["worker-1 is silent for 15 seconds; killing it"]
    watchdog.look()
    assert watchdog.silent_workers(1) == {}


@pytest.mark.parametrize("kind", ["socket@{}", "@geolookup-{}"])
def test_systemd_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has at most 107 bytes
    address = kind.format(os.getpid())
    name = f"\0{address[1:]}" if address.startswith("@") else address
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as systemd:
        systemd.bind(name)
        systemd.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        notify("READY=1")
        assert systemd.recv(99) == b"READY=1"


@pytest.mark.long
def test_a_stopped_worker_is_replaced(own_store: Store, tmp_path: Path) -> None:
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, workers=2) as server:
        os.kill(workers(server)[1], signal.SIGSTOP)
        server.until_ready(503)
        assert re.search(rb"worker-\d is silent for", server.show("/readyz").body)
        assert server.show("/livez").status == 200
        server.until("Spawning worker-", times=3)
        server.until_ready(200)
        for _ in range(20):  # a connection each: the system divides them among both workers
            assert server.ask("?ip=8.8.8.8", header).status == 200
        assert server.log.count("killing it") == 1


def test_a_killed_worker_is_replaced_and_a_killed_server_leaves_none(
    own_store: Store, tmp_path: Path
) -> None:
    key = own_store.key()
    with serving(own_store, tmp_path, ended=-signal.SIGKILL) as server:
        until_answered(server, key)
        os.kill(workers(server)[0], signal.SIGKILL)
        until_answered(server, key)
        assert server.metric("geolookup_http_requests_total", status="200", code="") == 2
        server.process.kill()
        server.process.wait(PATIENCE)
        until(lambda: not accepts(server.port))
        assert "the server process is gone; this worker ends" in server.log


def test_a_truncated_generation_is_passed_over(own_store: Store, tmp_path: Path) -> None:
    """A worker that reads a missing page gets SIGBUS; its successor opens the generation before."""
    (tmp_path / "new").mkdir()
    first, _ = build_at(tmp_path / "new", {"a.csv": "network,country_code\n8.8.8.0/24,FR\n"})
    store, key = tmp_path / "store", own_store.key()
    before = publish(first, store).generation or ""
    # Copied: the files are damaged in place.
    current = store / "generations" / str(publish(SMALL, store).generation)
    with serving(own_store, tmp_path, "--dataset", str(store)) as server:
        assert until_answered(server, key) == current.name
        for name in ("ipv4.arrow", "ipv4_jump.arrow", "location.arrow"):
            os.truncate(current / name, 64)
        with pytest.raises((OSError, EOFError)):
            server.ask("?ip=8.8.8.8", [("X-API-Key", key)])
        assert until_answered(server, key) == before
        note = f"answering from generation {before[:12]}, published before it"
        assert server.log.count(note) == 1
