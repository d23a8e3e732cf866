"""One run of a cluster in a process of its own: Parquet to Parquet, the dataset from an archive.

Strategy: the first run warms the workers up; it fetches the dataset and is not timed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.cluster.processes import Workers
from benchmarks.harness.processes import say

FIELDS = ["city_name", "asn"]
#: Enriches the files of the first folder into the second one.
Enrich = Callable[[Path, Path], object]


@contextmanager
def spark(workers: int, archive: str, work: Path) -> Iterator[Enrich]:
    """Start executors of one core each."""
    from pyspark.find_spark_home import _find_spark_home
    from pyspark.sql import SparkSession

    from geolookup.tables.spark import enrich

    home = work / "home"  # executors of such a cluster work below Spark itself
    home.mkdir()
    for part in Path(_find_spark_home()).iterdir():
        if part.name != "work":
            (home / part.name).symlink_to(part)
    os.environ |= {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    options: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.cores": "1",
        "spark.executor.memory": "1g",
        "spark.sql.files.maxPartitionBytes": 1 << 20,
        "spark.sql.execution.arrow.maxRecordsPerBatch": 100_000,
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,1024]")
    session = builder.config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def run(source: Path, target: Path) -> None:
        frame = enrich(session.read.parquet(str(source)), FIELDS, dataset=archive)
        frame.write.parquet(str(target))

    yield run
    session.stop()


@contextmanager
def dask(workers: int, archive: str, work: Path) -> Iterator[Enrich]:
    """Start workers of one thread each."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from geolookup.tables.dask import enrich

    options: Any = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    start: Any = LocalCluster
    connect: Any = Client
    with start(local_directory=str(work / "dask"), **options) as cluster, connect(cluster):

        def run(source: Path, target: Path) -> None:
            # One partition for each file, as Spark has.
            read: Any = dd.read_parquet
            frame = read(str(source), split_row_groups=True)
            enrich(frame, FIELDS, dataset=archive).to_parquet(str(target))

        yield run


def facts_of(folder: Path) -> list[int]:
    """Return counts and sums of a result that differ if a row is lost, doubled or wrong."""
    table = pq.read_table(folder, columns=["location_city_name", "network_asn"])
    asn = pc.sum(table["network_asn"].cast("int64")).as_py() or 0
    return [len(table), table["location_city_name"].null_count, asn]


def main(name: str, workers: str, archive: str, source: str, kill_after: str) -> None:
    """Say the seconds of a run, the memory of its largest worker, and facts of the result."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        os.environ.setdefault("GEOLOOKUP_CACHE", str(work / "cache"))
        with {"spark": spark, "dask": dask}[name](int(workers), archive, work) as run:
            began = time.perf_counter()
            run(Path(source), work / "first")
            first = time.perf_counter() - began
            shutil.rmtree(work / "first")
            watch = Workers(float(kill_after) if kill_after else None)
            watch.start()
            began = time.perf_counter()
            run(Path(source), work / "result")
            took = time.perf_counter() - began
            watch.stop()
        facts = facts_of(work / "result")
    say(
        {
            "first": first,
            "seconds": took,
            "facts": facts,
            "peaks": watch.peaks,
            "killed": watch.killed is not None,
        }
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
