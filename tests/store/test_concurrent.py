"""Several who change one store at once, and readers that start meanwhile."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

import geolookup
from geolookup.store.generations import generations, prune
from geolookup.store.publish import publish
from tests.conftest import ROOT
from tests.store.numbered import ADDRESSES, answers_of, generation, id_of, shared
from tests.tiers import scaled


@pytest.mark.long
def test_processes_that_make_and_fill_one_store(tmp_path: Path) -> None:
    store = tmp_path / "store"
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "geolookup", "publish", str(dataset), str(store)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for dataset in map(shared, range(6))
    ]
    said = [process.communicate()[0].split() for process in running]
    ids = [generation(dataset) for dataset in map(shared, range(6))]
    assert said == [["generation", each] for each in ids]
    assert {each.generation for each in generations(store)} == set(ids)
    (current,) = [each for each in generations(store) if each.current]
    assert answers_of(store) == answers_of(shared(ids.index(current.generation)))


def test_threads_too(store: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: publish(shared(number % 8), store), range(scaled(12, 40))))
    assert {each.generation for each in generations(store)} == {
        id_of(number) for number in range(8)
    }


@pytest.mark.long
def test_who_opens_while_all_but_one_is_removed(store: Path) -> None:
    """Between reading the pointer and opening the folder, the generation may go."""
    good = {tuple(answers_of(dataset)) for dataset in map(shared, range(8))}

    ended = threading.Event()

    def change() -> int:
        for number in count():
            publish(shared(number % 8), store)
            prune(store, 1)
            if ended.is_set() and number > 50:
                return number
        raise AssertionError

    with ThreadPoolExecutor(1) as pool:
        changing = pool.submit(change)
        try:
            met = set[tuple[bytes, ...]]()
            while len(met) < 8 and not changing.done():
                with geolookup.open(store) as engine:
                    found = tuple(engine.lookup_json(ip, at=0) for ip in ADDRESSES)
                assert found in good
                met.add(found)
        finally:
            ended.set()
        changing.result()
