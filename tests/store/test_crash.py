"""A process that ends at any step leaves the store at the old or the new generation."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import geolookup
from geolookup.integrity import verify
from geolookup.store.generations import prune, rollback
from geolookup.store.publish import publish
from tests.conftest import ROOT
from tests.store.dying import DONE, KILLED, REFUSED, Kind, endings
from tests.store.numbered import answers_of, id_of, shared
from tests.tiers import one_of_each, scaled

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]
Change = Callable[[Path], object]

CHANGES: dict[str, tuple[Change, int]] = {
    "publish": (lambda store: publish(shared(2), store), 2),
    "copy": (lambda store: publish(shared(2), store, copy=True), 2),
    "again": (lambda store: publish(shared(0), store), 0),
    "rollback": (rollback, 0),
    "prune": (lambda store: prune(store, 1), 1),
}
#: Those of more than thirty steps.
LONG_CHANGES = ("publish", "copy")
KINDS: dict[Kind, str] = {"kill": KILLED, "fault": REFUSED}


def steps(
    change: Change, store: Path, place: Path, kind: Kind, stride: int
) -> list[tuple[str, str]]:
    """Return how a change ended at each ``stride``-th step, and the generation found then.

    After each the store must answer from a whole generation, and take the change up again.
    """
    outcomes: list[tuple[str, str]] = []
    for ended in endings(partial(change, place), kind, store, place, stride=stride):
        with geolookup.open(place) as engine:
            found = engine.generation
            verify(engine.path)
        outcomes.append((ended, found))
        if found == id_of(1):
            change(place)
        check_tidy(place)
    return outcomes


def check_tidy(store: Path) -> None:
    publish(store, store)  # of what is current: cleans up, changes nothing else
    assert {path.name for path in store.iterdir()} == {"current", "generations", ".lock"}
    assert not any(path.name.startswith(".") for path in (store / "generations").iterdir())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", one_of_each(CHANGES, lambda name: "long" if name in LONG_CHANGES else "short")
)
def test_at_every_step(tmp_path: Path, store: Path, name: str, kind: Kind) -> None:
    change, after = CHANGES[name]
    stride = scaled(20, 1) if name in LONG_CHANGES else scaled(2, 1)
    old, new = id_of(1), id_of(after)
    outcomes = steps(change, store, tmp_path / "copy", kind, stride)
    assert {ended for ended, _ in outcomes} == {KINDS[kind], DONE}
    assert {found for ended, found in outcomes if ended == DONE} == {new}
    found = [each for _, each in outcomes]
    assert set(found) == {old, new}
    if kind == "kill":  # old up to the one step that changes it, new from there on
        moved = found.index(new)
        assert found == [old] * moved + [new] * (len(found) - moved)
    assert len(found) > (30 // stride if name in LONG_CHANGES else 4)


@pytest.mark.long
def test_killed_at_any_time(store: Path) -> None:
    """With the real command, and a reader that must never meet anything but the two."""
    good = [answers_of(shared(number)) for number in (1, 2)]
    command = [sys.executable, "-m", "geolookup"]
    drawn = random.Random(20261121)
    killed = 0
    while killed < 8:
        change = drawn.choice((["publish", str(shared(2))], ["publish", str(shared(1))]))
        process = subprocess.Popen(
            [*command, *change, str(store)], cwd=ROOT, stdout=subprocess.DEVNULL
        )
        end = time.monotonic() + drawn.uniform(0.05, 0.6)
        while time.monotonic() < end and process.poll() is None:
            assert answers_of(store) in good
        process.kill()
        killed += process.wait() != 0
        assert answers_of(store) in good
    publish(shared(3), store)
    assert answers_of(store) == answers_of(shared(3))
    check_tidy(store)
