"""Fixtures of the tests of updates: a publisher, a store and a cache, all new."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.conftest import ROOT
from tests.internals.history import StoreResult
from tests.internals.remote import transfer
from tests.remote.serving import FAST
from tests.updates.publisher import Publisher, publishing


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    with publishing(tmp_path) as result:
        yield result


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the user's store, and a cache of its own; nothing is there yet."""
    monkeypatch.setenv("GEOLOOKUP_STORE", str(tmp_path / "data" / "store"))
    monkeypatch.delenv("GEOLOOKUP_DATASET", raising=False)
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data" / "store"


Update = Callable[..., StoreResult]


def environment() -> dict[str, str]:
    """The environment of processes that update, as the fixtures have changed it."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "builder")])}


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without the waits that no test has to sit through."""
    for call in (transfer.fetch, transfer.ask):
        defaults = tuple(
            FAST if item is transfer.DEFAULT_LIMITS else item for item in call.__defaults__ or ()
        )
        monkeypatch.setattr(call, "__defaults__", defaults)


@pytest.fixture
def update(publisher: Publisher, store: Path) -> Update:
    """``geolookup.update`` by the publisher's recipe into the user's store."""

    def call(**options: Any) -> StoreResult:
        return geolookup.update(publisher.recipe, **options)

    return call


def is_tidy(store: Path) -> bool:
    """Return whether a store holds nothing but what it should, and verify it."""
    geolookup.verify(store / "generations" / geolookup.generations(store)[0].generation, deep=True)
    names = {path.name for path in store.iterdir()}
    left = [*store.glob("generations/.*"), *store.glob(".update/dataset*")]
    known = {"current", "generations", "changes", ".lock", ".update", "update.json"}
    return not left and names <= known


def country(ip: str = "8.0.0.1") -> object:
    with geolookup.open() as engine:
        return engine.data(ip)["location"]["country_code"]
