"""One engine among many users: closing, pickling, threads, forked and spawned processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.conftest import build_at
from tests.datasets import SMALL

GROUPS = ["location", "currency", "network"]
ADDRESSES = (
    *("8.8.8.8", "1.1.1.1", "9.9.9.9", "2001:4860:4860::8888", "2620:fe::fe", "::ffff:8.8.4.4"),
    *("10.0.0.1", "nonsense", "64:ff9b::1.1.1.1", "4000::1", "208.67.222.222"),
)


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two generations: 8.8.8.0/24 in the US, then in Canada."""
    old, new = (tmp_path_factory.mktemp(name) for name in ("old", "new"))
    text = "network,country_code\n9.9.9.0/24,CH\n8.8.8.0/24,"
    return build_at(old, {"a.csv": text + "US\n"})[0], build_at(new, {"a.csv": text + "CA\n"})[0]


@pytest.fixture
def dataset(datasets: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy of the older generation; ``rebuild`` replaces it by the newer one."""
    return shutil.copytree(datasets[0], tmp_path / "dataset")


def rebuild(dataset: Path, datasets: tuple[Path, Path]) -> None:
    dataset.rename(dataset.with_name("former"))
    shutil.copytree(datasets[1], dataset)


def answers(engine: geolookup.Engine) -> list[bytes]:
    """Return the answers of single calls; calls for many addresses give the same."""
    single = [engine.lookup_json(ip, at=0) for ip in ADDRESSES]
    assert engine.lookup_many_json(ADDRESSES, at=0) == single
    assert b"".join(engine.json_lines(ADDRESSES, at=0)).splitlines() == single
    assert engine.lookup_many(ADDRESSES, at=0) == [engine.lookup(ip, at=0) for ip in ADDRESSES]
    values = [engine.get(ip, "country", "asn", "location") for ip in ADDRESSES]
    assert engine.get_many(ADDRESSES, "country", "asn", "location") == values
    return single


def test_closed(dataset: Path) -> None:
    engine = geolookup.open(dataset)
    engine.close()
    engine.close()
    single = (engine.lookup, engine.lookup_json, engine.answer)
    calls: list[Any] = [
        *(lambda ask=ask: ask("8.8.8.8") for ask in single),
        *(lambda ip=ip: engine.lookup(ip) for ip in ("nonsense", "10.0.0.1", None)),
        engine.prefixes,
        lambda: list(engine.json_lines([])),
        lambda: engine.get_many([], "asn"),
        lambda: engine.lookup_many(ADDRESSES, at=0),
        lambda: engine.metadata,
        lambda: pickle.dumps(engine),
    ]
    for call in calls:
        with pytest.raises(geolookup.errors.ClosedError) as caught:
            call()
        assert "8.8.8.8" not in str(caught.value)
    with pytest.raises(KeyError), geolookup.open(dataset) as engine:
        raise KeyError
    for ask in (engine.__enter__, lambda: engine.lookup("8.8.8.8")):
        with pytest.raises(geolookup.errors.ClosedError):
            ask()
    with geolookup.open(dataset) as engine:
        expected = list(engine.prefixes(by=GROUPS)), list(engine.json_lines(ADDRESSES * 99, at=0))
        running = engine.prefixes(by=GROUPS), engine.json_lines(ADDRESSES * 99, at=0)
        first = next(running[0]), next(running[1])
    assert ([first[0], *running[0]], [first[1], *running[1]]) == expected


def test_readers_in_threads_meet_a_close_cleanly() -> None:
    """Each call gives the right answer or ClosedError, whenever the close happens."""
    with geolookup.open(SMALL) as engine:
        expected = answers(engine)
        have_read = threading.Barrier(5)

        def read() -> None:
            try:
                assert answers(engine) == expected
            finally:
                have_read.wait()
            with pytest.raises(geolookup.errors.ClosedError):
                any(answers(engine) != expected for _ in range(1_000_000))

        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(read) for _ in range(4)]
            have_read.wait()
            engine.close()
            for reader in readers:
                reader.result()


def test_many_threads() -> None:
    """With a switch at every chance, and caches that are empty at the start."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with geolookup.open(SMALL) as engine, ThreadPoolExecutor(8) as pool:
            result = list(pool.map(lambda _: answers(engine), range(200)))
            assert result == [answers(engine)] * 200
    finally:
        sys.setswitchinterval(interval)


def test_threads_see_their_own_instants(sample: geolookup.Engine) -> None:
    """The time object is cached by second: one caller's second must not reach another."""

    def ask(at: int) -> list[int | None]:
        asked = [sample.get("8.8.8.8", "time.current_timestamp", at=at) for _ in range(300)]
        assert all(
            f'"current_timestamp":{at},'.encode() in sample.lookup_json("8.8.8.8", at=at)
            for _ in range(300)
        )
        return asked

    with ThreadPoolExecutor(8) as pool:
        for at, asked in enumerate(pool.map(ask, range(16))):
            assert asked == [at] * 300


def test_pickled_as_path_and_generation(dataset: Path, datasets: tuple[Path, Path]) -> None:
    with geolookup.open(dataset) as engine:
        data = pickle.dumps(engine)
        assert len(data) < 1000
        with pickle.loads(data) as again:  # noqa: S301 - our own
            assert again.path == engine.path
            assert again.lookup_json("8.8.8.8", at=0) == engine.lookup_json("8.8.8.8", at=0)
    with geolookup.open(dataset) as engine:
        data, before = pickle.dumps(engine), engine.metadata.generation
    rebuild(dataset, datasets)
    with pytest.raises(geolookup.DatasetError, match=before[:12]):
        pickle.loads(data)  # noqa: S301 - our own
    dataset.rename(dataset.with_name("elsewhere"))
    with pytest.raises(geolookup.DatasetError):
        pickle.loads(data)  # noqa: S301 - our own


def test_an_open_engine_keeps_its_dataset(dataset: Path, datasets: tuple[Path, Path]) -> None:
    """A rebuild renames a new folder into place; mapped files are never changed."""
    with geolookup.open(dataset) as engine:
        rebuild(dataset, datasets)
        assert engine.get("8.8.8.8", "location.country_code") == "US"
        assert engine.get("9.9.9.9", "location.country_code") == "CH"
        with geolookup.open(dataset) as after:
            assert after.get("8.8.8.8", "location.country_code") == "CA"


#: Python 3.12 and later warn of threads at a fork; Arrow's, from earlier builds, are idle.
forks = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@forks
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    with geolookup.open(SMALL) as engine:
        expected = answers(engine)
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(answers, [engine] * 4) == [expected] * 4


@forks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_uses_the_engine_it_inherits() -> None:
    with geolookup.open(SMALL) as engine:
        expected = answers(engine)
        child = os.fork()
        if child == 0:
            good = answers(engine) == expected and engine.answer("8.8.8.8").prefix is not None
            engine.close()
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert answers(engine) == expected  # the child's close is the child's
