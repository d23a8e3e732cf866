"""Reload under fire: readers in threads and processes while a store changes, by several at once."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

import geolookup
from geolookup import publish
from geolookup.history.generations import generations, rollback
from geolookup.history.pruning import prune
from tests.conftest import ROOT
from tests.servers import PATIENCE, until
from tests.store.numbered import ADDRESSES, answers_of, id_of, shared
from tests.store.reading import Reader, descriptors
from tests.tiers import scaled

CHANGES, PROCESSES = scaled(12, 30), scaled(0, 1)


def good_answers() -> dict[str, set[bytes]]:
    columns = zip(*(answers_of(dataset) for dataset in map(shared, range(8))), strict=True)
    return dict(zip(ADDRESSES, map(set, columns), strict=True))


def change(store: Path, number: int) -> None:
    """Publish another generation; every fourth time roll back instead, at times prune."""
    if number % 4 == 3:
        rollback(store)
    else:
        publish(shared((number - number // 4) % 8), store)
    if number % 10 == 9:
        prune(store, 3)


def numbers(readers: list[subprocess.Popen[str]], stop: Path) -> Iterator[int]:
    """Yield the numbers of the changes: more than CHANGES until all readers have met enough."""
    ended = time.monotonic() + PATIENCE
    settled = [Path(f"{stop}.{reader.pid}") for reader in readers]
    for number in count():
        if number >= CHANGES and (all(map(Path.exists, settled)) or time.monotonic() > ended):
            return
        yield number
        if number >= CHANGES:
            time.sleep(0.02)  # the processes have begun late: leave them the cores


def start_reader(store: Path, good: dict[str, set[bytes]], stop: Path) -> subprocess.Popen[str]:
    answers = json.dumps({ip: [text.decode() for text in texts] for ip, texts in good.items()})
    command = [sys.executable, "-m", "tests.store.reading", str(store), answers, str(stop)]
    reader = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None
    assert reader.stdout.readline() == "ready\n"
    return reader


def wait_for(reader: Reader, generation: str) -> None:
    until(lambda: generation in reader.met)


@pytest.fixture
def _switching() -> Generator[None, None, None]:
    """A switch of threads at every chance: more meets, and nobody waits for four readers."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_switching")
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc on this system")
def test_every_answer_is_one_generations(tmp_path: Path, store: Path) -> None:
    good, stop, before = good_answers(), tmp_path / "stop", descriptors()
    processes = [start_reader(store, good, stop) for _ in range(PROCESSES)]
    ended = threading.Event()

    def read(reader: Reader) -> None:
        while not ended.is_set():
            reader.look()

    with geolookup.open(store) as engine, ThreadPoolExecutor(4) as pool:
        readers = [Reader(engine, good) for _ in range(4)]
        threads = [pool.submit(read, reader) for reader in readers]
        try:
            for number in numbers(processes, stop):
                change(store, number)
                engine.reload()
                for reader in readers:
                    wait_for(reader, engine.generation)
        finally:
            ended.set()
            stop.touch()
        for thread in threads:
            thread.result()
    said = [json.loads(process.communicate()[0]) for process in processes]

    assert all(process.returncode == 0 for process in processes)
    assert [reader.mixed for reader in readers] == [0] * 4
    assert [message["mixed"] for message in said] == [0] * PROCESSES
    assert all(len(reader.met) == 8 and reader.lookups >= 8 for reader in readers)
    assert all(message["met"] > 4 and message["lookups"] > 4 for message in said)
    # An earlier test's files may be closed meanwhile.
    assert descriptors() <= before
    for item in said:
        settled, last = item["descriptors"]
        # One generation's files, for a moment those of the next, and what verifies it.
        assert last <= settled + 48
        assert item["grown"] < 16 << 20


@pytest.mark.long
def test_processes_that_make_and_fill_one_store(tmp_path: Path) -> None:
    store, datasets = tmp_path / "store", list(map(shared, range(6)))
    command = [sys.executable, "-m", "geolookup", "publish"]
    running = [
        subprocess.Popen(
            [*command, dataset, "--store", store], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for dataset in datasets
    ]
    said = [process.communicate()[0].split() for process in running]
    ids = list(map(id_of, range(6)))
    assert said == [["generation", row_id] for row_id in ids]
    assert {generation.generation for generation in generations(store)} == set(ids)
    (current,) = [generation for generation in generations(store) if generation.current]
    assert answers_of(store) == answers_of(datasets[ids.index(current.generation)])


def test_threads_too(store: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: publish(shared(number % 8), store), range(scaled(12, 40))))
    assert {generation.generation for generation in generations(store)} == {
        id_of(number) for number in range(8)
    }
