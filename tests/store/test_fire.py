"""Reload under fire: threads read while a store changes, and each answer is one generation's."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import geolookup
from geolookup import publish
from tests.internals.history import prune, rollback
from tests.servers import until
from tests.store.numbered import answers, answers_of, shared
from tests.tiers import scaled


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


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc on this system")
def test_every_answer_is_one_generations(store: Path) -> None:
    columns = [*zip(*(answers_of(shared(number)) for number in range(8)), strict=True)]
    before, ended = descriptors(), threading.Event()
    met: list[set[str]] = [set() for _ in range(4)]

    def read(generations: set[str]) -> None:
        while not ended.wait(0.002):  # two cores are to be left some room for the changes
            for answer, good in zip(answers(engine), columns, strict=True):
                assert answer in good
            generations.add(engine.generation)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # more meets, and nobody waits for four readers
    try:
        with geolookup.open(store) as engine, ThreadPoolExecutor(4) as pool:
            threads = [pool.submit(read, generations) for generations in met]
            try:
                for number in range(scaled(12, 30)):
                    change(store, number)
                    engine.reload()
                    until(lambda: all(engine.generation in generations for generations in met))
            finally:
                ended.set()
            for thread in threads:
                thread.result()
    finally:
        sys.setswitchinterval(interval)
    assert all(len(generations) == 8 for generations in met)
    # An earlier test's files may be closed meanwhile.
    assert descriptors() <= before
