"""A process that ends at any step leaves a mirror that readers can use, and a whole store.

The next run mends the mirror; the store is at the old or the new generation.
"""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from geolookup import publish
from tests.internals.history import prune, rollback
from tests.internals.mirrors import INDEX, mirror
from tests.mirrors.conftest import Edge, archives_of, index_of
from tests.store.dying import DONE, KILLED, REFUSED, Kind, ending, steps_of
from tests.store.numbered import id_of, shared
from tests.tiers import scaled

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]
_KINDS: dict[Kind, str] = {"kill": KILLED, "fault": REFUSED}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_run_that_ends(store: Path, tmp_path: Path, kind: Kind, is_first: bool) -> None:
    """Readers find all that the index names. The next run leaves nothing of the one that ended."""
    former, folder = tmp_path / "former", tmp_path / "mirror"
    old, new, kept = None, id_of(2), set[str]()
    if not is_first:
        mirror(store, former)
        publish(shared(3), store)
        old, new, kept = id_of(2), id_of(3), archives_of(former)
    work, outcomes = partial(mirror, store, folder), set()

    def begin() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        if not is_first:
            shutil.copytree(former, folder)

    begin()
    steps = steps_of(work)
    for step in (*range(0, steps, scaled(7, 2)), steps):
        begin()
        ended = ending(work, kind, step)
        outcomes.add((ended, index_of(folder).current if (folder / INDEX).exists() else None))
        work()
        assert archives_of(folder) == kept | {file.path for file in index_of(folder).files}
        assert {path.name for path in folder.iterdir()} == {".lock", INDEX, "archives"}
    assert outcomes >= {(_KINDS[kind], old), (DONE, new)}
    assert outcomes <= {(_KINDS[kind], old), (_KINDS[kind], new), (DONE, new)}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("is_withdrawal", [True, False])
def test_a_poll_that_ends(followed: Edge, tmp_path: Path, is_withdrawal: bool, kind: Kind) -> None:
    if is_withdrawal:
        rollback(followed.origin)
        followed.mirror()
    else:
        followed.publish(2)
    old, new = id_of(1), followed.index().current
    whole = shutil.copytree(followed.store, tmp_path / "whole")
    steps, outcomes = steps_of(followed.poll), set()
    for step in (*range(0, steps, steps // scaled(10, 16)), 2 * steps):
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
