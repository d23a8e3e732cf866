"""``fallback``: where the current generation is damaged, the one before it answers."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

import geolookup
from geolookup.store.generations import rollback
from tests.store.numbered import generation, published, shared
from tests.tiers import one_of_each

NAMES = ("ipv4.arrow", "manifest.json", "zone.arrow")


@pytest.fixture
def store(tmp_path: Path) -> tuple[Path, list[str]]:
    """A store of three generations; their ids, the oldest first."""
    return published(tmp_path / "store", 0, 1, 2), [generation(shared(n)) for n in range(3)]


def _damage(store: Path, generation: str, name: str) -> None:
    os.truncate(store / "generations" / generation / name, 10)


@pytest.mark.parametrize("name", one_of_each(NAMES, lambda name: name == "manifest.json"))
def test_the_last_one_that_opens_answers(
    store: tuple[Path, list[str]], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder, (first, second, third) = store
    _damage(folder, third, name)
    with pytest.raises(geolookup.DatasetError, match=name):
        geolookup.open(folder)
    with caplog.at_level(logging.WARNING), geolookup.open(folder, fallback=True) as engine:
        assert engine.generation == second
        with pytest.raises(geolookup.DatasetError, match=name):
            engine.reload()
        assert engine.generation == second
    (record,) = caplog.records
    assert name in record.getMessage()
    assert second in record.getMessage()
    _damage(folder, second, name)
    with geolookup.open(folder, fallback=True) as engine:
        assert engine.generation == first


def test_who_answers_then(store: tuple[Path, list[str]]) -> None:
    """The current one without damage; never a withdrawn one; an error if none opens."""
    folder, (first, second, third) = store
    for expected, damaged in ((third, None), (second, None), (first, second)):
        if damaged:
            _damage(folder, damaged, NAMES[0])
        with geolookup.open(folder, fallback=True) as engine:
            assert engine.generation == expected
            assert damaged or not engine.reload()
        if expected == third:
            rollback(folder)
    _damage(folder, first, NAMES[0])
    for path, problem in ((folder, second), (folder / "generations" / first, first)):
        with pytest.raises(geolookup.DatasetError, match=problem):
            geolookup.open(path, fallback=True)
