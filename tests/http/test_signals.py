"""Stopping and reloading under load: no request fails, no answer is mixed."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import threading
from functools import partial
from pathlib import Path
from typing import Self

import pytest

from geolookup import publish
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.http.serving import PATH, Server, Store, connection_to, serving
from tests.internals.history import rollback
from tests.servers import PATIENCE
from tests.store.numbered import numbered


class Load:
    """Threads with a kept connection each, while in use as a context.

    ``answers`` are status, generation and country of 8.8.8.8, ``broken`` requests that were sent
    and not answered. A thread that is told to leave connects anew, and stops if nobody listens: it
    has sent no request then.
    """

    def __init__(self, server: Server, key: str) -> None:
        self.answers: list[tuple[int, str, str]] = []
        self.broken: list[Exception] = []
        self.told_to_leave = 0
        self._server, self._headers = server, {"X-API-Key": key}
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(3)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def until_answers_of(self, generation: str, count: int = 40) -> None:
        """Wait for many more answers, the last one of a generation; or for a broken request."""
        wanted = len(self.answers) + count
        self._server.becomes(
            lambda: (
                self.broken
                or (len(self.answers) >= wanted and self.answers[-1][1].startswith(generation))
            )
        )

    def _run(self) -> None:
        while not self._stop.is_set():
            line = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=PATIENCE)
            try:
                line.connect()
            except ConnectionRefusedError:
                return
            try:
                self._ask_on(line)
            except (OSError, http.client.HTTPException) as error:
                self.broken.append(error)
            finally:
                line.close()

    def _ask_on(self, line: http.client.HTTPConnection) -> None:
        while not self._stop.is_set():
            line.request("GET", f"{PATH}?ip=8.8.8.8", headers=self._headers)
            answer = line.getresponse()
            country = json.loads(answer.read())["data"]["location"]["country_code"]
            generation = str(answer.getheader("x-dataset-generation"))
            self.answers.append((answer.status, generation, country))
            if answer.will_close:
                self.told_to_leave += 1
                return


@pytest.mark.long
def test_a_drain_under_load_breaks_no_request_off(own_store: Store, tmp_path: Path) -> None:
    key = own_store.key()
    # It drains until SIGINT ends it.
    with serving(own_store, tmp_path, workers=2, ended=0, drain=3600) as server:
        with Load(server, key) as load:
            load.until_answers_of("")
            server.process.send_signal(signal.SIGTERM)
            # Clients told to leave come back until nobody listens.
            server.becomes(lambda: load.told_to_leave or load.broken)
            server.until_ready(503)
            assert server.ask("?ip=8.8.8.8", [("X-API-Key", key)]).status == 200
        server.process.send_signal(signal.SIGINT)
        server.process.wait(PATIENCE)
    assert load.broken == []
    assert {status for status, *_ in load.answers} == {200}


def test_idle_connections_do_not_hold_the_end_up(own_store: Store, tmp_path: Path) -> None:
    with serving(own_store, tmp_path, drain=0) as server:
        idle = connection_to(server.port)
    with idle:
        assert server.process.returncode == 0


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


@pytest.mark.long
def test_generations_under_load(own_store: Store, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    new, _ = build_at(tmp_path / "new", {"a.csv": "network,country_code\n8.8.8.0/24,FR\n"})
    store, key = tmp_path / "store", own_store.key()
    generations = [publish(dataset, store).generation for dataset in (new, SMALL)]
    # One of the two knows the country only.
    options = ("--dataset", str(store), "--watch", "0.05")
    with serving(own_store, tmp_path, *options, workers=2, allow_lost_fields=1) as server:
        with Load(server, key) as load:
            for _ in range(4):
                for change in (rollback, partial(publish, SMALL)):
                    load.until_answers_of(str(change(store).generation))
        # Without a request, too: who publishes waits until the metric names the new generation.
        line = f'geolookup_dataset_workers{{generation="{rollback(store).generation}"}} 2'
        server.becomes(lambda: line in server.show("/metrics").body.decode())
    assert load.broken == []
    expected = zip((200, 200), generations, ("FR", "US"), strict=True)
    assert set(load.answers) == set(expected)
    assert load.told_to_leave == 0


def test_data_too_old_are_tagged(own_store: Store, tmp_path: Path) -> None:
    old = str(numbered(tmp_path / "old", 1, date="2020-01-01"))
    header = [("X-API-Key", own_store.key())]
    options = ("--dataset", old, "--max-age", "30d", "--on-stale", "tag")
    with serving(own_store, tmp_path, *options) as server:
        answer = server.ask("?ip=8.8.8.8", header)
        assert (answer.status, answer.headers["x-dataset-stale"]) == (200, "true")
