"""One compilation in a process of its own, to measure its peak memory; and what follows it.

The times exclude imports. Arrow itself reads the cells of the same files, dictionary-encoded in
blocks as large as the compiler's: the floor of a compilation.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv

import geolookup
from benchmarks.contenders.answers import CITY_FIELDS
from benchmarks.harness import measure
from benchmarks.harness.processes import Result, say

_CORES, _BLOCK = 2, 4 << 20
_ENCODED = pa.dictionary(pa.int32(), pa.string())


def _compile(recipe: Path, max_memory: str) -> Result:
    from geolookup_builder.compile import compile_recipe
    from geolookup_builder.limits import Options
    from geolookup_builder.recipe.loading import load

    from geolookup.progress import Progress

    with tempfile.TemporaryDirectory(dir=recipe.parent) as folder, measure.on_cores(_CORES):
        dataset = Path(folder) / "dataset"
        began = time.perf_counter()
        options = Options(max_memory=max_memory or None)
        report, _ = compile_recipe(load(recipe), dataset, options, Progress())
        seconds, cpu = time.perf_counter() - began, time.process_time()
        peak = measure.memory("VmHWM")
        after = _after(recipe.parent, dataset)
    return {
        "rows": sum(source.read for source in report.sources),
        "source_bytes": sum(path.stat().st_size for path in recipe.parent.glob("*.csv")),
        "seconds": seconds,
        "cpu": cpu,
        "peak_memory": peak,
        "dataset_bytes": report.bytes,
        "counts": report.counts,
        "after": after,
    }


def _after(sources: Path, dataset: Path) -> dict[str, float]:
    """Return the seconds of steps over whole files, by name."""
    steps: dict[str, Callable[[], object]] = {
        "Arrow itself reads the cells": lambda: _read(sources),
        "verify": lambda: geolookup.verify(dataset),
        "SHA-256": lambda: _digest(dataset),
        "export of cities to MMDB": lambda: _export(dataset),
    }
    times = {}
    for name, step in steps.items():
        began = time.perf_counter()
        step()
        times[name] = time.perf_counter() - began
    return times


def _read(folder: Path) -> None:
    pa.set_cpu_count(_CORES)
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            names = file.readline().rstrip("\n").split(",")
        types = dict.fromkeys(names[1:], _ENCODED)
        pacsv.read_csv(
            path,
            pacsv.ReadOptions(block_size=_BLOCK),
            pacsv.ParseOptions(newlines_in_values=True),
            pacsv.ConvertOptions(column_types={names[0]: pa.string(), **types}),
        )


def _digest(dataset: Path) -> None:
    for path in dataset.iterdir():
        with path.open("rb", buffering=0) as file:
            hashlib.file_digest(file, "sha256")


def _export(dataset: Path) -> None:
    with geolookup.open(dataset) as engine:
        engine.export(dataset.with_name("cities.mmdb"), "mmdb", schema="city", fields=CITY_FIELDS)


if __name__ == "__main__":
    say(_compile(Path(sys.argv[1]), sys.argv[2]))
