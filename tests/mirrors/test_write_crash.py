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
from tests.mirrors.reading import archives_of, index_of
from tests.store.dying import DONE, KILLED, REFUSED, Kind, endings
from tests.store.numbered import id_of, shared
from tests.tiers import one_of_each, scaled

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]
_KINDS: dict[Kind, str] = {"kill": KILLED, "fault": REFUSED}


def currents(store: Path, former: Path, place: Path, kind: Kind) -> list[tuple[str, str | None]]:
    """Return how a run ended before each step, and the generation that readers found then."""
    found: list[tuple[str, str | None]] = []
    work = partial(mirror, store, place, deltas=1)
    for ended in endings(work, kind, former, place, stride=scaled(24, 2), calm=1):
        found.append((ended, index_of(place).current if (place / INDEX).exists() else None))
        check_mended(store, former, place)
    return found


def check_mended(store: Path, former: Path, place: Path) -> None:
    """The next run completes the mirror, and nothing is left of the one that ended."""
    mirror(store, place, deltas=1)
    named = {file.path for file in index_of(place).files}
    if former.exists():
        named |= {file.path for file in index_of(former).files}
    assert archives_of(place) == named
    assert {path.name for path in place.iterdir()} == {".lock", INDEX, "packs", "deltas"}


@pytest.mark.long
@pytest.mark.parametrize("kind", _KINDS)
def test_the_first_run(store: Path, tmp_path: Path, kind: Kind) -> None:
    found = currents(store, tmp_path / "none", tmp_path / "mirror", kind)
    assert {ended for ended, _ in found} == {_KINDS[kind], DONE}
    current = [each for _, each in found]
    begun = current.index(id_of(2))
    assert current == [None] * begun + [id_of(2)] * (len(found) - begun)


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
    found = currents(store, former, tmp_path / "mirror", kind)
    current = [each for _, each in found]
    moved = current.index(new)
    assert current == [id_of(2)] * moved + [new] * (len(found) - moved)
