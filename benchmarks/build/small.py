"""The fixed cost of a build: a source of few rows, in a process that has built before.

The builds run with syncs to the disk and without: the disk takes their time.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from benchmarks.harness import measure
from benchmarks.harness.processes import Result, result_of, say
from benchmarks.harness.tables import Cell, Number, Table

_HEADER = "network,country_code,city_name,latitude,longitude,asn,asn_organization\n"
_ROWS = 1
#: Builds that are timed, after some that are not.
_BUILDS, _FIRST = 40, 5


def measure_small(rows: int | None) -> Result:
    """Build a generic CSV of so many rows again and again, in a child process."""
    return result_of("benchmarks.build.small", rows or _ROWS)


def lines(result: Result) -> Iterator[Table]:
    """Yield the time of a build in milliseconds."""
    cells: list[tuple[Cell, ...]] = [
        (name, *(Number(result[name][clock], ".1f") for clock in ("wall", "cpu")))
        for name in ("without syncs", "with syncs")
    ]
    yield Table("build-small", (f"small: {result['rows']:,} rows", "ms", "ms of CPU"), cells)


def _measure(rows: int) -> Result:
    with tempfile.TemporaryDirectory() as folder, measure.on_cores(1) as pinned:
        source = Path(folder) / "source.csv"
        rows_text = (
            f"8.{at >> 8}.{at & 255}.0/24,US,Boston,42.36,-71.06,1,One\n" for at in range(rows)
        )
        source.write_text(_HEADER + "".join(rows_text), encoding="utf-8")
        with mock.patch.object(os, "fsync"):
            _time_builds(source, _FIRST)
            without = _time_builds(source, _BUILDS)
        results = {"without syncs": without, "with syncs": _time_builds(source, _BUILDS)}
    return {"rows": rows, **results, "machine": measure.facts(pinned=pinned)}


def _time_builds(source: Path, builds: int) -> dict[str, float]:
    """Return the median milliseconds of a build, by both clocks."""
    from geolookup_builder.calls import build

    times = []
    for _ in range(builds):
        wall, cpu = time.perf_counter(), time.process_time()
        build(source, source.parent / "dataset", force=True)
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    walls, cpus = zip(*times, strict=True)
    return {"wall": statistics.median(walls) * 1e3, "cpu": statistics.median(cpus) * 1e3}


if __name__ == "__main__":
    say(_measure(int(sys.argv[1])))
