"""The dataset on the workers of a job: fetched once per host, the driver's generation only."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path
from socket import gethostname
from typing import cast

import pyarrow as pa
import pytest

import geolookup
from geolookup import DatasetError, publish
from tests.damage import TAMPERING
from tests.history.past import DATES, past_store
from tests.history.past import archive as archive_of
from tests.internals.archives import pack
from tests.internals.filesystem import is_safe
from tests.internals.store import sign
from tests.internals.tables import HostCopy, Job, Source, source_of, workers
from tests.mirrors.conftest import Edge, edge_of
from tests.signing.keys import key_files, public
from tests.store.numbered import id_of, number, published, shared

_TABLE = pa.table({"ip": ["8.8.8.8", "10.0.0.1", None]})


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _restart(monkeypatch, tmp_path / "cache")


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[Edge]:
    with edge_of(tmp_path) as made:
        yield made


def _generations(cache: Path) -> list[Path]:
    return [*cache.glob("datasets/copy-*/generations/*")]


def _opened(source: HostCopy, generation: str) -> tuple[Path, int]:
    with source.open(generation) as engine:
        return engine.path, engine.path.stat().st_ino


def test_many_processes_unpack_once(tmp_path: Path) -> None:
    archive = tmp_path / "geo.tar.zst"
    pack(shared(1), archive)
    source = source_of(archive)
    assert isinstance(source, HostCopy)
    with ProcessPoolExecutor(3, mp_context=get_context("forkserver")) as pool:
        opened = {*pool.map(_opened, [source] * 12, [id_of(1)] * 12)}
    assert len(opened) == 1
    assert [path for path, _ in opened] == _generations(tmp_path / "cache")


def test_a_mirror_that_published_since(
    edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts that have the driver's generation still answer, others refuse the new one."""
    source = source_of(edge.site.url)
    edge.publish(1)
    job = _job(source)
    edge.publish(2)
    with source.open(None) as engine:
        assert number(engine) == 2
    assert _cities(job) == ["Town 1", None, None]
    _restart(monkeypatch, tmp_path / "another host")
    with pytest.raises(DatasetError) as caught:
        _cities(job)
    assert f"generation {id_of(2)[:12]} where the driver has {id_of(1)[:12]}" in str(caught.value)
    assert str(caught.value).endswith("; run the job again, or send the dataset with ship=True")


def test_a_store_that_published_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's generation answers as long as the store has it, also in a new process."""
    store = published(tmp_path / "store", 1)
    job = _job(source_of(store))
    publish(shared(2), store)
    assert _cities(job) == ["Town 1", None, None]
    _restart(monkeypatch, tmp_path / "cache")
    assert _cities(job) == ["Town 1", None, None]
    assert _cities(_job(source_of(store))) == ["Town 2", None, None]
    shutil.rmtree(store / "generations" / id_of(1))
    _restart(monkeypatch, tmp_path / "cache")
    with pytest.raises(DatasetError, match=f"generation {id_of(2)[:12]} where the driver has"):
        _cities(job)


def test_what_a_worker_cannot_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the host, the path and a remedy."""
    archive = tmp_path / "geo.tar.zst"
    pack(shared(1), archive)
    folder = shutil.copytree(shared(1), tmp_path / "dataset")
    jobs = _job(source_of(archive)), _job(source_of(folder))
    archive.unlink()
    shutil.rmtree(folder)
    _restart(monkeypatch, tmp_path / "another host")
    for job, path in zip(jobs, (archive, folder), strict=True):
        with pytest.raises(DatasetError) as caught:
            _cities(job)
        assert str(caught.value).startswith(f"{gethostname()}:{path}: ")
        assert str(caught.value).endswith("on every worker, or send it with ship=True")


@pytest.mark.parametrize("tamper", [None, *TAMPERING])
def test_damage_in_the_cache_is_repaired(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tamper: Callable[[Path, Path], None] | None,
) -> None:
    """With trusted keys also whatever others may have changed."""
    archive, dataset = tmp_path / "geo.tar.zst", shutil.copytree(shared(1), tmp_path / "dataset")
    sign(dataset, key_files()[0])
    pack(dataset, archive)
    job = _job(source_of(archive, None if tamper is None else public(key_files()[0])))
    [generation] = _generations(tmp_path / "cache")
    if tamper is None:
        (generation / "ipv4.arrow").unlink()
    else:
        tamper(generation, shared(3))
    _restart(monkeypatch, tmp_path / "cache")
    assert _cities(job) == ["Town 1", None, None]
    assert is_safe(generation)


def test_trusted_keys(tmp_path: Path) -> None:
    trusted, other = (public(file) for file in key_files()[:2])
    dataset = shutil.copytree(shared(1), tmp_path / "dataset")
    unsigned, signed = tmp_path / "unsigned.tar.zst", tmp_path / "signed.tar.zst"
    pack(dataset, unsigned)
    sign(dataset, key_files()[0])
    pack(dataset, signed)
    for source in (signed, dataset):
        assert _cities(_job(source_of(source, trusted))) == ["Town 1", None, None]
        with pytest.raises(DatasetError, match="signed by no trusted key"):
            source_of(source, other).open(None)
    # The cache has the generation, accepted without keys.
    assert _cities(_job(source_of(unsigned))) == ["Town 1", None, None]
    with pytest.raises(DatasetError, match="not signed by a trusted key"):
        source_of(unsigned, trusted).open(None)


def test_rows_of_the_past_have_the_periods_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A generation that is published afterwards answers no row; a lost one is refused."""
    store = past_store(tmp_path / "store")
    job = _job(source_of(store), as_of="seen")
    moments = ["2025-12-31", *DATES, "2026-12-31"]
    seen = [datetime.fromisoformat(f"{moment}T12:00Z") for moment in moments]
    table = pa.table({"ip": ["8.8.8.8"] * len(seen), "seen": seen})
    wanted = [None, *(f"Town {number}" for number in range(5)), "Town 4"]
    for _ in range(2):
        assert job.enrich(table)["location_city_name"].to_pylist() == wanted
        publish(shared(5), store)
        _restart(monkeypatch, tmp_path / "cache")
    archive_of(store, 1).unlink()
    workers.generations_of.cache_clear()
    with pytest.raises(DatasetError, match="lacks 1 generation that the driver has"):
        job.enrich(table)
    with pytest.raises(ValueError, match="ship sends one generation, as_of needs the store"):
        job.sent(lambda _engine, source: source, geolookup.open(store))


def test_only_a_store_has_a_past(tmp_path: Path) -> None:
    archive = tmp_path / "geo.tar.zst"
    pack(shared(1), archive)
    with pytest.raises(DatasetError, match="not a store"):
        _job(source_of(archive), as_of="seen")


def _job(source: Source, as_of: str | None = None) -> Job:
    options = {"column": "ip", "at": 0, "time_column": None, "as_of": as_of}
    with source.open(None) as engine:
        job = Job.of(source, engine, ("city_name",), **options)
    return cast("Job", pickle.loads(pickle.dumps(job)))  # noqa: S301 - our own


def _cities(job: Job) -> list[str | None]:
    cities: list[str | None] = job.enrich(_TABLE)["location_city_name"].to_pylist()
    return cities


def _restart(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Forget the open engines, as a new process has none, on the host with this cache."""
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(cache))
    workers.open_once.cache_clear()
    workers.generations_of.cache_clear()
