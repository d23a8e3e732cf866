"""City and ASN compiled with ``explain = "full"`` and without."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.build.compiling import compiled
from benchmarks.build.generated import CORES, city_recipe
from benchmarks.harness import reports
from benchmarks.harness.processes import Result

_HEAD, _FULL = "[dataset]\n", '[dataset]\nexplain = "full"\n'


def measured(rows: int | None) -> Result:
    """Compile the same sources twice."""
    recipe = city_recipe(rows)
    plain = compiled(recipe, CORES)
    with tempfile.TemporaryDirectory(dir=recipe.parent) as folder:
        for path in recipe.parent.glob("*.csv"):
            (Path(folder) / path.name).symlink_to(path)
        full = Path(folder) / recipe.name
        full.write_text(recipe.read_text(encoding="utf-8").replace(_HEAD, _FULL), encoding="utf-8")
        return {"machine": plain["machine"], "plain": plain, "full": compiled(full, CORES)}


def told(result: Result) -> str:
    """Return a table of both, with the ratios."""
    rows = [
        _compared("compile, s", "seconds", result, 1),
        _compared("dataset, MB", "dataset_bytes", result, 1e6),
    ]
    if result["plain"]["peak_memory"]:
        rows.append(_compared("peak memory, MB", "peak_memory", result, 1e6))
    return reports.table(("explained", "without", "full", "ratio"), rows)


def _compared(name: str, key: str, result: Result, unit: float) -> tuple[str, ...]:
    plain, full = (result[each][key] / unit for each in ("plain", "full"))
    return name, f"{plain:,.2f}", f"{full:,.2f}", f"{full / plain:.2f}"
