"""A process that dies, or is refused by the system, at any step of a change of the history."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import geolookup
from geolookup.history.generations import rollback
from geolookup.history.pruning import prune
from geolookup.history.unpacked import unpacked
from geolookup.integrity import verify
from geolookup.store import pointer
from tests.datasets import once
from tests.store.dying import DONE, FAILED, KILLED, REFUSED, Kind, ending
from tests.store.numbered import id_of, published, shared

Change = Callable[[Path], object]
#: How a change may end if it is killed, or if a step of it fails: deltas are then left out.
ENDS: dict[Kind, set[str]] = {"kill": {KILLED, DONE}, "fault": {REFUSED, DONE}}
CHANGES: dict[str, Change] = {
    "prune": lambda store: prune(store, 4),
    "since": lambda store: geolookup.publish(shared(6), store, since="2026-01-01"),
    "rollback": rollback,
    "again": lambda store: geolookup.publish(shared(1), store),
    "fewer": lambda store: prune(store, 3),
}
#: The greatest number of steps of a change, and a few more.
_MOST = 170


def with_deltas(folder: Path) -> Path:
    """Copy a store of five generations: 0, 1 and 2 are deltas, 4 is withdrawn."""

    def make(store: Path) -> None:
        published(store, 0, 1, 2, 3, 4)
        rollback(store)
        prune(store, 5)
        # The generation before the current one is unpacked; another rollback makes 1 that.
        rollback(store)

    return shutil.copytree(once("store-with-deltas", make), folder)


def start(folder: Path, name: str) -> Path:
    return published(folder, 0, 1, 2, 3, 4) if name == "prune" else with_deltas(folder)


def check(store: Path) -> None:
    """Every published generation is whole, and the current one answers."""
    for entry in pointer.read(store):
        folder = unpacked(store, entry.generation)
        number = next(number for number in range(8) if id_of(number) == entry.generation)
        for path in shared(number).iterdir():
            assert (folder / path.name).read_bytes() == path.read_bytes()
    with geolookup.open(store) as engine:
        verify(engine.path)


def current(store: Path) -> str:
    return pointer.not_withdrawn(pointer.read(store))[-1].generation


def names(store: Path) -> set[str]:
    """Return the names of all generations and of their changes, whatever the order of two."""
    paths = (*store.glob("generations/*"), *store.glob("history/*"))
    return {"-".join(sorted(path.name.removesuffix(".former").split("-"))) for path in paths}


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("name", CHANGES)
def test_at_every_step(tmp_path: Path, name: str, kind: Kind) -> None:
    change = CHANGES[name]
    whole = start(tmp_path / "whole", name)
    change(whole)
    prune(whole, 4)
    ended = []
    for step in range(0, _MOST, 7):
        store = start(tmp_path / f"{step}", name)
        before, was = {entry.generation for entry in pointer.read(store)}, current(store)
        ended.append(ending(partial(change, store), kind, step))
        assert ended[-1] != FAILED
        check(store)
        now = {entry.generation for entry in pointer.read(store)}
        if name not in ("since", "again"):
            assert now <= before
        if name == "rollback":
            assert now == before
        is_rolled_back = name == "rollback" and current(store) != was
        if ended[-1] != DONE and not is_rolled_back:
            change(store)
        prune(store, 4)
        assert names(store) == names(whole), step
        assert not list(store.glob("*/.*"))
        shutil.rmtree(store)
    assert set(ended) == ENDS[kind] or kind == "fault"
    assert ended[-1] == DONE
