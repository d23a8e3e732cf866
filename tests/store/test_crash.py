"""Changes of a store beside a model, and a process that ends at any step of one."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup import publish
from geolookup.archives.pack import pack
from geolookup.history.generations import generations, rollback
from geolookup.history.pruning import prune
from geolookup.history.publishing import publish as publish_archive
from geolookup.integrity import verify
from geolookup.store import pointer
from tests.conftest import ROOT
from tests.datasets import once
from tests.store.dying import DONE, KILLED, REFUSED, Kind, endings
from tests.store.numbered import answers_of, id_of, shared
from tests.tiers import one_of_each, scaled

Change = Callable[[Path], object]


def archive(base: int | None) -> Path:
    """Number 2, whole or as a delta."""
    against = None if base is None else shared(base)
    return once(f"store-{base}-2.tar.zst", lambda path: pack(shared(2), path, base=against))


CHANGES: dict[str, tuple[Change, int]] = {
    "publish": (lambda store: publish(shared(2), store), 2),
    "delta": (lambda store: publish_archive(archive(0), store), 2),
    "whole": (lambda store: publish_archive(archive(None), store), 2),
    "again": (lambda store: publish(shared(0), store), 0),
    "rollback": (rollback, 0),
    "prune": (lambda store: prune(store, 1), 1),
}
#: Those of more than thirty steps.
LONG_CHANGES = ("publish", "delta", "whole")
#: Steps in a row whose fault harms nothing: on a full disk ``prune`` writes the pointer again.
_RETRIED = 6
KINDS: dict[Kind, str] = {"kill": KILLED, "fault": REFUSED}


def steps(
    change: Change, store: Path, target_folder: Path, kind: Kind, stride: int
) -> list[tuple[str, str]]:
    """Return how a change ended at each ``stride``-th step, and the generation found then.

    After each the store must answer from a whole generation, and take the change up again.
    """
    outcomes: list[tuple[str, str]] = []
    change(
        shutil.copytree(store, target_folder)
    )  # makes what tests share: no child may fail at that
    work = partial(change, target_folder)
    for ended in endings(work, kind, store, target_folder, stride=stride, calm=_RETRIED):
        with geolookup.open(target_folder) as engine:
            actual = engine.generation
            verify(engine.path)
        outcomes.append((ended, actual))
        if actual == id_of(1):
            change(target_folder)
        check_tidy(target_folder)
    return outcomes


def check_tidy(store: Path) -> None:
    publish(store, store)  # of what is current: cleans up, changes nothing else
    assert {path.name for path in store.iterdir()} == {"current", "generations", ".lock"}
    assert not any(path.name.startswith(".") for path in (store / "generations").iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
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
    assert {item for ended, item in outcomes if ended == DONE} == {new}
    actual = [item for _, item in outcomes]
    assert set(actual) == {old, new}
    if kind == "kill":  # old up to the one step that changes it, new from there on
        moved = actual.index(new)
        assert actual == [old] * moved + [new] * (len(actual) - moved)
    assert len(actual) > (30 // stride if name in LONG_CHANGES else 4)


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


def test_rollback_refuses_a_damaged_generation(store: Path) -> None:
    (store / "generations" / id_of(0) / "zone.arrow").unlink()
    with pytest.raises(geolookup.DatasetError, match=r"zone.arrow"):
        rollback(store)
    assert answers_of(store) == answers_of(shared(1))


def test_a_removed_generation_still_answers_who_has_it_open(store: Path) -> None:
    with geolookup.open(store) as engine:
        publish(shared(2), store)
        prune(store, 1)
        assert not engine.path.exists()
        assert [engine.lookup_json("8.8.8.8", at=0)] == answers_of(shared(1))[:1]
        assert len(list(engine.prefixes())) == 4


def test_changes_that_cannot_be(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keep"):
        prune(store, 0)
    (store / "generations" / id_of(5)).mkdir()  # never came to be published
    assert prune(store, 9) == [id_of(5)]
    (tmp_path / "empty").mkdir()
    changes: tuple[Callable[[Path], object], ...] = (rollback, prune, generations)
    for change in changes:
        with pytest.raises(geolookup.DatasetError, match="no store here"):
            change(tmp_path / "empty")
        assert list((tmp_path / "empty").iterdir()) == []


@settings(max_examples=scaled(8, 25))
@given(
    st.lists(
        st.tuples(st.just("publish"), st.integers(0, 4))
        | st.tuples(st.just("rollback"), st.just(0))
        | st.tuples(st.just("prune"), st.integers(0, 4)),
        max_size=12,
    )
)
# A rollback does not lead to what was withdrawn; publishing again ends a withdrawal.
@example([("publish", 1), ("rollback", 0), ("publish", 2), ("rollback", 0)])
@example([("publish", 1), ("rollback", 0), ("publish", 1), ("rollback", 0), ("rollback", 0)])
# 4 and 3 were published last; 2 answers, and 1 came before: 0 goes, and then 1 and 3.
@example(
    [*(("publish", n) for n in (1, 2, 3, 4)), *[("rollback", 0)] * 2, ("prune", 0), ("prune", 1)]
)
def test_any_sequence_of_changes(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]]
) -> None:
    """Beside a plain model: the numbers in the order of publication, and which are withdrawn."""
    store = tmp_path_factory.mktemp("any") / "store"
    published: list[int] = []
    withdrawn: set[int] = set()
    for change, number in [("publish", 0), *changes]:
        not_withdrawn = [generation for generation in published if generation not in withdrawn]
        if change == "publish":
            publish(shared(number), store)
            published = [*(generation for generation in published if generation != number), number]
            withdrawn.discard(number)
        elif change == "prune":
            keep = number or 2  # 0: the default
            kept = {*published[-keep:], *not_withdrawn[-min(keep, 2) :]}
            gone = prune(store, number) if number else prune(store)
            assert set(gone) == {
                id_of(generation) for generation in published if generation not in kept
            }
            published = [generation for generation in published if generation in kept]
        elif len(not_withdrawn) > 1:
            assert rollback(store) == id_of(not_withdrawn[-2])
            withdrawn.add(not_withdrawn[-1])
        else:
            before = (store / "current").read_bytes()
            with pytest.raises(geolookup.DatasetError, match="no generation before"):
                rollback(store)
            assert (store / "current").read_bytes() == before
        ids, listed = [id_of(generation) for generation in published], generations(store)
        not_withdrawn = [generation for generation in published if generation not in withdrawn]
        assert [item.generation for item in pointer.read(store)] == ids
        assert {path.name for path in (store / "generations").iterdir()} == set(ids)
        assert {entry.generation for entry in listed} == set(ids)
        assert {entry.generation for entry in listed if entry.withdrawn} == {
            id_of(generation) for generation in published if generation in withdrawn
        }
        assert [entry.generation for entry in listed if entry.current] == [id_of(not_withdrawn[-1])]
        assert answers_of(store) == answers_of(shared(not_withdrawn[-1]))
