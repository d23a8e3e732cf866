"""Serving from a store while its pointer moves: no request fails, no answer is mixed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.http.load import Load
from tests.http.serving import Store, serving

CHANGES = 30


@pytest.fixture
def datasets(tmp_path: Path) -> dict[str, str]:
    """Two datasets in a store; the country of 8.8.8.8 by generation."""
    (tmp_path / "new").mkdir()
    row = "8.8.8.0/24,FR"
    new, _ = build_at(tmp_path / "new", {"a.csv": f"network,country_code\n{row}\n"})
    store = tmp_path / "store"
    return {publish(new, store): "FR", publish(SMALL, store): "US"}


def test_generations_come_and_go_under_load(
    own_store: Store, tmp_path: Path, datasets: dict[str, str]
) -> None:
    store = tmp_path / "store"
    # One of the two knows the country alone.
    options = ("--dataset", str(store), "--watch", "0.05", "--allow-lost-fields")
    key = own_store.key()
    with serving(own_store, tmp_path, *options, workers=2) as server, Load(server, key) as load:
        for _ in range(CHANGES // 2):
            rollback(store)
            time.sleep(0.15)
            publish(SMALL, store)
            time.sleep(0.15)
        load.stop()
    assert load.broken == []
    assert set(load.outcomes) == {200}
    assert load.said == set(datasets.items())
    assert load.told_to_leave == 0


def test_an_idle_worker_says_which_generation_it_installed(
    own_store: Store, tmp_path: Path, datasets: dict[str, str]
) -> None:
    """Without a request: who publishes waits until the metric names the new generation."""
    store = tmp_path / "store"
    options = ("--dataset", str(store), "--watch", "0.05", "--allow-lost-fields")
    with serving(own_store, tmp_path, *options, workers=2) as server:
        before, after = publish(SMALL, store), rollback(store)
        assert datasets[before] != datasets[after]
        line = f'geolookup_dataset_workers{{generation="{after}"}} 2'
        deadline = time.monotonic() + 60
        while line not in server.show("/metrics").body.decode():
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_data_too_old_are_tagged(
    own_store: Store, tmp_path: Path, datasets: dict[str, str]
) -> None:
    header = [("X-API-Key", own_store.key())]
    undated = rollback(tmp_path / "store")
    options = ("--dataset", str(tmp_path / "store"), "--max-age", "30d", "--on-stale", "tag")
    with serving(own_store, tmp_path, *options) as server:
        answer = server.ask("?ip=8.8.8.8", header)
    assert (answer.status, answer.headers["x-dataset-stale"]) == (200, "true")
    assert answer.headers["x-dataset-generation"] == undated
    assert datasets[undated] == "FR"
