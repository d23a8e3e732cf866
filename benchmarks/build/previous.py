"""The next release of a CSV, one per cent of its rows changed, compiled with --previous or not."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.build.compiling import compile_to
from benchmarks.build.generated import CORES, CSV_ROWS
from benchmarks.data import cache, changed
from benchmarks.harness.processes import Result
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import read
from geolookup.dataset.intervals import Addresses

_FILES = {"IPv4": fmt.IPV4, "IPv6": fmt.IPV6}


def measure_previous(rows: int | None) -> Result:
    """Compile a CSV, then the next one in both ways; count the intervals that differ."""
    rows = rows or CSV_ROWS
    recipe = cache.source(f"rows-{rows}", "generate", ["--rows", str(rows)])
    with tempfile.TemporaryDirectory(dir=recipe.parent) as temporary:
        folder = Path(temporary)
        previous = compile_to(recipe, folder / "previous", CORES)
        release = changed.write(recipe, folder)
        runs = {
            name: compile_to(release, folder / name, CORES, of)
            for name, of in (("without", None), ("with", folder / "previous"))
        }
        for name, run in runs.items():
            run["differing"] = _differences(folder / "previous", folder / name)
    return {"machine": previous["machine"], **runs}


def _differences(previous: Path, dataset: Path) -> dict[str, int]:
    """Return how many intervals have other row numbers than before, by family."""
    return {name: _of_family(previous / file, dataset / file) for name, file in _FILES.items()}


def _of_family(previous: Path, dataset: Path) -> int:
    before, after = read(previous)[0], read(dataset)[0]
    starts, first = _starts(before), _starts(after)
    at = starts.search(first) - 1
    same = starts[at].equals(first)
    for name in ("location", "network"):
        numbers = np.asarray(before.column(name))[at]
        same &= numbers == np.asarray(after.column(name))
    return int(np.count_nonzero(~same))


def _starts(batch: pa.RecordBatch) -> Addresses:
    if "start" in batch.schema.names:
        return Addresses(np.asarray(batch.column("start")))
    low, high = batch.column("start_low").dictionary_decode(), batch.column("start_high")
    return Addresses(np.asarray(low), np.asarray(high))


def lines(result: Result) -> Iterator[Table]:
    """Yield a table of both builds, and the ratio of their times."""
    rows: list[list[Cell]] = [
        [
            f"{name} --previous",
            Number(result[name]["seconds"], ".2f"),
            *(Number(result[name]["differing"][family]) for family in _FILES),
        ]
        for name in ("without", "with")
    ]
    columns = ("previous", "compile, s", *(f"{family} intervals that differ" for family in _FILES))
    yield Table("build-previous", columns, rows)
    ratio = result["with"]["seconds"] / result["without"]["seconds"]
    yield ratio_table(
        "build-previous-ratio", "previous", [Ratio("compile: with / without", ratio, 1.1, unit="x")]
    )
