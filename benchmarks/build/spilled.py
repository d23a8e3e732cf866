"""Builds of more ranges than memory: DB-IP's layout, in memory and with ``--max-memory``.

The cost of a row is of processor time: of the whole process, both families together.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.build.compiling import compile_to
from benchmarks.build.generated import CORES
from benchmarks.data import cache, dbip
from benchmarks.harness import reports
from benchmarks.harness.processes import Result
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table

#: Rows, and the most memory: None is without a limit.
SIZES: tuple[tuple[int, str | None], ...] = (
    (5_000_000, None),
    (20_000_000, "512MB"),
    (100_000_000, "2GB"),
)
_RATIO, _MINUTES = 1.5, 5


def measure_spilled(rows: int | None) -> Result:
    """Compile each size; with ``rows`` these, in memory and in the least memory."""
    sizes = SIZES if rows is None else ((rows, None), (rows, "500MB"))
    runs = [{"limit": limit, **_run(count, limit)} for count, limit in sizes]
    return {"machine": runs[0]["machine"], "runs": runs}


def _run(rows: int, limit: str | None) -> Result:
    cache.FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix=".spilled-", dir=cache.FOLDER) as folder:
        recipe = dbip.write(Path(folder), rows)
        return compile_to(recipe, Path(folder) / "dataset", CORES, max_memory=limit)


def lines(result: Result) -> Iterator[reports.Part]:
    """Yield each run, and the bounds."""
    runs = result["runs"]
    rows = [
        (
            f"{run['rows']:,}, {run['limit'] or 'in memory'}",
            Number(run["process_seconds"], ".1f"),
            Number(run["cpu"], ".1f"),
            Number(run["cpu"] / run["rows"] * 1e6, ".2f"),
            Number((run["peak_memory"] or 0) / 1e6),
            Number(run["dataset_bytes"] / 1e6, ",.1f"),
        )
        for run in runs
    ]
    head = ("spilled: rows, limit", "seconds", "CPU s", "CPU µs a row", "peak MB", "dataset MB")
    yield Table("build-spilled", head, rows)
    yield ratio_table("build-spilled-bounds", "spilled", _bounds(runs))


def _bounds(runs: list[Result]) -> Iterator[Ratio]:
    first, last = runs[0], runs[-1]
    costs = [run["cpu"] / run["rows"] for run in (first, last)]
    yield Ratio("CPU time of a row, the last / the first", costs[1] / costs[0], _RATIO, unit="x")
    minutes = last["process_seconds"] / 60
    yield Ratio("minutes of the last", minutes, _MINUTES, unit=" min")
