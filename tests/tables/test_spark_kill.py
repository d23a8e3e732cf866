"""Spark: a worker or an executor that is killed is replaced, and the result is complete."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from geolookup.archives.pack import pack
from tests.history.past import past_store
from tests.servers import until
from tests.skips import optional
from tests.store.numbered import id_of, shared
from tests.tables.spark_cluster import needs_spark, running
from tests.tables.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from geolookup.tables import spark as adapter
else:
    adapter = optional("geolookup.tables.spark")

pytestmark = [
    *needs_spark,
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="the parent of a process is read in /proc"),
]

_PARTITIONS = 8


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SparkSession, Watch]]:
    folder = tmp_path_factory.mktemp("killed")
    with running(folder, "local-cluster[2,1,1024]", **{"spark.executor.cores": "1"}) as made:
        yield made


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


@pytest.mark.parametrize("killed", ["worker", "executor"])
@pytest.mark.parametrize("way", ["archive", "ship", "as of"])
def test_killed_in_the_middle(
    cluster: tuple[SparkSession, Watch], tmp_path: Path, way: str, killed: str
) -> None:
    session, watch = cluster
    unpacked = len(watch.unpacked(id_of(4)))
    df = session.range(0, _PARTITIONS, 1, _PARTITIONS).selectExpr(
        "id as row",
        "'8.8.8.8' as ip",
        # The first days of January to May 2026.
        "timestamp_seconds(1767268800 + 2678400 * (id % 5)) as seen",
    )
    df = df.mapInArrow(_waits(str(tmp_path)), df.schema)
    plan = adapter.enrich(df, "city_name", **_options(way, tmp_path))
    assert "Exchange" not in plan._jdf.queryExecution().toString()
    result: list[Any] = []
    job = threading.Thread(target=lambda: result.extend(plan.collect()))
    job.start()
    until(lambda: len([*tmp_path.glob("read-*")]) > 3)
    newest = max(tmp_path.glob("read-*"), key=lambda path: path.stat().st_mtime_ns)
    worker, executor = map(int, newest.read_text(encoding="utf-8").split())
    os.kill(worker if killed == "worker" else executor, signal.SIGKILL)
    (tmp_path / "go").touch()
    job.join(240)
    numbers = [row % 5 if way == "as of" else 4 for row in range(_PARTITIONS)]
    cities = {row["row"]: row["location_city_name"] for row in result}
    assert cities == {row: f"Town {number}" for row, number in enumerate(numbers)}
    assert len(result) == _PARTITIONS
    # The driver unpacked the archive, on the same host.
    assert len(watch.unpacked(id_of(4))) - unpacked <= (way == "ship")


def _options(way: str, folder: Path) -> dict[str, Any]:
    if way == "as of":
        return {"dataset": past_store(folder / "store"), "as_of": "seen"}
    if way == "ship":
        return {"dataset": shared(4), "ship": True}
    pack(shared(4), folder / "geo.tar.zst")
    return {"dataset": folder / "geo.tar.zst"}
