"""Spark and Dask on this machine: rows a second by workers, memory, and a worker that is killed.

Strategy: workers have one core each, and a process of their own. The dataset comes from an archive,
into a cache of the run. Each result has the counts and sums of the Arrow path.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq

import geolookup
from benchmarks.cluster.runs import FIELDS, facts_of
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports
from benchmarks.harness.processes import result_of
from benchmarks.harness.tables import Cell, Number, Table
from benchmarks.tables import addresses
from benchmarks.tables.worker import read

ENGINES, WORKERS, ROWS, PARTITIONS = ("spark", "dask"), (1, 2), 4_000_000, 32


def measure_cluster(dataset: Path, engines: tuple[str, ...], rows: int, work: Path) -> Any:
    """Return the runs of each engine, and their conditions."""
    load = os.getloadavg()[0]
    archive, source = work / "dataset.tar.zst", work / "source"
    geolookup.pack(dataset, archive)
    wanted = _write_source(dataset, source, rows, work)
    runs: list[dict[str, Any]] = []
    for engine in engines:
        runs += [_run(engine, workers, archive, source, None, wanted) for workers in WORKERS]
        # Before the end, also if the run is faster than the last one.
        early = runs[-1]["seconds"] / 4
        runs.append(_run(engine, WORKERS[-1], archive, source, early, wanted))
    machine = measure.facts(pinned=False)
    return {"runs": runs, "rows": rows, "load": load, "machine": machine}


def _write_source(dataset: Path, source: Path, rows: int, work: Path) -> list[int]:
    """Write the addresses as files, one for each partition; return the facts of their result."""
    addresses.write(dataset, [work / "ipv4.arrow"], 4, rows)
    table = read(work / "ipv4.arrow").select(["ip"])
    source.mkdir()
    size = -(-rows // PARTITIONS)
    for at in range(PARTITIONS):
        pq.write_table(table.slice(at * size, size), source / f"{at:03}.parquet")
    with geolookup.open(dataset) as engine:
        _write_whole(engine.enrich(table, FIELDS), work / "whole")
    return facts_of(work / "whole")


def _write_whole(table: pa.Table, folder: Path) -> None:
    folder.mkdir()
    pq.write_table(table, folder / "0.parquet")


def _run(
    engine: str,
    workers: int,
    archive: Path,
    source: Path,
    kill_after: float | None,
    wanted: list[int],
) -> dict[str, Any]:
    arguments = (engine, workers, archive, source, "" if kill_after is None else kill_after)
    try:
        result = result_of("benchmarks.cluster.runs", *arguments, stderr=subprocess.PIPE)
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:] or [f"status {error.returncode}"]
        raise click.ClickException(f"{engine}, {workers} workers: {last[0]}") from error
    if result["facts"] != wanted:
        raise click.ClickException(f"{engine}: {result['facts']} where Arrow has {wanted}")
    return {"engine": engine, "workers": workers, "kill_after": kill_after, **result}


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the table and a remark."""
    header = (*(f"{result['rows']:,} rows", "rows/s", "s", "first run s", "own MB", "mapped MB"),)
    rows: list[tuple[Cell, ...]] = []
    for run in result["runs"]:
        name = f"{run['engine']}, {run['workers']} worker{'s' * (run['workers'] > 1)}"
        name += ", one killed" if run["killed"] else ""
        own, mapped = (run["peaks"].get(key, 0) / 1e6 for key in ("RssAnon", "RssFile"))
        numbers = (result["rows"] / run["seconds"], run["seconds"], run["first"], own, mapped)
        rows.append(
            (name, *(Number(value, form) for value, form in zip(numbers, _FORMS, strict=True)))
        )
    yield Table("cluster", header, rows)
    yield (
        f"{PARTITIONS} partitions, Parquet to Parquet, {' and '.join(FIELDS)}; memory of the"
        " largest worker; each result has the counts and sums of the Arrow path"
    )


_FORMS = (",.0f", ",.1f", ",.1f", ",.0f", ",.0f")


@click.command("cluster", help="Enrich on Spark and Dask, by the number of workers.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--rows", type=click.IntRange(PARTITIONS), default=ROWS, show_default=True)
@click.option(
    "--engine",
    "engines",
    type=click.Choice(ENGINES),
    multiple=True,
    default=ENGINES,
    show_default=True,
)
@reports.outputs()
def command(scale: str, rows: int, engines: tuple[str, ...], outputs: reports.Outputs) -> None:
    """Make the dataset (once), measure and print."""
    dataset = cache.dataset(scale)
    with tempfile.TemporaryDirectory() as folder:
        result = measure_cluster(dataset, engines, rows, Path(folder))
    outputs.tell(lines(result), result)
