"""Stopping and reloading under load: no request fails, no answer is mixed."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Self

import pytest

from geolookup import publish
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.http.serving import PATH, Server, Store, serving
from tests.internals.history import rollback
from tests.servers import PATIENCE
from tests.store.numbered import numbered


class Load:
    """Threads with a kept connection each, while in use as a context.

    ``outcomes`` counts statuses, ``broken`` requests that were sent and not
    answered. A thread that is told to leave connects anew, and stops if nobody
    listens: it has sent no request then.
    """

    def __init__(self, server: Server, key: str, threads: int = 4) -> None:
        self.outcomes: Counter[int] = Counter()
        self.generations: Counter[str] = Counter()
        self.broken: list[Exception] = []
        #: which country was said for the address, by the generation that the headers name
        self.said: set[tuple[str, str]] = set()
        self.told_to_leave = 0
        self.last = ""
        self._server, self._headers = server, {"X-API-Key": key}
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop asking; requests in progress end."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def count(self, more: int) -> Callable[[], bool]:
        """Return whether so many more answers have come than now, or one did not."""
        wanted = self.outcomes.total() + more
        return lambda: bool(self.broken) or self.outcomes.total() >= wanted

    def _run(self) -> None:
        while not self._stop.is_set():
            line = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=20)
            try:
                line.connect()
            except ConnectionRefusedError:
                return
            try:
                self._ask_on(line)
            except (OSError, http.client.HTTPException) as error:
                self.broken.append(error)
                return
            finally:
                line.close()

    def _ask_on(self, line: http.client.HTTPConnection) -> None:
        while not self._stop.is_set():
            line.request("GET", f"{PATH}?ip=8.8.8.8", headers=self._headers)
            answer = line.getresponse()
            body = answer.read()
            generation = str(answer.getheader("x-dataset-generation"))
            self.outcomes[answer.status] += 1
            self.generations[generation] += 1
            self.last = generation
            if answer.status == 200:
                self.said.add((generation, json.loads(body)["data"]["location"]["country_code"]))
            if answer.will_close:
                self.told_to_leave += 1
                return


@pytest.mark.long
def test_a_drain_under_load_breaks_no_request_off(own_store: Store, tmp_path: Path) -> None:
    key = own_store.key()
    # It drains until SIGINT ends it.
    with (
        serving(own_store, tmp_path, workers=2, drain=3600.0, ended=0) as server,
        Load(server, key) as load,
    ):
        server.becomes(load.count(60))
        server.process.send_signal(signal.SIGTERM)
        # Clients told to leave come back until nobody listens.
        server.becomes(lambda: load.told_to_leave or load.broken)
        server.until_ready(503)
        assert server.ask("?ip=8.8.8.8", [("X-API-Key", key)]).status == 200
        load.stop()
        server.process.send_signal(signal.SIGINT)
        server.process.wait(PATIENCE)
    assert load.broken == []
    assert set(load.outcomes) == {200}


def test_idle_connections_do_not_hold_the_end_up(own_store: Store, tmp_path: Path) -> None:
    with serving(own_store, tmp_path, drain=0.0) as server:
        idle = socket.create_connection(("127.0.0.1", server.port))
    assert server.process.returncode == 0
    idle.close()


def test_sighup_takes_up_plans_and_no_bad_file(own_store: Store, tmp_path: Path) -> None:
    dataset, plans = tmp_path / "current", own_store.plans.read_text(encoding="utf-8")
    shutil.copytree(SMALL, dataset)
    header, small = [("X-API-Key", own_store.key())], [("X-API-Key", own_store.key("small"))]
    with serving(own_store, tmp_path, "--dataset", str(dataset)) as server:
        (dataset / "manifest.json").rename(tmp_path / "manifest.json")
        server.process.send_signal(signal.SIGHUP)
        server.until("not reloaded: ")
        assert server.ask("?ip=8.8.8.8", header).status == 200
        (tmp_path / "manifest.json").rename(dataset / "manifest.json")
        own_store.plans.write_text("[plan.endless]\n", encoding="utf-8")
        server.process.send_signal(signal.SIGHUP)
        server.until("has no rate")
        statuses = [server.ask("?ip=8.8.8.8", small).status for _ in range(3)]
        assert statuses == [200, 200, 429]
        own_store.plans.write_text(plans.replace("quota = 2", "quota = 3"), encoding="utf-8")
        server.process.send_signal(signal.SIGHUP)
        server.becomes(lambda: server.ask("?ip=8.8.8.8", small).status == 200)


@pytest.fixture
def datasets(tmp_path: Path) -> dict[str, str]:
    """Two datasets in a store; the country of 8.8.8.8 by generation."""
    (tmp_path / "new").mkdir()
    new, _ = build_at(tmp_path / "new", {"a.csv": "network,country_code\n8.8.8.0/24,FR\n"})
    store = tmp_path / "store"
    published = publish(new, store), publish(SMALL, store)
    return dict(zip((str(result.generation) for result in published), ("FR", "US"), strict=True))


@pytest.mark.long
def test_generations_under_load(own_store: Store, tmp_path: Path, datasets: dict[str, str]) -> None:
    store = tmp_path / "store"
    # One of the two knows the country only.
    options = ("--dataset", str(store), "--watch", "0.05")
    key = own_store.key()
    with serving(own_store, tmp_path, *options, workers=2, allow_lost_fields=1) as server:
        with Load(server, key, threads=2) as load:
            for _ in range(4):
                for change in (rollback, partial(publish, SMALL)):
                    installed, more = change(store).generation, load.count(20)
                    server.becomes(lambda: more() and load.last == installed)  # noqa: B023
        # Without a request, too: who publishes waits until the metric names the new generation.
        line = f'geolookup_dataset_workers{{generation="{rollback(store).generation}"}} 2'
        server.becomes(lambda: line in server.show("/metrics").body.decode())
    assert load.broken == []
    assert set(load.outcomes) == {200}
    assert load.said == set(datasets.items())
    assert load.told_to_leave == 0


def test_data_too_old_are_tagged(own_store: Store, tmp_path: Path) -> None:
    old, store = numbered(tmp_path / "old", 1, date="2020-01-01"), tmp_path / "store"
    publish(old, store)
    header = [("X-API-Key", own_store.key())]
    options = ("--dataset", str(store), "--max-age", "30d", "--on-stale", "tag")
    with serving(own_store, tmp_path, *options) as server:
        assert server.ask("?ip=8.8.8.8", header).headers["x-dataset-stale"] == "true"
        publish(numbered(tmp_path / "undated", 2), store)
        server.process.send_signal(signal.SIGHUP)
        server.until("answering from generation", times=2)
        answer = server.ask("?ip=8.8.8.8", header)
        assert (answer.status, answer.headers["x-dataset-stale"]) == (200, "true")
