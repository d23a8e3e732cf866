"""One compilation in a process of its own, so that its peak memory is its own.

The process is kept on as many cores as are asked for, so that its time does
not depend on others; imports are no part of the time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import measure

_ROOT = Path(__file__).resolve().parent.parent
Result = dict[str, Any]


def compiled(recipe: Path, cores: int) -> Result:
    """Compile a recipe in a child process and return its totals."""
    with tempfile.TemporaryDirectory(dir=recipe.parent) as folder:
        result = in_child("benchmarks.compiling", recipe, Path(folder) / "dataset", cores)
    return {
        **result,
        "rows_per_second": result["rows"] / result["seconds"],
        "source_bytes": sum(path.stat().st_size for path in recipe.parent.glob("*.csv")),
    }


def in_child(module: str, *arguments: object) -> Result:
    """Run a module that prints a result as JSON; adds the time of the whole process."""
    began = time.perf_counter()
    child = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        check=True,
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    passed = time.perf_counter() - began
    return {**json.loads(child.stdout), "process_seconds": passed}


def _compile(recipe: Path, output: Path, cores: int) -> Result:
    from geolookup_builder.compile import Options, compile_dataset
    from geolookup_builder.report import Progress

    with measure.on_cores(cores) as pinned:
        began = time.perf_counter()
        report = compile_dataset(recipe, output, Options(), Progress())
        passed = time.perf_counter() - began
    return {
        "rows": sum(source.read for source in report.sources),
        "seconds": passed,
        "peak_memory": measure.peak_memory(),
        "dataset_bytes": report.bytes,
        "counts": report.counts,
        "machine": measure.facts(pinned=pinned),
    }


def totals(title: str, result: Result) -> str:
    """Return what one compilation came to, as a table."""
    peak = result["peak_memory"]
    rows = [
        ("rows", f"{result['rows']:,}"),
        ("source", f"{result['source_bytes'] / 1e6:,.1f} MB"),
        ("compile", f"{result['seconds']:.2f} s"),
        ("whole process", f"{result['process_seconds']:.2f} s"),
        ("rows per second", f"{result['rows_per_second']:,.0f}"),
        ("peak memory", "unknown" if peak is None else f"{peak / 1e9:.2f} GB"),
        ("dataset", f"{result['dataset_bytes'] / 1e6:,.1f} MB"),
        *((name.replace("_", " "), f"{count:,}") for name, count in result["counts"].items()),
    ]
    return measure.table((title, "total"), rows)


if __name__ == "__main__":
    print(json.dumps(_compile(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))))
