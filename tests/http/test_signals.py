"""Stopping and reloading under load: no request fails."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from pathlib import Path

import geolookup
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.http.load import Load
from tests.http.serving import Server, Store, serving


def _wait_for(load: Load, requests: int) -> None:
    while load.outcomes.total() < requests and not load.broken:
        time.sleep(0.01)


def test_a_drain_under_load_breaks_no_request_off(own_store: Store, tmp_path: Path) -> None:
    key = own_store.key()
    with (
        serving(own_store, tmp_path, workers=2, drain=1.0) as server,
        Load(server, key) as load,
    ):
        _wait_for(load, 200)
        server.signal(signal.SIGTERM)
        # Clients told to leave come back until nobody listens.
        _wait_told(load)
        assert server.show("/readyz").status == 503
        load.stop()
        assert server.process.poll() is None, "it still drains"
    assert load.broken == []
    assert set(load.outcomes) == {200}


def _wait_told(load: Load) -> None:
    while not load.told_to_leave and not load.broken:
        time.sleep(0.005)


def test_idle_connections_do_not_hold_the_end_up(own_store: Store, tmp_path: Path) -> None:
    with serving(own_store, tmp_path, drain=0.0) as server:
        idle = socket.create_connection(("127.0.0.1", server.port))
    assert server.process.returncode == 0
    assert "see ya" not in server.output.read_text(encoding="utf-8")
    idle.close()


def test_sighup_under_load_fails_no_request(own_store: Store, tmp_path: Path) -> None:
    dataset = tmp_path / "current"
    shutil.copytree(SMALL, dataset)
    (tmp_path / "new").mkdir()
    new, _ = build_at(tmp_path / "new", {"a.csv": "network,country_code\n8.8.8.0/24,FR\n"})
    with geolookup.open(SMALL) as old_engine, geolookup.open(new) as new_engine:
        old, later = old_engine.metadata.generation, new_engine.metadata.generation
    key = own_store.key()
    options = ("--dataset", str(dataset), "--allow-lost-fields")
    with serving(own_store, tmp_path, *options, workers=2) as server:
        with Load(server, key) as load:
            _wait_for(load, 200)
            dataset.rename(tmp_path / "old")
            new.rename(dataset)
            server.signal(signal.SIGHUP)
            server.until(f"answering from generation {later}", times=2)
            seen = load.outcomes.total()
            _wait_for(load, seen + 200)
        assert load.broken == []
        assert set(load.outcomes) == {200}
        assert set(load.generations) == {old, later}
        assert load.told_to_leave == 0
        assert server.metric(f'geolookup_dataset_workers{{generation="{later}"}}') == 2


def test_sighup_with_a_bad_dataset_or_plan_keeps_the_old(own_store: Store, tmp_path: Path) -> None:
    dataset = tmp_path / "current"
    shutil.copytree(SMALL, dataset)
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, "--dataset", str(dataset)) as server:
        (dataset / "manifest.json").rename(tmp_path / "manifest.json")
        server.signal(signal.SIGHUP)
        server.until("not reloaded: ")
        assert server.ask("?ip=8.8.8.8", header).status == 200
        (tmp_path / "manifest.json").rename(dataset / "manifest.json")
        own_store.plans.write_text("[plan.endless]\n", encoding="utf-8")
        server.signal(signal.SIGHUP)
        server.until("has no rate")
        assert server.ask("?ip=8.8.8.8", header).status == 200


def test_sighup_takes_up_the_plans(own_store: Store, tmp_path: Path) -> None:
    text = own_store.plans.read_text(encoding="utf-8")
    header = [("X-API-Key", own_store.key("small"))]
    with serving(own_store, tmp_path) as server:
        statuses = [server.ask("?ip=8.8.8.8", header).status for _ in range(3)]
        assert statuses == [200, 200, 429]
        own_store.plans.write_text(text.replace("quota = 2", "quota = 3"), encoding="utf-8")
        server.signal(signal.SIGHUP)
        ends = time.monotonic() + 20
        while (status := server.ask("?ip=8.8.8.8", header).status) == 429:
            assert time.monotonic() < ends
        assert status == 200


def test_a_worker_that_dies_is_replaced_and_its_counts_stay(
    own_store: Store, tmp_path: Path
) -> None:
    header = [("X-API-Key", own_store.key())]
    answered = 'geolookup_http_requests_total{status="200",code=""}'
    with serving(own_store, tmp_path) as server:
        assert server.ask("?ip=8.8.8.8", header).status == 200
        os.kill(_worker(server), signal.SIGKILL)
        server.until("runtime-1", times=2)
        assert server.ask("?ip=8.8.8.8", header).status == 200
        assert server.metric(answered) == 2


def _worker(server: Server) -> int:
    """The process of the first worker, from the log."""
    said = server.output.read_text(encoding="utf-8")
    return int(said.partition("worker-1 with PID: ")[2].split()[0])
