"""Spark: Python workers, in processes of their own, answer as single lookups do.

The executors are two processes of one session. ``test_adapters`` has what they do with a partition.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import geolookup
from tests.internals.archives import pack
from tests.skips import needs, optional
from tests.tables import columns
from tests.tables.adapters import PREFIX, cases, expected, own_dataset, past_store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from geolookup.tables import spark as adapter
else:
    adapter = optional("geolookup.tables.spark")
    SparkSession = optional("pyspark.sql").SparkSession
PythonException = optional("pyspark.errors").PythonException
SparkContext = optional("pyspark").SparkContext

pytestmark = [
    needs("pyspark"),
    pytest.mark.skipif(shutil.which("java") is None, reason="no java"),
    # It says so whatever is done with pandas; nothing is, here.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.long,
]


@dataclass(frozen=True)
class Cluster:
    session: SparkSession

    def frame(self, table: pa.Table) -> DataFrame:
        """Return rows in three partitions; the last one is empty."""
        empty = self.session.createDataFrame(table.slice(0, 0))
        return self.session.createDataFrame(table).repartition(2).union(empty)

    def addresses(self, *addresses: str, **more: pa.Array) -> DataFrame:
        kind = pa.array(addresses, pa.string())
        return self.frame(pa.table({"row": range(len(addresses)), "ip": kind, **more}))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a session; executors share the cache of this process, and import this tree."""
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOLOOKUP_CACHE", str(folder / "cache"))
        patch.setenv("SPARK_HOME", str(_home(folder / "home")))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        wanted: dict[str, Any] = {
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "700",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "Asia/Kathmandu",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        }
        builder = SparkSession.builder.master("local-cluster[2,1,1024]")
        session = builder.config(map=wanted).getOrCreate()
        yield Cluster(session)
        session.stop()
        gateway = SparkContext._gateway
        assert gateway is not None
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(60)
        SparkContext._gateway = SparkContext._jvm = None


def _home(folder: Path) -> Path:
    """Return a folder with Spark's files; executors of such a cluster work below Spark itself."""
    folder.mkdir()
    for part in Path(sys.modules["pyspark"].__path__[0]).iterdir():
        if part.name != "work":
            (folder / part.name).symlink_to(part)
    return folder


def rows_of(df: DataFrame) -> dict[str, list[Any]]:
    """Return the new columns by name, in the order of the rows."""
    result: dict[str, list[Any]] = df.toArrow().sort_by("row").to_pydict()
    given = {"row", "ip", "seen"}
    return {name.removeprefix(PREFIX): result[name] for name in result if name not in given}


@pytest.mark.parametrize("name", cases())
def test_each_case_of_the_contract(cluster: Cluster, name: str) -> None:
    case = cases()[name]()
    path = past_store() if "as_of" in case.options else own_dataset()
    plan = adapter.enrich(
        cluster.frame(case.table()), *case.fields, dataset=path, prefix=PREFIX, **case.options
    )
    with geolookup.open(path) as engine:
        wanted = expected(engine, case)
    made = rows_of(plan)
    columns.assert_equal(made, wanted)
    assert [*made] == [*wanted]


def test_addresses_of_bytes_and_an_archive(
    cluster: Cluster, engine: geolookup.Engine, dataset_path: Path, tmp_path: Path
) -> None:
    pack(dataset_path, tmp_path / "geo.tar.zst")
    packed = [bytes(3), None, *(item.to_bytes(4) for item in (0x08080808, 0x0A000001))]
    packed += [(0x2A020001 << 96).to_bytes(16)]
    table = pa.table({"row": range(5), "ip": pa.array(packed, pa.binary())})
    options: Any = {"dataset": tmp_path / "geo.tar.zst", "prefix": PREFIX}
    for at in (columns.AT, datetime.fromtimestamp(columns.AT, UTC)):
        plan = adapter.enrich(cluster.frame(table), columns.EVERYTHING, at=at, **options)
        columns.assert_equal(rows_of(plan), columns.expected(engine, columns.of_bytes(packed)))
        assert "geo_network_asn" in {name for name, kind in plan.dtypes if kind == "bigint"}


def test_other_columns_and_partitions_stay_as_they_are(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    df = cluster.session.createDataFrame(
        [("1.1.1.1", 1, [1, 2], {"a": 1.5}, (Decimal("1.25"), None), date(2026, 1, 2), b"\0\xff")]
        * 3,
        "IP string, n smallint not null, list array<int>, `a map` map<string,double>,"
        " nested struct<d: decimal(9,2), t: timestamp_ntz>, day date, raw binary",
    )
    table = adapter.enrich(df, "location.country_languages", column="IP")
    table.explain()
    plan = capsys.readouterr().out
    assert "MapInArrow" in plan
    assert "Exchange" not in plan
    assert "Join" not in plan
    assert table.schema.fields[:-1] == df.schema.fields
    assert table.schema.fields[-1].simpleString() == "location_country_languages:array<string>"
    assert table.drop("location_country_languages").collect() == df.collect()


def test_wrong_arguments_are_refused_before_anything_runs(cluster: Cluster) -> None:
    df = cluster.addresses("8.8.8.8", day=pa.array([date(2026, 1, 2)]))
    options: Any
    for refused, options, text in (
        (KeyError, {"column": "address"}, "no column 'address'"),
        (ValueError, {"on_invalid": "skip"}, "on_invalid='skip'"),
        (TypeError, {"column": "row"}, "a column of int64 holds no addresses"),
        (TypeError, {"time_column": "day"}, "must hold timestamps or Unix times, not date32"),
        (TypeError, {"time_column": "ip"}, "must hold timestamps or Unix times, not string"),
        (geolookup.DatasetError, {"dataset": "/nonexistent"}, "no dataset here"),
    ):
        with pytest.raises(refused, match=text):
            adapter.enrich(df, "time.zone", **options)
    with pytest.raises(ValueError, match="column 'ip' exists already; pass a prefix"):
        adapter.enrich(df, ["ip"])


def test_a_strict_task_fails_without_the_address(cluster: Cluster) -> None:
    df = cluster.addresses("8.8.8.8", "1.1.1.1", "10.98.76.54", "9.9.9.9")
    plan = df.coalesce(1).sortWithinPartitions("row")
    with pytest.raises(PythonException) as caught:
        adapter.enrich(plan, "network.asn", on_invalid="raise").collect()
    said = str(caught.value)
    assert "Cannot geolocate private IP" in said
    assert "in row 2, counted from 0\nof partition 0" in said
    assert "98.76" not in said
