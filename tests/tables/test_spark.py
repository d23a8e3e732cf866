"""Spark: Python workers, in processes of their own, answer as single lookups do.

The executors are two processes of one session. ``test_adapters`` has what they do with a partition.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import geolookup
from tests.conftest import build_at
from tests.internals.archives import pack
from tests.servers import until
from tests.skips import optional
from tests.store.numbered import shared
from tests.tables import columns
from tests.tables.adapters import PREFIX, cases, expected, own_dataset, past_store
from tests.tables.spark_cluster import needs_spark, running
from tests.tables.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from geolookup.tables import spark as adapter
else:
    adapter = optional("geolookup.tables.spark")
PythonException = optional("pyspark.errors").PythonException

pytestmark = [*needs_spark, pytest.mark.long]


@dataclass(frozen=True)
class Cluster:
    session: SparkSession
    watch: Watch

    def frame(self, table: pa.Table) -> DataFrame:
        """Return rows in three partitions; the last one is empty."""
        empty = self.session.createDataFrame(table.slice(0, 0))
        return self.session.createDataFrame(table).repartition(2).union(empty)

    def addresses(self, *addresses: str, **more: pa.Array) -> DataFrame:
        kind = pa.array(addresses, pa.string())
        return self.frame(pa.table({"row": range(len(addresses)), "ip": kind, **more}))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("spark")
    with running(folder, "local-cluster[2,1,1024]") as (session, watch):
        yield Cluster(session, watch)


def rows_of(df: DataFrame) -> dict[str, list[Any]]:
    """Return the new columns by name, in the order of the rows."""
    result: dict[str, list[Any]] = df.toArrow().sort_by("row").to_pydict()
    given = {"row", "ip", "seen"}
    return {name.removeprefix(PREFIX): result[name] for name in result if name not in given}


def dataset_of(folder: Path, country: str) -> Path:
    return build_at(folder, {"a.csv": f"network,country_code\n8.8.8.0/24,{country}\n"})[0]


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


def test_now_is_one_instant(cluster: Cluster) -> None:
    before = int(datetime.now(UTC).timestamp())
    table = adapter.enrich(cluster.addresses(*["8.8.8.8"] * 9), "time.current_timestamp")
    after = int(datetime.now(UTC).timestamp())
    [now] = set(rows_of(table)["time_current_timestamp"])
    assert before <= now <= after
    assert set(rows_of(table)["time_current_timestamp"]) == {now}


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


def test_what_cannot_be_is_refused_before_anything_runs(cluster: Cluster) -> None:
    df = cluster.addresses("8.8.8.8", day=pa.array([date(2026, 1, 2)]))
    naive = df.selectExpr("ip", "timestamp_ntz'2026-01-02 00:00:00' as seen")
    options: Any
    for refused, frame, options, text in (
        (KeyError, df, {"column": "address"}, "no column 'address'"),
        (KeyError, df, {"time_column": "seen"}, "no column 'seen'"),
        (TypeError, df, {"at": "seen"}, "time_column names a column of instants"),
        (ValueError, df, {"on_invalid": "skip"}, "on_invalid='skip'"),
        (TypeError, df, {"column": "row"}, "a column of int64 holds no addresses"),
        (TypeError, df, {"column": "day"}, "column 'day' is of date, not an address"),
        (TypeError, df, {"time_column": "day"}, "column 'day' is of date, not an address or time"),
        (TypeError, df, {"time_column": "ip"}, "must hold timestamps or Unix times, not string"),
        (TypeError, naive, {"time_column": "seen"}, "has no time zone"),
        (geolookup.DatasetError, df, {"dataset": "/nonexistent"}, "no dataset here"),
    ):
        with pytest.raises(refused, match=text):
            adapter.enrich(frame, "time.zone", **options)
    for name, text in (("contry", "no field"), ("ip", "column 'ip' exists already; pass a prefix")):
        with pytest.raises(ValueError, match=text):
            adapter.enrich(df, [name])


def test_a_strict_task_fails_without_the_address(cluster: Cluster) -> None:
    df = cluster.addresses("8.8.8.8", "1.1.1.1", "10.98.76.54", "9.9.9.9")
    plan = df.coalesce(1).sortWithinPartitions("row")
    with pytest.raises(PythonException) as caught:
        adapter.enrich(plan, "network.asn", on_invalid="raise").collect()
    said = str(caught.value)
    assert "Cannot geolocate private IP" in said
    assert "in row 2, counted from 0\nof partition 0" in said
    assert "98.76" not in said


def test_one_engine_a_process(cluster: Cluster, tmp_path: Path) -> None:
    """However many tasks and queries a worker runs, it maps a dataset once."""
    dataset = dataset_of(tmp_path, "US")
    df = cluster.session.range(0, 900, 1, 12).selectExpr("id as row", "'8.8.8.8' as ip")
    for fields in ("location.country_code", "network"):
        assert len(adapter.enrich(df, fields, dataset=dataset).collect()) == 900
    opened = Counter(cluster.watch.opened(dataset))
    assert 2 <= len(opened) <= 24
    assert set(opened.values()) == {1}


def test_executors_see_the_drivers_dataset_and_generation(cluster: Cluster, tmp_path: Path) -> None:
    dataset, df = dataset_of(tmp_path, "US"), cluster.addresses("8.8.8.8")
    table = adapter.enrich(df, "network", dataset=dataset)
    dataset.rename(tmp_path / "elsewhere")
    with pytest.raises(PythonException) as caught:
        table.collect()
    assert f"{dataset}: no dataset here; put the driver's dataset at this path" in str(caught.value)
    dataset = dataset_of(tmp_path, "DE")
    with geolookup.open(dataset) as engine:
        wanted = engine.generation
    old = adapter.enrich(df, "network", dataset=dataset)
    dataset_of(tmp_path, "FR")
    with pytest.raises(PythonException) as caught:
        old.collect()
    assert f"where {wanted[:12]} was pickled; put the driver's dataset" in str(caught.value)
    new = adapter.enrich(df, "location.country_code", dataset=dataset)
    assert rows_of(new) == {"location_country_code": ["FR"]}


def test_executors_without_geolookup(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another Python with only the packages that Spark needs."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for name in ("pyarrow", "numpy"):
        package = Path(sys.modules[name].__path__[0])
        for result in package.parent.glob(f"{name}*"):
            (packages / result.name).symlink_to(result)
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\n"
        'spark=$(echo "$PYTHONPATH" | tr : "\\n" | grep -e /pyspark -e /py4j | paste -sd :)\n'
        f'PYTHONPATH={shlex.quote(str(packages))}:"$spark"'
        f' exec {shlex.quote(sys.executable)} -S "$@"\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    monkeypatch.setattr(cluster.session.sparkContext, "pythonExec", str(python))
    with pytest.raises(PythonException) as caught:
        adapter.enrich(cluster.addresses("8.8.8.8")).collect()
    assert f"{sys.executable} has no module 'geolookup'; install geolookup" in str(caught.value)


_PARTITIONS = 8


def _waits(folder: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a stage that says which process reads a partition; after two, it waits."""

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import time

        for batch in batches:
            row = batch["row"][0].as_py()
            pid = os.getpid()
            for _ in range(2):  # the daemon of the workers, then its executor
                status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
                pid = int(status.rpartition(")")[2].split()[1])
            marks = Path(folder)
            (marks / f"read-{row}").write_text(f"{os.getpid()} {pid}", encoding="utf-8")
            while len([*marks.glob("read-*")]) > 2 and not (marks / "go").exists():
                time.sleep(0.01)
            yield batch

    return stage


