"""A generic CSV of a city data set's size on one core."""

from __future__ import annotations

from benchmarks import cache
from benchmarks.compiling import Result, compiled, totals

ROWS = 3_700_000


def measured(rows: int | None) -> Result:
    """Compile a generated generic CSV."""
    rows = rows or ROWS
    return compiled(cache.source(f"rows-{rows}", "generate", ["--rows", str(rows)]), 1)


def told(result: Result) -> str:
    """Return the totals as a table."""
    return totals("csv", result)
