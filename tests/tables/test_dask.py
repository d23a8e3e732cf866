"""Dask: its schedulers and real workers answer as single lookups do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import geolookup
from tests.internals.archives import pack
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
    plan = adapter.enrich(source["ip"], "asn", dataset=dataset_path)
    assert list(plan.compute(scheduler="sync").columns) == ["network_asn"]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the event loops of processes that end
def test_workers_of_a_cluster_and_an_archive(
    dataset_path: Path, engine: geolookup.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers, each a process."""
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "cache"))
    pack(dataset_path, tmp_path / "geo.tar.zst")
    plan = adapter.enrich(frame(_ADDRESSES), "city_name", dataset=tmp_path / "geo.tar.zst")
    options: Any = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(local_directory=str(tmp_path / "workers"), **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        computed = client.compute(plan).result(timeout=120).sort_values("row")
    cities = [None if pd.isna(city) else city for city in computed["location_city_name"]]
    assert cities == columns.expected(engine, _ADDRESSES)["location_city_name"]
