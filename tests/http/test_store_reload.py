"""Serving from a store while its pointer moves: no request fails, no answer is mixed."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from geolookup.cli.serve import serve as command
from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.http.load import Load
from tests.http.serving import Store, serving
from tests.store.numbered import numbered
from tests.store.test_age import days_ago
from tests.tiers import scaled


@pytest.fixture
def datasets(tmp_path: Path) -> dict[str, str]:
    """Two datasets in a store; the country of 8.8.8.8 by generation."""
    (tmp_path / "new").mkdir()
    row = "8.8.8.0/24,FR"
    new, _ = build_at(tmp_path / "new", {"a.csv": f"network,country_code\n{row}\n"})
    store = tmp_path / "store"
    return {publish(new, store): "FR", publish(SMALL, store): "US"}


def test_generations_under_load(own_store: Store, tmp_path: Path, datasets: dict[str, str]) -> None:
    store = tmp_path / "store"
    # One of the two knows the country alone.
    options = ("--dataset", str(store), "--watch", "0.05", "--allow-lost-fields")
    key = own_store.key()
    with serving(own_store, tmp_path, *options, workers=2) as server:
        with Load(server, key, threads=2) as load:
            for _ in range(scaled(2, 15)):
                for change in (rollback, partial(publish, SMALL)):
                    installed, more = change(store), load.count(20)
                    server.becomes(lambda: more() and load.last == installed)  # noqa: B023
        # Without a request, too: who publishes waits until the metric names the new generation.
        line = f'geolookup_dataset_workers{{generation="{rollback(store)}"}} 2'
        server.becomes(lambda: line in server.show("/metrics").body.decode())
    assert load.broken == []
    assert set(load.outcomes) == {200}
    assert load.said == set(datasets.items())
    assert load.told_to_leave == 0


def test_data_too_old_are_tagged(own_store: Store, tmp_path: Path) -> None:
    old, store = numbered(tmp_path / "old", 1, date=days_ago(200)), tmp_path / "store"
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


def test_the_notice_about_old_data_can_be_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOLOOKUP_AGE_NOTICE", "1")
    command.make_context("serve", ["--accounts", "x", "--no-age-notice"])
    assert os.environ["GEOLOOKUP_AGE_NOTICE"] == "0"
