"""Workers that stand still: health names them, and the server replaces them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.serving import Store, serving
from tests.http.test_supervision import workers
from tests.internals.http import LATE, SILENT, STARTING, Heartbeats, Watchdog
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
