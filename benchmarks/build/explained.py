"""City and ASN compiled with ``explain = "full"`` and without."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.build.compiling import compile_once
from benchmarks.build.generated import CORES, city_recipe
from benchmarks.harness.processes import Result
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table

_HEAD, _FULL = "[dataset]\n", '[dataset]\nexplain = "full"\n'


def measure_explained(rows: int | None) -> Result:
    """Compile the same sources twice."""
    recipe = city_recipe(rows)
    plain = compile_once(recipe, CORES)
    with tempfile.TemporaryDirectory(dir=recipe.parent) as folder:
        for path in recipe.parent.glob("*.csv"):
            (Path(folder) / path.name).symlink_to(path)
        full = Path(folder) / recipe.name
        full.write_text(recipe.read_text(encoding="utf-8").replace(_HEAD, _FULL), encoding="utf-8")
        return {"machine": plain["machine"], "plain": plain, "full": compile_once(full, CORES)}


#: Measures: their name, their key, their unit, and the most that full may be of plain.
_COMPARED = (
    ("compile, s", "seconds", 1, 2.0),
    ("dataset, MB", "dataset_bytes", 1e6, 2.0),
    ("peak memory, MB", "peak_memory", 1e6, None),
)


def lines(result: Result) -> Iterator[Table]:
    """Yield a table of both, and the ratios."""
    plain, full = result["plain"], result["full"]
    columns = [column for column in _COMPARED if plain[column[1]]]
    rows: list[list[Cell]] = [
        [name, *(Number(run[key] / unit, ",.2f") for _, key, unit, _ in columns)]
        for name, run in (("without", plain), ("full", full))
    ]
    yield Table("build-explained", ("explained", *(column[0] for column in columns)), rows)
    ratios = [
        Ratio(f"{name}: full / without", full[key] / plain[key], most, unit="x")
        for name, key, _, most in columns
    ]
    yield ratio_table("build-explained-ratios", "explained", ratios)