@pytest.mark.skipif(sys.platform != "linux", reason="a process finds its parent in /proc")
@pytest.mark.parametrize("killed", ["worker", "executor"])
def test_killed_in_the_middle(cluster: Cluster, tmp_path: Path, killed: str) -> None:
    """It is replaced, and the result is complete."""
    df = cluster.session.range(0, _PARTITIONS, 1, _PARTITIONS)
    df = df.selectExpr("id as row", "'8.8.8.8' as ip")
    df = df.mapInArrow(_waits(str(tmp_path)), df.schema)
    plan = adapter.enrich(df, "city_name", dataset=shared(4))
    result: list[Any] = []
    job = threading.Thread(target=lambda: result.extend(plan.collect()))
    job.start()
    until(lambda: len([*tmp_path.glob("read-*")]) > 3)
    newest = max(tmp_path.glob("read-*"), key=lambda path: path.stat().st_mtime_ns)
    worker, executor = map(int, newest.read_text(encoding="utf-8").split())
    os.kill(worker if killed == "worker" else executor, signal.SIGKILL)
    (tmp_path / "go").touch()
    job.join(240)
    cities = {row["row"]: row["location_city_name"] for row in result}
    assert cities == dict.fromkeys(range(_PARTITIONS), "Town 4")
    assert len(result) == _PARTITIONS
