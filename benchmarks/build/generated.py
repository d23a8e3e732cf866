"""The parts ``csv`` and ``city``: one generated source each, compiled on its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.build.compiling import compile_once
from benchmarks.data import cache
from benchmarks.data.geolite import CITY_SCALE
from benchmarks.harness.processes import Result
from benchmarks.harness.tables import Cell, Number, Table

#: The rows of a generic CSV as large as a city data set.
CSV_ROWS = 3_700_000
#: The cores of every compilation.
CORES = 2


def csv(rows: int | None) -> Result:
    """Compile a generic CSV."""
    rows = rows or CSV_ROWS
    return compile_once(cache.source(f"rows-{rows}", "generate", ["--rows", str(rows)]), CORES)


def city(rows: int | None) -> Result:
    """Compile City and ASN in the layout of GeoLite2's CSV."""
    return compile_once(city_recipe(rows), CORES)


def city_recipe(rows: int | None) -> Path:
    """Return the recipe of such a source; by default with the rows of ``CITY_SCALE``."""
    rows = rows or CITY_SCALE.rows
    return cache.source(f"geolite-{rows}", "geolite", ["--rows", str(rows)])


def totals(title: str, result: Result) -> Iterator[Table]:
    """Yield what one compilation came to, as a table."""
    peak = result["peak_memory"]
    rows: list[tuple[str, Cell]] = [
        ("rows", Number(result["rows"])),
        ("source", Number(result["source_bytes"] / 1e6, ",.1f", " MB")),
        ("cores", Number(result["cores"])),
        ("compile", Number(result["seconds"], ".2f", " s")),
        ("whole process", Number(result["process_seconds"], ".2f", " s")),
        ("rows per second", Number(result["rows_per_second"])),
        ("peak memory", "unknown" if peak is None else Number(peak / 1e9, ".2f", " GB")),
        ("dataset", Number(result["dataset_bytes"] / 1e6, ",.1f", " MB")),
        *((name.replace("_", " "), Number(count)) for name, count in result["counts"].items()),
    ]
    yield Table(f"build-{title}", (title, "total"), rows)
