"""Workers that stand still: health names them, and the server replaces them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from geolookup.http.admin import Admin
from geolookup.http.heartbeats import LATE, LOST, SILENT, STARTING, Heartbeats, Watchdog
from geolookup.http.metrics import Counters
from tests.http.serving import Store, serving
from tests.http.test_supervision import workers
from tests.servers import PATIENCE


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing, as a worker that stands still."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        yield child
        child.kill()


def look(watch: Watchdog, process: subprocess.Popen[bytes], times: int) -> None:
    for _ in range(times):
        watch.look(0, process.pid)


def test_a_silent_worker_is_killed(
    tmp_path: Path, process: subprocess.Popen[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    beats = Heartbeats(tmp_path, 1)
    watch = Watchdog(beats)
    Heartbeats(tmp_path).beat(0)  # as the worker maps it
    look(watch, process, SILENT)  # the first look notices the beat
    assert process.poll() is None
    look(watch, process, 1)
    assert process.wait(PATIENCE) == -signal.SIGKILL
    assert caplog.messages == ["worker-1 is silent for 15 seconds; killing it"]
    look(watch, process, SILENT)  # it has ended
    assert watch.silent_workers(1) == {}


def test_one_beat_in_time_is_enough(tmp_path: Path, process: subprocess.Popen[bytes]) -> None:
    beats = Heartbeats(tmp_path, 1)
    watch = Watchdog(beats)
    for _ in range(4):
        beats.beat(0)
        look(watch, process, SILENT)
    assert process.poll() is None


def test_a_start_may_take_longer(tmp_path: Path, process: subprocess.Popen[bytes]) -> None:
    beats = Heartbeats(tmp_path, 1)
    watch = Watchdog(beats)
    beats.beat(0)
    look(watch, process, LATE + 1)
    assert watch.silent_workers(LATE) == {0: LATE}
    beats.begin(0)
    look(watch, process, STARTING)
    assert process.poll() is None
    assert watch.silent_workers(1) == {}
    look(watch, process, 1)
    assert process.wait(PATIENCE) == -signal.SIGKILL


def test_health_names_silent_workers(
    tmp_path: Path, process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "kill", lambda *_: None)  # a process that SIGKILL does not end
    beats = Heartbeats(tmp_path, 2)
    watch = Watchdog(beats)
    Counters(tmp_path).serve("ab" * 32, 0)
    admin = Admin(tmp_path, str(tmp_path), watch)
    beats.beat(0)
    look(watch, process, LATE)
    assert admin.page("/readyz")[::2] == (200, "ready\n")
    look(watch, process, 1)
    assert admin.page("/readyz")[::2] == (503, "not ready\nworker-1 is silent for 5 seconds\n")
    look(watch, process, LOST - LATE - 1)
    assert admin.page("/livez")[::2] == (200, "alive\n")
    look(watch, process, 1)
    assert admin.page("/livez")[::2] == (503, "not alive\nworker-1 is silent for 30 seconds\n")
    beats.beat(0)
    look(watch, process, 1)
    assert [admin.page(path).status for path in ("/livez", "/readyz")] == [200, 200]


@pytest.mark.long
def test_a_stopped_worker_is_replaced(own_store: Store, tmp_path: Path) -> None:
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, workers=2) as server:
        first, second = workers(server)
        os.kill(second, signal.SIGSTOP)
        server.until_ready(503)
        assert b"worker-2 is silent for" in server.show("/readyz").body
        assert server.show("/livez").status == 200
        server.until("Spawning worker-", times=3)
        server.until_ready(200)
        for _ in range(20):  # a connection each: the system divides them among both workers
            assert server.ask("?ip=8.8.8.8", header).status == 200
        assert "worker-2 is silent for 15 seconds; killing it" in server.log
        assert "worker-2 was killed by SIGKILL; starting it again" in server.log
        assert first in workers(server)
        assert server.log.count("killing it") == 1


@pytest.mark.long
def test_a_suspension_replaces_nobody(own_store: Store, tmp_path: Path) -> None:
    """All processes stop and go on, as when a machine is suspended."""
    with serving(own_store, tmp_path, workers=2) as server:
        processes = [server.process.pid, *workers(server)]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        time.sleep(SILENT + 5)
        for process in processes:
            os.kill(process, signal.SIGCONT)
        time.sleep(3)
        assert server.show("/readyz").status == 200
        assert "killing it" not in server.log
