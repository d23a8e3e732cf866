"""A process that ends at any step leaves a mirror that readers can use, and the next run mends."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from geolookup.mirrors.index import INDEX
from geolookup.mirrors.write import mirror
from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from tests.mirrors.following import archives_of, index_of
from tests.store.dying import DONE, KILLED, REFUSED, Kind, endings
from tests.store.numbered import id_of, shared
from tests.tiers import one_of_each, scaled

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]
_KINDS: dict[Kind, str] = {"kill": KILLED, "fault": REFUSED}


def check(store: Path, former: Path, place: Path, kind: Kind, old: str | None, new: str) -> None:
    """Readers find the old generation up to one step, and the new one from there on.

    The next run completes the mirror, and nothing is left of the one that ended. The first faults
    do no harm, hence ``calm``.
    """
    found: list[str | None] = []
    outcomes = set()
    work = partial(mirror, store, place, deltas=1)
    for ended in endings(work, kind, former, place, stride=scaled(5, 1), calm=scaled(2, 4)):
        outcomes.add(ended)
        found.append(index_of(place).current if (place / INDEX).exists() else None)
        assert ended != DONE or found[-1] == new
        work()
        named = {file.path for file in index_of(place).files}
        if former.exists():
            named |= {file.path for file in index_of(former).files}
        assert archives_of(place) == named
        assert {path.name for path in place.iterdir()} == {".lock", INDEX, "packs", "deltas"}
    assert outcomes == {_KINDS[kind], DONE}
    if kind == "fault":
        found.sort(key=lambda each: each == new)
    moved = found.index(new)
    assert moved
    assert found == [old] * moved + [new] * (len(found) - moved)


@pytest.mark.long
@pytest.mark.parametrize("kind", _KINDS)
def test_the_first_run(store: Path, tmp_path: Path, kind: Kind) -> None:
    check(store, tmp_path / "none", tmp_path / "mirror", kind, None, id_of(2))


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("change", one_of_each(["publish", "rollback"], lambda _: "change"))
def test_a_further_run(store: Path, tmp_path: Path, kind: Kind, change: str) -> None:
    former = tmp_path / "former"
    mirror(store, former, deltas=1)
    if change == "publish":
        publish(shared(3), store)
    else:
        rollback(store)
    new = id_of(3 if change == "publish" else 1)
    check(store, former, tmp_path / "mirror", kind, id_of(2), new)
