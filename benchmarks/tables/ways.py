"""Whole ways through other programs: Parquet to Parquet, Spark, and memory; a process each.

Strategy: every way is a module run with arguments that prints one line of JSON.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import measure
from benchmarks.harness.processes import pin, result_of, say
from benchmarks.tables.contenders import ONE, TEN
from benchmarks.tables.text_ways import text_files
from benchmarks.tables.worker import read


def memory(dataset: str, addresses: str, rows: str) -> dict[str, Any]:
    """Return the bytes at the peak beyond input and output, on two threads.

    By the system's allocator: Arrow's own rounds each buffer of the output up.
    """
    import geolookup

    pa.set_memory_pool(pa.system_memory_pool())
    engine = geolookup.open(dataset)
    data = read(Path(addresses)).slice(0, int(rows))
    engine.enrich(data.slice(0, 200_000), TEN, threads=2)
    before = sum(measure.resident().values())
    table = engine.enrich(data, TEN, threads=2)
    own = sum(column.nbytes for column in table.columns[1:])
    # Dictionaries are the dataset's own, and counted in every chunk of a column.
    for column in table.columns[1:]:
        if pa.types.is_dictionary(column.type):
            own -= sum(chunk.dictionary.nbytes for chunk in column.chunks)
    return {"rows": len(data), "beyond": (measure.peak_memory() or 0) - before - own}


def parquet(dataset: str, addresses: str) -> dict[str, Any]:
    """Return the rows a second of ``geolookup enrich`` from Parquet to Parquet, on two cores."""
    pin(2)
    data = read(Path(addresses))
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.parquet"), Path(folder, "out.parquet")
        pq.write_table(data, source)
        command = [sys.executable, "-m", "geolookup", "enrich", str(source)]
        command += ["--output", str(target), "--dataset", dataset, "--fields", ",".join(ONE)]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        took = time.perf_counter() - began
        rows = pq.read_metadata(target).num_rows
    return {"rows": rows, "per_second": rows / took}


def spark(dataset: str, addresses: str) -> dict[str, Any]:
    """Return the rows a second of the Spark adapter from Parquet to nowhere, on two cores."""
    from pyspark.sql import SparkSession

    from geolookup.tables.spark import enrich

    pin(2)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    data = read(Path(addresses))
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 1 << 17)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(data, Path(folder, "in.parquet"), row_group_size=1 << 20)
        frame = enrich(session.read.parquet(folder), ONE, dataset=dataset)
        frame.limit(1000).write.format("noop").mode("overwrite").save()  # workers start once
        began = time.perf_counter()
        frame.write.format("noop").mode("overwrite").save()
        took = time.perf_counter() - began
    session.stop()
    return {"rows": len(data), "per_second": len(data) / took}


_Way = Callable[..., dict[str, Any]]
WAYS: dict[str, _Way] = {
    "memory": memory,
    "parquet": parquet,
    "spark": spark,
    "texts": text_files,
}


def run(way: str, *arguments: object) -> dict[str, Any]:
    """Run a way in a process of its own; ``{"refused": why}`` where it failed."""
    try:
        return result_of("benchmarks.tables.ways", way, *arguments, stderr=subprocess.PIPE)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or [f"status {error.returncode}"]
        return {"refused": lines[-1][:200]}


if __name__ == "__main__":
    say(WAYS[sys.argv[1]](*sys.argv[2:]))
