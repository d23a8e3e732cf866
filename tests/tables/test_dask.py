"""Dask: its schedulers and real workers answer as single lookups do."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from geolookup import DatasetError
from tests.conftest import build_at
from tests.internals.archives import pack
from tests.servers import until
from tests.skips import needs, optional
from tests.tables import columns

if TYPE_CHECKING:
    import pandas as pd

    from geolookup.tables import dask as adapter
else:
    pd, adapter = optional("pandas"), optional("geolookup.tables.dask")
dask, distributed = optional("dask.dataframe"), optional("distributed")

pytestmark = needs("pandas", "dask.dataframe", "distributed")

_ADDRESSES = ["8.8.8.8", "2a02:1::1", None, "10.0.0.1", "x", "11.0.1.9", "11.0.0.7"]


def frame(addresses: list[Any], partitions: int = 4, **more: Any) -> Any:
    data: Any = {"row": range(len(addresses)), "ip": pd.array(addresses, "str"), **more}
    return dask.from_pandas(pd.DataFrame(data), npartitions=partitions)


def made(computed: Any, before: int = 2) -> dict[str, list[Any]]:
    """Return the new columns by their names in ``columns.expected``."""
    ordered = computed.sort_values("row")
    new = list(computed.columns)[before:]
    return {name.removeprefix("geo_"): _plain(ordered[name]) for name in new}


def _plain(column: Any) -> list[Any]:
    is_list = column.dtype == object
    return [
        (None if item is None else [*item]) if is_list else None if pd.isna(item) else item
        for item in column.tolist()
    ]


def test_partitions_have_the_dtypes_of_the_plan(dataset_path: Path) -> None:
    """Also an empty one: texts are Dask's strings, whatever values it has."""
    source = frame(_ADDRESSES, 3, group=pd.Categorical(["a", "b"] * 3 + ["a"]))
    plan = adapter.enrich(source, columns.EVERYTHING[1:], dataset=dataset_path)
    empty = plan[plan["row"] < 0]
    for part in [*plan.to_delayed(), *empty.to_delayed()]:
        assert dict(part.compute(scheduler="sync").dtypes) == dict(plan.dtypes)
    assert plan.dtypes["location_city_name"] == pd.StringDtype("pyarrow")
    assert plan.dtypes["group"] == "category"
    counted = plan.groupby("location_country_code").size().compute(scheduler="sync")
    assert counted.sum() == plan["location_country_code"].count().compute(scheduler="sync")


def test_a_series_gives_a_frame_of_the_answers(dataset_path: Path) -> None:
    plan = adapter.enrich(frame(_ADDRESSES)["ip"], "country", "asn", dataset=dataset_path)
    assert list(plan.columns) == ["location_country_code", "network_asn"]
    assert len(plan.compute(scheduler="sync")) == len(_ADDRESSES)


def test_what_cannot_be_is_refused_before_anything_runs(dataset_path: Path) -> None:
    source = frame(["8.8.8.8"], 1)
    refused: Any
    options: Any
    for refused, options, text in (
        (KeyError, {"column": "address"}, "no column 'address'"),
        (KeyError, {"time_column": "seen"}, "no column 'seen'"),
        (ValueError, {"on_invalid": "skip"}, "on_invalid='skip'"),
        (TypeError, {"at": "seen"}, "time_column names a column of instants"),
        (DatasetError, {"dataset": "/nonexistent"}, "no dataset here"),
    ):
        with pytest.raises(refused, match=text):
            adapter.enrich(source, "time.zone", **{"dataset": dataset_path, **options})


def _slow(folder: Path, part: int) -> Any:
    """Return a partition; after the first two, wait for the test."""
    (folder / f"read-{part}").touch()
    while len([*folder.glob("read-*")]) > 2 and not (folder / "go").exists():
        time.sleep(0.01)
    return pd.DataFrame({"row": [part], "ip": pd.array([f"8.8.8.{part}"], "str")})


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two workers, each a process."""
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "cache"))
    options: Any = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(local_directory=str(tmp_path / "workers"), **options) as cluster,
        distributed.Client(cluster) as made_client,
    ):
        yield made_client


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the event loops of processes that end
def test_a_worker_killed_in_the_middle(client: Any, tmp_path: Path) -> None:
    """It is replaced, and the result is complete."""
    dataset = build_at(tmp_path, {"a.csv": "network,city_name\n8.8.8.0/25,A\n8.8.8.128/25,B\n"})[0]
    pack(dataset, tmp_path / "geo.tar.zst")
    rows = 12
    meta = pd.DataFrame({"row": pd.array([], "int64"), "ip": pd.array([], "str")})
    source = dask.from_map(partial(_slow, tmp_path), [*range(rows)], meta=meta)
    plan = adapter.enrich(source, "city_name", dataset=tmp_path / "geo.tar.zst")
    future = client.compute(plan)
    until(lambda: len([*tmp_path.glob("read-*")]) > 3)
    killed, *_ = pids = [*client.run(os.getpid).values()]
    os.kill(killed, signal.SIGKILL)
    (tmp_path / "go").touch()
    computed = future.result(timeout=120)
    assert made(computed) == {"location_city_name": ["A"] * rows}
    assert [*computed.sort_values("row")["row"]] == [*range(rows)]
    until(lambda: len(client.run(os.getpid)) == 2)
    assert {*client.run(os.getpid).values()} - {*pids}
