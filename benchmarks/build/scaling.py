"""How time and memory grow with the rows: City and ASN of several sizes.

The exponent and the bytes a row are least-squares slopes: of the logarithm of the seconds over the
logarithm of the rows, and of the peak memory over the rows, without a process's constant share
(imports, buffers).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.build.compiling import compile_once
from benchmarks.build.generated import CORES, city_recipe
from benchmarks.harness import reports
from benchmarks.harness.processes import Result
from benchmarks.harness.tables import Number, Table

SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 20_000_000)


def measure_scaling(rows: int | None) -> Result:
    """Compile sources of growing size, up to ``rows``."""
    sizes = [size for size in SIZES if size <= rows] if rows else list(SIZES)
    if rows and rows not in sizes:
        sizes.append(rows)
    if len(sizes) < 2:
        sizes.insert(0, sizes[0] // 2)
    runs = [compile_once(city_recipe(size), CORES) for size in sizes]
    counts, seconds = (np.array([float(run[key]) for run in runs]) for key in ("rows", "seconds"))
    peaks = [run["peak_memory"] for run in runs]
    return {
        "machine": runs[0]["machine"],
        "runs": runs,
        "exponent": _slope(np.log(counts), np.log(seconds)),
        "bytes_a_row": None if None in peaks else _slope(counts, np.array(peaks, float)),
    }


def _slope(across: NDArray[np.float64], up: NDArray[np.float64]) -> float:
    return float(np.polyfit(across, up, 1)[0])


def lines(result: Result) -> Iterator[reports.Part]:
    """Yield each run, the exponent and the bytes a row."""
    rows = [
        (
            f"{run['rows']:,}",
            Number(run["seconds"], ".2f"),
            Number(run["rows_per_second"]),
            "unknown" if run["peak_memory"] is None else Number(run["peak_memory"] / 1e6),
            Number(run["dataset_bytes"] / 1e6, ",.1f"),
        )
        for run in result["runs"]
    ]
    head = ("scaling: rows", "seconds", "rows per second", "peak MB", "dataset MB")
    bytes_a_row = result["bytes_a_row"]
    yield Table("build-scaling", head, rows)
    yield (
        f"time grows as rows ** {result['exponent']:.2f},"
        f" memory by {'unknown' if bytes_a_row is None else f'{bytes_a_row:,.0f}'} bytes a row"
    )
