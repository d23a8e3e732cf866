"""Spark: real executors, in processes of their own, answer as single lookups do."""

from __future__ import annotations

import random
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import geolookup
from tests import own
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.near_addresses import near_addresses
from tests.skips import optional
from tests.tables import columns
from tests.tables.spark_cluster import needs_spark, running
from tests.tables.watching import Watch
from tests.tiers import scaled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from geolookup.tables import spark as adapter
else:
    adapter = optional("geolookup.tables.spark")
PythonException = optional("pyspark.errors").PythonException

pytestmark = needs_spark

_NETWORK = ("asn", "asn_organization", "isp", "organization", "connection_type", "user_type")
_ADDRESSES = ["8.8.8.8", "2a02:1::1", None, "10.0.0.1", "x", "11.0.1.9", "11.0.0.7"]


@dataclass(frozen=True)
class Cluster:
    session: SparkSession
    watch: Watch

    def frame(self, addresses: Sequence[Any], partitions: int = 5, **more: pa.Array) -> DataFrame:
        """Return addresses with their positions, in partitions; the last partition is empty."""
        kind = (
            pa.binary() if any(isinstance(address, bytes) for address in addresses) else pa.string()
        )
        rows = pa.array(range(len(addresses)), pa.int64())
        table = pa.table({"row": rows, "ip": pa.array(addresses, kind), **more})
        return (
            self.session.createDataFrame(table)
            .repartition(partitions - 1)
            .union(self.session.createDataFrame(table.slice(0, 0)))
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("workers")
    options = {"spark.executor.cores": "2", "spark.task.maxFailures": "1"}
    with running(folder, "local-cluster[2,2,1024]", **options) as (session, watch):
        yield Cluster(session, watch)


def rows_of(df: DataFrame) -> dict[str, list[Any]]:
    """Return the new columns by name, in the order of the rows."""
    result: dict[str, list[Any]] = (
        df.toArrow().sort_by("row").drop_columns(["row", "ip"]).to_pydict()
    )
    return result


def made(df: DataFrame) -> dict[str, list[Any]]:
    """Return the columns that were made, by their names in ``columns.expected``."""
    return {name.removeprefix("geo_"): values for name, values in rows_of(df).items()}


def test_own_columns(cluster: Cluster, tmp_path: Path) -> None:
    """Private addresses have theirs."""
    path = own.add_own(SMALL, tmp_path / "own")
    names = [f"own.{name}" for name in own.NAMES]
    addresses = ["8.8.8.8", "8.8.8.9", "10.1.2.3", None, "x", "fd00::1"]
    result = rows_of(adapter.enrich(cluster.frame(addresses), [*names, "country"], dataset=path))
    with geolookup.open(path) as engine:
        wanted = engine.get_many(addresses, [*names, "country"])
    assert [*zip(*result.values(), strict=True)] == wanted
    with pytest.raises(ValueError, match=r"enrich: the dataset has no column 'own\.site'"):
        adapter.enrich(cluster.frame(addresses), ["own.site"], dataset=path)


def test_every_field_of_every_row(
    cluster: Cluster, engine: geolookup.Engine, dataset_path: Path
) -> None:
    texts = near_addresses(random.Random(3), engine._open_state().dataset)
    drawn = [next(texts).encode("utf-8", "replace").decode() for _ in range(scaled(2000, 6000))]
    addresses = [None if at % 11 == 0 else item for at, item in enumerate(drawn)]
    packed = [bytes(3), None, *(item.to_bytes(4) for item in (0x08080808, 0x0A000001))]
    packed += [(0x2A020001 << 96).to_bytes(16)]
    at = datetime.fromtimestamp(columns.AT, UTC)
    asked: Any
    options: dict[str, Any]
    for value, asked, options in (
        (addresses, addresses, {"ship": False, "at": columns.AT}),
        (addresses, addresses, {"ship": True, "at": columns.AT}),
        (packed, columns.of_bytes(packed), {"at": at}),
    ):
        options |= {"dataset": dataset_path, "prefix": "geo_"}
        table = adapter.enrich(cluster.frame(value), columns.EVERYTHING, **options)
        columns.assert_equal(made(table), columns.expected(engine, asked))
        assert "geo_network_asn" in {name for name, kind in table.dtypes if kind == "bigint"}


@pytest.mark.parametrize(
    "kind",
    [
        pa.timestamp("us", "UTC"),
        pytest.param(pa.int64(), marks=pytest.mark.long),
        pytest.param(pa.float64(), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_each_row_at_its_own_instant(
    cluster: Cluster, engine: geolookup.Engine, dataset_path: Path, kind: pa.DataType
) -> None:
    addresses = _ADDRESSES * 300
    rng = random.Random(5)
    instants = [None if at % 7 == 3 else rng.randrange(-(10**9), 2 * 10**9) for at in range(2100)]
    df = cluster.frame(addresses, seen=_instants(instants, kind))
    table = adapter.enrich(df, ["time", "network.asn"], dataset=dataset_path, time_column="seen")
    wanted = columns.expected(engine, addresses, instants)
    values = rows_of(table)
    del values["seen"]
    columns.assert_equal(values, {name: wanted[name] for name in values})


def _instants(seconds: list[int | None], kind: pa.DataType) -> pa.Array:
    """Return instants within these seconds, as far as the type tells any."""
    if kind == pa.int64():
        return pa.array(seconds, kind)
    if kind == pa.float64():
        return pa.array([second if second is None else second + 0.75 for second in seconds], kind)
    micros = [second if second is None else second * 10**6 + 999_999 for second in seconds]
    return pa.array(micros, pa.int64()).cast(kind)


def test_names_of_fields_as_arguments_and_as_a_list(
    cluster: Cluster, engine: geolookup.Engine, dataset_path: Path
) -> None:
    names: Any = ("country", "city_name", "network.asn", "currency", "error_code")
    frame = cluster.frame(_ADDRESSES)
    several = rows_of(adapter.enrich(frame, *names, dataset=dataset_path))
    assert several == rows_of(adapter.enrich(frame, [*names], dataset=dataset_path))
    expected = columns.expected(engine, _ADDRESSES)
    assert [*several] == [
        *("location_country_code", "location_city_name", "network_asn"),
        *("currency_code", "currency_name", "currency_symbol", "error_code"),
    ]
    columns.assert_equal(several, {name: expected[name] for name in several})


def test_now_is_one_instant(cluster: Cluster) -> None:
    before = int(datetime.now(UTC).timestamp())
    table = adapter.enrich(cluster.frame(["8.8.8.8"] * 9), "time.current_timestamp")
    after = int(datetime.now(UTC).timestamp())
    [now] = set(rows_of(table)["time_current_timestamp"])
    assert before <= now <= after
    assert set(rows_of(table)["time_current_timestamp"]) == {now}


def test_other_columns_and_partitions_stay_as_they_are(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = adapter.enrich(cluster.frame([]), ["network", "ip_type"])
    assert empty.collect() == []
    assert empty.columns[2:] == [*(f"network_{item}" for item in _NETWORK), "ip_type"]
    empty.explain()
    plan = capsys.readouterr().out
    assert "MapInArrow" in plan
    assert "Join" not in plan
    df = cluster.session.createDataFrame(
        [("1.1.1.1", 1, [1, 2], {"a": 1.5}, (Decimal("1.25"), None), date(2026, 1, 2), b"\0\xff")]
        * 3,
        "IP string, n smallint not null, list array<int>, `a map` map<string,double>,"
        " nested struct<d: decimal(9,2), t: timestamp_ntz>, day date, raw binary",
    )
    table = adapter.enrich(df, "location.country_languages", column="IP")
    table.explain()
    assert "Exchange" not in capsys.readouterr().out
    assert table.schema.fields[:-1] == df.schema.fields
    assert table.schema.fields[-1].simpleString() == "location_country_languages:array<string>"
    assert table.drop("location_country_languages").collect() == df.collect()


def test_what_cannot_be_is_refused_before_anything_runs(cluster: Cluster) -> None:
    df = cluster.frame(["8.8.8.8"], day=pa.array([date(2026, 1, 2)]))
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


@pytest.mark.parametrize(
    ("address", "text"),
    [("10.98.76.54", "Cannot geolocate private IP"), ("no.98.76", "Invalid IP")],
)
def test_strict_tasks_fail_without_the_address(cluster: Cluster, address: str, text: str) -> None:
    df = (
        cluster.frame(["8.8.8.8", "1.1.1.1", address, "9.9.9.9"])
        .coalesce(1)
        .sortWithinPartitions("row")
    )
    with pytest.raises(PythonException) as caught:
        adapter.enrich(df, "network.asn", on_invalid="raise").collect()
    said = str(caught.value)
    assert text in said
    assert "in row 2, counted from 0\nof partition 0" in said
    assert "98.76" not in said


def test_one_engine_a_process(cluster: Cluster, tmp_path: Path) -> None:
    """However many tasks and queries a worker runs, it maps a dataset once."""
    dataset = build_at(tmp_path, {"a.csv": "network,country_code\n8.8.8.0/24,US\n"})[0]
    df = cluster.session.range(0, 9000, 1, 12).selectExpr("id as row", "'8.8.8.8' as ip")
    for fields in ("location.country_code", "network"):
        result = adapter.enrich(df, fields, dataset=dataset).collect()
        assert len(result) == 9000
    opened = [
        remainder
        for remainder in cluster.watch.events("open")
        if remainder[1] == f"{dataset}/ipv4.arrow"
    ]
    assert 2 <= len(opened) <= 24
    assert set(Counter(pid for pid, *_ in opened).values()) == {1}


def test_a_host_unpacks_once(cluster: Cluster, tmp_path: Path) -> None:
    dataset = build_at(tmp_path, {"a.csv": "network,country_code\n8.8.8.0/24,DE\n"})[0]
    df = cluster.session.range(0, 9000, 1, 12).selectExpr("id as row", "'8.8.8.8' as ip")
    for _ in range(2):
        table = adapter.enrich(df, "location.country_code", dataset=dataset, ship=True)
        assert set(rows_of(table)["location_country_code"]) == {"DE"}
    with geolookup.open(dataset) as engine:
        generation = engine.metadata.generation
    assert len(cluster.watch.unpacked(generation)) == 1  # both executors are on one host
    sent = cluster.session.sparkContext.listFiles
    assert len([item for item in sent if generation in item]) == 1


def test_executors_see_the_drivers_dataset_and_generation(cluster: Cluster, tmp_path: Path) -> None:
    dataset = build_at(tmp_path, {"a.csv": "network,country_code\n8.8.8.0/24,US\n"})[0]
    table = adapter.enrich(cluster.frame(["8.8.8.8"]), "network", dataset=dataset)
    dataset.rename(tmp_path / "elsewhere")
    with pytest.raises(PythonException) as caught:
        table.collect()
    assert f"{dataset}: no dataset here; put the driver's dataset at this path" in str(caught.value)
    texts = ("network,country_code\n8.8.8.0/24,US\n", "network,country_code\n8.8.8.0/24,FR\n")
    dataset = build_at(tmp_path, {"a.csv": texts[0]})[0]
    with geolookup.open(dataset) as engine:
        wanted = engine.metadata.generation
    old = adapter.enrich(cluster.frame(["8.8.8.8"]), "network", dataset=dataset)
    build_at(tmp_path, {"a.csv": texts[1]})
    with pytest.raises(PythonException) as caught:
        old.collect()
    assert f"where the driver has {wanted}; put the driver's dataset" in str(caught.value)
    df = cluster.frame(["8.8.8.8"])
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
        adapter.enrich(cluster.frame(["8.8.8.8"])).collect()
    assert f"{sys.executable} has no module 'geolookup'; install geolookup" in str(caught.value)
