"""A process that ends at any step leaves a mirror that readers can use, and a whole store.

The next run mends the mirror; the store is at the old or the new generation.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from geolookup import publish
from tests.internals.history import prune, rollback
from tests.internals.mirrors import INDEX, mirror
from tests.mirrors.conftest import Edge, archives_of, index_of
from tests.store.dying import DONE, KILLED, REFUSED, Kind, ending, steps_of
from tests.store.numbered import id_of, shared
from tests.tiers import one_of_each, scaled

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]
_KINDS: dict[Kind, str] = {"kill": KILLED, "fault": REFUSED}


def check(
    store: Path, former: Path, target_folder: Path, kind: Kind, old: str | None, new: str
) -> None:
    """Readers find the old generation up to one step, and the new one from there on.

    The next run completes the mirror, and nothing is left of the one that ended.
    """

    def begin() -> None:
        shutil.rmtree(target_folder, ignore_errors=True)
        if former.exists():
            shutil.copytree(former, target_folder)

    actual: list[str | None] = []
    outcomes = set()
    work = partial(mirror, store, target_folder)
    begin()
    steps = steps_of(work)
    for step in (*range(0, steps, scaled(7, 2)), steps):
        begin()
        ended = ending(work, kind, step)
        outcomes.add(ended)
        actual.append(index_of(target_folder).current if (target_folder / INDEX).exists() else None)
        assert ended != DONE or actual[-1] == new
        work()
        named = {file.path for file in index_of(target_folder).files}
        if former.exists():
            named |= {file.path for file in index_of(former).files}
        assert archives_of(target_folder) == named
        assert {path.name for path in target_folder.iterdir()} == {".lock", INDEX, "archives"}
    assert outcomes == {_KINDS[kind], DONE}
    if kind == "fault":
        actual.sort(key=lambda item: item == new)
    moved = actual.index(new)
    assert moved
    assert actual == [old] * moved + [new] * (len(actual) - moved)


@pytest.mark.long
@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize(
    "change", one_of_each(["publish", "rollback", "first run"], lambda _: "change")
)
def test_a_run_that_ends(store: Path, tmp_path: Path, kind: Kind, change: str) -> None:
    former, target = tmp_path / "former", tmp_path / "mirror"
    if change == "first run":
        return check(store, former, target, kind, None, id_of(2))
    mirror(store, former)
    if change == "publish":
        publish(shared(3), store)
    else:
        rollback(store)
    return check(store, former, target, kind, id_of(2), id_of(3 if change == "publish" else 1))


def _withdraw(edge: Edge) -> None:
    rollback(edge.origin)
    edge.mirror()


#: What the mirror did before the poll.
CHANGES: dict[str, Callable[[Edge], object]] = {
    "publication": lambda edge: edge.publish(2),
    "withdrawal": _withdraw,
}


@pytest.mark.long
@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("name", CHANGES)
def test_a_poll_that_ends(followed: Edge, tmp_path: Path, name: str, kind: Kind) -> None:
    CHANGES[name](followed)
    old, new = id_of(1), followed.index().current
    whole = shutil.copytree(followed.store, tmp_path / "whole")
    steps = steps_of(followed.poll)
    outcomes = set()
    for step in (*range(0, steps, steps // scaled(4, 16)), 2 * steps):
        shutil.rmtree(followed.store)
        shutil.copytree(whole, followed.store)
        ended = ending(followed.poll, kind, step)
        outcomes.add((ended, followed.current))
        followed.poll()
        assert followed.current == new
        if kind == "fault":  # a removal that failed is logged; the next change of the store tidies
            prune(followed.store)
        assert not list((followed.store / "generations").glob(".*"))
    assert outcomes >= {(_KINDS[kind], old), (DONE, new)}
    assert outcomes <= {(_KINDS[kind], old), (_KINDS[kind], new), (DONE, new)}
