"""Workers that die are started again, a damaged generation is passed over, no process is left."""

from __future__ import annotations

import os
import re
import shutil
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from geolookup import publish
from tests.cli.program import python
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.http.serving import Server, Store, serving
from tests.servers import PATIENCE, accepts, until
from tests.skips import needs, optional
from tests.tiers import scaled

_STARTED = re.compile(r"Spawning worker-\d+ with PID: (\d+)")


def workers(server: Server) -> list[int]:
    """Return the processes of all workers that were started, in order."""
    return [int(process) for process in _STARTED.findall(server.log)]


def kill_workers(server: Server, times: int) -> None:
    """Kill each worker at its start, so often."""
    killed: set[int] = set()

    def all_are() -> bool:
        for process in workers(server)[:times]:
            if process not in killed:
                killed.add(process)
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        return len(killed) == times

    until(all_are)


def two_generations(folder: Path) -> tuple[Path, str, Path]:
    """Make a store of two generations; return it, the first's id and the second's folder."""
    (folder / "new").mkdir()
    first, _ = build_at(folder / "new", {"a.csv": "network,country_code\n8.8.8.0/24,FR\n"})
    store = folder / "store"
    before = publish(first, store)
    # Copied: the files are damaged in place.
    return store, before, store / "generations" / publish(SMALL, store)


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


supervision = optional("geolookup.http.supervision")


@pytest.mark.long
def test_many_kills_end_neither_server_nor_counts(own_store: Store, tmp_path: Path) -> None:
    key, kills = own_store.key(), scaled(4, 8)
    with serving(own_store, tmp_path, workers=2) as server:
        until_answered(server, key)
        kill_workers(server, kills)
        until_answered(server, key)
        server.until("was killed by SIGKILL; starting it again in", times=kills)
        assert server.metric('geolookup_http_requests_total{status="200",code=""}') == 2


def test_a_truncated_generation_is_passed_over(own_store: Store, tmp_path: Path) -> None:
    dataset, before, current = two_generations(tmp_path)
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, "--dataset", str(dataset)) as server:
        assert server.ask("?ip=8.8.8.8", header).headers["x-dataset-generation"] == current.name
        truncate(current)
        with pytest.raises((OSError, EOFError)):
            server.ask("?ip=8.8.8.8", header)
        assert until_answered(server, header[0][1]) == before
        note = f"answering from generation {before}, published before it"
        assert server.log.count(note) == 1
        assert "64 bytes, but the manifest says" in server.log


def test_without_a_dataset_the_server_ends_with_one_line(own_store: Store, tmp_path: Path) -> None:
    dataset = tmp_path / "dataset"
    shutil.copytree(SMALL, dataset)
    options = ("--dataset", str(dataset))
    with serving(own_store, tmp_path, *options, workers=2, ended=1) as server:
        truncate(dataset)
        kill_workers(server, 2)
        server.process.wait(PATIENCE)
    assert server.log.count("no worker runs and no dataset opens; the server ends") == 1


def test_a_killed_server_leaves_no_worker(own_store: Store, tmp_path: Path) -> None:
    with serving(own_store, tmp_path, workers=2, ended=-signal.SIGKILL) as server:
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        until(lambda: not accepts(server.port) and not accepts(server.admin))


@needs("granian")
def test_the_wait_grows_with_each_short_life_and_ends_with_a_long_one() -> None:
    backoff = supervision.Backoff()
    waits = [backoff.delay(0, ran=0.1) for _ in range(20)]
    assert waits == sorted(waits)
    assert 0 < waits[0] < 1
    assert waits[-1] == waits[-2] == 5.0
    assert backoff.delay(1, ran=0.1) == waits[0]
    assert backoff.delay(0, ran=60.0) == 0.0
    assert backoff.delay(0, ran=0.1) == waits[0]


@pytest.mark.long
def test_a_worker_that_is_starting_does_not_delay_the_end(own_store: Store, tmp_path: Path) -> None:
    with serving(own_store, tmp_path, drain=0.0) as server:
        kill_workers(server, 1)
        server.until("Spawning worker-1", times=2)
    assert "refused to gracefully stop" not in server.log


_SIGNALLED = """
import os, signal, sys, time
from geolookup.http.supervision import hold_while_forking
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
hold_while_forking(signal.SIGTERM)
for _ in range(20):
    child = os.fork()
    if not child:
        time.sleep(5)
        os._exit(1)
    os.kill(child, signal.SIGTERM)
    if os.waitpid(child, 0)[1]:
        sys.exit("a child has lost the signal")
"""


@needs("granian")
def test_a_new_child_loses_no_signal() -> None:
    python(_SIGNALLED)
