"""The dataset on the workers of a job: one copy per host, the driver's generation only."""

from __future__ import annotations

import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path
from socket import gethostname
from typing import Any, cast

import pyarrow as pa
import pytest

from geolookup import DatasetError, publish
from tests.history.past import DATES, past_store
from tests.history.past import archive as archive_of
from tests.internals.archives import pack
from tests.internals.store import sign
from tests.internals.tables import Job, workers
from tests.signing.keys import key_files, public
from tests.store.numbered import id_of, published, shared

_TABLE = pa.table({"ip": ["8.8.8.8", "10.0.0.1", None]})


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _restart(monkeypatch, tmp_path / "cache")


def _opened(job: Job) -> Path:
    function, arguments = job.opening
    with function(*arguments) as engine:
        return engine.path


def test_many_processes_of_a_host_make_one_copy(tmp_path: Path) -> None:
    archive = tmp_path / "geo.tar.zst"
    pack(shared(1), archive)
    job = _job(archive)
    shutil.rmtree(tmp_path / "cache")
    with ProcessPoolExecutor(3, mp_context=get_context("forkserver")) as pool:
        [path] = {*pool.map(_opened, [job] * 12)}
    assert path.is_relative_to(tmp_path / "cache")


def test_a_store_that_published_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's generation answers as long as the store has it, also in a new process."""
    store = published(tmp_path / "store", 1)
    job = _job(store)
    publish(shared(2), store)
    _restart(monkeypatch, tmp_path / "cache")
    assert _cities(job) == ["Town 1", None, None]
    assert _cities(_job(store)) == ["Town 2", None, None]
    shutil.rmtree(store / "generations" / id_of(1))
    _restart(monkeypatch, tmp_path / "cache")
    with pytest.raises(DatasetError, match=f"generation {id_of(1)[:12]} is no longer kept"):
        _cities(job)


def test_the_default_of_each_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(shared(1)))
    job = _job(None)
    copy = shutil.copytree(shared(1), tmp_path / "elsewhere")
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(copy))
    assert _cities(job) == ["Town 1", None, None]
    _restart(monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(shared(2)))
    with pytest.raises(DatasetError, match="where the driver has"):
        _cities(job)


def test_a_dataset_that_a_worker_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the host, the path and a remedy."""
    archive = tmp_path / "geo.tar.zst"
    pack(shared(1), archive)
    folder = shutil.copytree(shared(1), tmp_path / "dataset")
    jobs = _job(archive), _job(folder)
    archive.unlink()
    shutil.rmtree(folder)
    _restart(monkeypatch, tmp_path / "another host")
    for job, path in zip(jobs, (archive, folder), strict=True):
        with pytest.raises(DatasetError) as caught:
            _cities(job)
        assert str(caught.value).startswith(f"{gethostname()}:{path}: ")
        assert "put the driver's dataset at this path on every worker" in str(caught.value)


def test_trusted_keys(tmp_path: Path) -> None:
    trusted, other = (public(file) for file in key_files()[:2])
    dataset = shutil.copytree(shared(1), tmp_path / "dataset")
    signed = tmp_path / "signed.tar.zst"
    sign(dataset, key_files()[0])
    pack(dataset, signed)
    for source in (signed, dataset):
        assert _cities(_job(source, trusted)) == ["Town 1", None, None]
        with pytest.raises(DatasetError, match="signed by no trusted key"):
            workers.open_dataset(source, other)


def test_rows_of_the_past_have_the_periods_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A generation that is published afterwards answers no row; a lost one is refused."""
    store = past_store(tmp_path / "store")
    job = _job(store, as_of="seen")
    moments = ["2025-12-31", *DATES, "2026-12-31"]
    seen = [datetime.fromisoformat(f"{moment}T12:00Z") for moment in moments]
    table = pa.table({"ip": ["8.8.8.8"] * len(seen), "seen": seen})
    wanted = [None, *(f"Town {number}" for number in range(5)), "Town 4"]
    for _ in range(2):
        assert job.enrich(table)["location_city_name"].to_pylist() == wanted
        publish(shared(5), store)
        _restart(monkeypatch, tmp_path / "cache")
    archive_of(store, 1).unlink()
    with pytest.raises(DatasetError, match="is no longer kept"):
        job.enrich(table)
    archive = tmp_path / "geo.tar.zst"
    pack(shared(1), archive)
    with pytest.raises(DatasetError, match="not a store"):
        _job(archive, as_of="seen")


def _job(dataset: object, trusted_keys: Any = None, as_of: str | None = None) -> Job:
    engine, opening = workers.open_dataset(cast("Any", dataset), trusted_keys)
    with engine:
        job = Job.of(engine, opening, ("city_name",), {"at": 0, "as_of": as_of})
    return cast("Job", pickle.loads(pickle.dumps(job)))  # noqa: S301 - our own


def _cities(job: Job) -> list[str | None]:
    cities: list[str | None] = job.enrich(_TABLE)["location_city_name"].to_pylist()
    return cities


def _restart(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Forget the open engines, as a new process has none, on the host with this cache."""
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(cache))
    workers.open_once.cache_clear()
    workers.open_past.cache_clear()
