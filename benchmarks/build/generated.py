"""The parts ``csv`` and ``city``: one generated source each, compiled on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from benchmarks.build.compiling import compile_once
from benchmarks.build.reading import reading_seconds
from benchmarks.data import cache
from benchmarks.data.geolite import CITY_SCALE
from benchmarks.harness.processes import Result
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table

#: The rows of a generic CSV as large as a city data set.
CSV_ROWS = 3_700_000
#: The most seconds and GB, of the rows that are usual.
GOALS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"csv": (4.5, 0.75), "city": (2.9, 0.55)}
)
#: The cores of every compilation.
CORES = 2


def csv(rows: int | None) -> Result:
    """Compile a generic CSV."""
    rows = rows or CSV_ROWS
    return _with_floor(cache.source(f"rows-{rows}", "generate", ["--rows", str(rows)]))


def city(rows: int | None) -> Result:
    """Compile City and ASN in the layout of GeoLite2's CSV."""
    return _with_floor(city_recipe(rows))


def _with_floor(recipe: Path) -> Result:
    return {**compile_once(recipe, CORES), "floor": reading_seconds(recipe.parent, CORES)}


def city_recipe(rows: int | None) -> Path:
    """Return the recipe of such a source; by default with the rows of ``CITY_SCALE``."""
    rows = rows or CITY_SCALE.rows
    return cache.source(f"geolite-{rows}", "geolite", ["--rows", str(rows)])


def bounded_totals(title: str, result: Result) -> Iterator[Table]:
    """Yield the totals of a compilation, and its bounds."""
    yield from totals(title, result)
    yield ratio_table(f"build-{title}-bounds", f"{title}: bounds", _bounds(title, result))


def _bounds(title: str, result: Result) -> Iterator[Ratio]:
    seconds, gigabytes = GOALS[title]
    yield Ratio("compile", result["seconds"], seconds, unit=" s")
    if result["peak_memory"]:
        yield Ratio("peak memory", result["peak_memory"] / 1e9, gigabytes, unit=" GB")
    yield Ratio("floor: Arrow reads the cells", result["floor"], None, unit=" s")


def totals(title: str, result: Result) -> Iterator[Table]:
    """Yield the totals of one compilation as a table."""
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
