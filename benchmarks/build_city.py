"""City and ASN in the layout of GeoLite2's CSV, on two cores."""

from __future__ import annotations

from pathlib import Path

from benchmarks import cache
from benchmarks.compiling import Result, compiled, totals
from benchmarks.geolite import CITY_SCALE

CORES = 2


def recipe(rows: int | None) -> Path:
    """Return the recipe of a generated source, with the rows of ``CITY_SCALE`` unless told."""
    rows = rows or CITY_SCALE.rows
    return cache.source(f"geolite-{rows}", "geolite", ["--rows", str(rows)])


def measured(rows: int | None) -> Result:
    """Compile generated City and ASN files."""
    return compiled(recipe(rows), CORES)


def told(result: Result) -> str:
    """Return the totals as a table."""
    return totals("city", result)
