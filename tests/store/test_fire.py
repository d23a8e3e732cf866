"""Reload under fire: threads read while a store changes, and each answer is one generation's."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import geolookup
from geolookup import publish
from tests.internals.history import prune, rollback
from tests.servers import until
from tests.store.numbered import ADDRESSES, answers_of, shared
from tests.tiers import scaled


class Reader:
    """Asks an engine, and says which generations it has met and how many answers were of none."""

    def __init__(self, engine: geolookup.Engine) -> None:
        columns = zip(*(answers_of(dataset) for dataset in map(shared, range(8))), strict=True)
        self._engine = engine
        self._good = dict(zip(ADDRESSES, map(set, columns), strict=True))
        self.mixed = 0
        self.met: set[str] = set()

    def read(self, ended: threading.Event) -> None:
        while not ended.wait(0.002):  # two cores are to be left some room for the changes
            for ip in ADDRESSES:
                self.mixed += self._engine.lookup_json(ip, at=0) not in self._good[ip]
                text = json.dumps(self._engine.lookup(ip, at=0), separators=(",", ":"))
                self.mixed += text.encode() not in self._good[ip]
            self.met.add(self._engine.generation)


def descriptors() -> int:
    """Return how many files this process has open, besides the one that it takes to count."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir()) - 1


def change(store: Path, number: int) -> None:
    """Publish another generation; every fourth time roll back instead, at times prune."""
    if number % 4 == 3:
        rollback(store)
    else:
        publish(shared((number - number // 4) % 8), store)
    if number % 10 == 9:
        prune(store, 3)


@pytest.fixture
def _switching() -> Generator[None, None, None]:
    """A switch of threads at every chance: more meets, and nobody waits for four readers."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.long
@pytest.mark.usefixtures("_switching")
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc on this system")
def test_every_answer_is_one_generations(store: Path) -> None:
    before, ended = descriptors(), threading.Event()
    with geolookup.open(store) as engine, ThreadPoolExecutor(4) as pool:
        readers = [Reader(engine) for _ in range(4)]
        threads = [pool.submit(reader.read, ended) for reader in readers]
        try:
            for number in range(scaled(12, 30)):
                change(store, number)
                engine.reload()
                for reader in readers:
                    until(lambda reader=reader: engine.generation in reader.met)  # type: ignore[misc]
        finally:
            ended.set()
        for thread in threads:
            thread.result()
    assert [reader.mixed for reader in readers] == [0] * 4
    assert all(len(reader.met) == 8 for reader in readers)
    # An earlier test's files may be closed meanwhile.
    assert descriptors() <= before


@pytest.mark.long
def test_a_store_is_opened_while_its_other_generations_are_removed(store: Path) -> None:
    """Between reading the pointer and opening the folder, the generation may go."""
    good = {tuple(answers_of(shared(number))) for number in range(8)}
    met: set[tuple[bytes, ...]] = set()
    ended = threading.Event()

    def change_often() -> None:
        for number in range(scaled(200, 800)):
            if ended.is_set() and number > 50:
                return
            publish(shared(number % 8), store)
            prune(store, 1)

    with ThreadPoolExecutor(1) as pool:
        changing = pool.submit(change_often)
        try:
            while met < good and not changing.done():
                met.add(tuple(answers_of(store)))
                assert met <= good
        finally:
            ended.set()
        changing.result()
    assert len(met) > 1
