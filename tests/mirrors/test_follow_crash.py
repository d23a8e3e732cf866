"""A poll that ends at any step leaves the store at the old or the new generation."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from geolookup.mirrors.poll import poll
from geolookup.mirrors.request import Request
from geolookup.mirrors.write import mirror
from geolookup.store.generations import rollback
from tests.mirrors.following import Edge
from tests.store.dying import DONE, FAILED, KILLED, Kind, ending
from tests.store.numbered import id_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]


def _withdraw(edge: Edge) -> None:
    rollback(edge.origin)
    mirror(edge.origin, edge.folder)


#: What the mirror did, and about how many steps the poll has then.
CHANGES: dict[str, tuple[Callable[[Edge], object], int]] = {
    "delta": (lambda edge: edge.publish(2), 125),
    "pack": (lambda edge: edge.publish(2, deltas=0), 125),
    "withdrawal": (_withdraw, 41),
}
#: Polls that end, of each change and kind; spread over the steps.
_POLLS = 9


@pytest.mark.parametrize("kind", ["kill", "fault"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_poll_that_ends(followed: Edge, tmp_path: Path, name: str, kind: Kind) -> None:
    change, steps = CHANGES[name]
    change(followed)
    old, new = id_of(1), followed.index().current
    whole = tmp_path / "whole"
    followed.store.rename(whole)
    outcomes = set()
    for number in range(_POLLS):
        shutil.rmtree(followed.store, ignore_errors=True)
        shutil.copytree(whole, followed.store)
        step = number * steps // (_POLLS - 2)  # the last one ends by itself
        ended = ending(lambda: poll(Request(followed.site.url, followed.store)), kind, step)
        outcomes.add((ended, followed.current))
        followed.poll()
        assert followed.current == new
        assert not list((followed.store / "generations").glob(".*"))
    assert {found for _, found in outcomes} == {old, new}
    assert (DONE, new) in outcomes
    assert (DONE, old) not in outcomes
    assert kind == "fault" or (KILLED, old) in outcomes
    assert FAILED not in {ended for ended, _ in outcomes}
