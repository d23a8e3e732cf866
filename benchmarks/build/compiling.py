"""One compilation in a process of its own, to measure its peak memory.

The process stays on the requested number of cores: its time does not depend on others. The time
excludes imports.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import measure
from benchmarks.harness.processes import Result, result_of, say


def compile_once(recipe: Path, cores: int) -> Result:
    """Compile a recipe in a child process and return its totals."""
    with tempfile.TemporaryDirectory(dir=recipe.parent) as folder:
        return compile_to(recipe, Path(folder) / "dataset", cores)


def compile_to(
    recipe: Path,
    output: Path,
    cores: int,
    previous: Path | None = None,
    max_memory: str | None = None,
) -> Result:
    """Compile a recipe in a child process, keep the dataset, and return the totals."""
    options = (previous or "", max_memory or "")
    result = timed_child("benchmarks.build.compiling", recipe, output, cores, *options)
    return {
        **result,
        "rows_per_second": result["rows"] / result["seconds"],
        "source_bytes": sum(path.stat().st_size for path in recipe.parent.glob("*.csv")),
    }


def timed_child(module: str, *arguments: object) -> Result:
    """Return the result of a module in a child process, with the time of the whole process."""
    began = time.perf_counter()
    result = result_of(module, *arguments)
    return {**result, "process_seconds": time.perf_counter() - began}


def _compile(
    recipe: Path, output: Path, cores: int, previous: Path | None, max_memory: str | None
) -> Result:
    from geolookup_builder.compile import compile_dataset
    from geolookup_builder.overlaid_sources import Options

    from geolookup.progress import Progress

    with measure.on_cores(cores) as pinned:
        began = time.perf_counter()
        options = Options(previous=previous, max_memory=max_memory)
        report = compile_dataset(recipe, output, options, Progress())
        seconds = time.perf_counter() - began
    return {
        "rows": sum(source.read for source in report.sources),
        "seconds": seconds,
        "cpu": time.process_time(),
        "cores": cores,
        "peak_memory": measure.peak_memory(),
        "dataset_bytes": report.bytes,
        "counts": report.counts,
        "machine": measure.facts(pinned=pinned),
    }


if __name__ == "__main__":
    recipe, output, cores, previous, max_memory = sys.argv[1:]
    before = Path(previous) if previous else None
    say(_compile(Path(recipe), Path(output), int(cores), before, max_memory or None))
