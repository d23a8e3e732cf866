"""``geolookup update`` by the recipe of the bundled dataset, from command to end.

The first update compiles. Nothing changes before the others. The floor is a process that imports
numpy and Arrow.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import measure, reports
from benchmarks.harness.processes import ROOT, Result
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table

_RECIPE = ROOT / "sample_data" / "recipe.toml"
_ROUNDS, _GOAL = 5, 0.5
_FLOOR = ("-c", "import numpy, pyarrow.compute")


def measure_unchanged(_rows: int | None) -> Result:
    """Return the seconds of the first update, and of each round of the others and of the floor."""
    with tempfile.TemporaryDirectory() as folder, measure.on_cores(2) as pinned:
        update = ("-m", "geolookup", "update", str(_RECIPE), "--store", str(Path(folder) / "store"))
        first = _seconds(update)
        rounds = [(_seconds(update), _seconds(_FLOOR)) for _ in range(_ROUNDS)]
    unchanged, floor = ([*times] for times in zip(*rounds, strict=True))
    facts = measure.facts(pinned=pinned)
    return {"first": first, "unchanged": unchanged, "floor": floor, "machine": facts}


def _seconds(arguments: tuple[str, ...]) -> float:
    began = time.perf_counter()
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def lines(result: Result) -> Iterator[reports.Part]:
    """Yield the medians, and the bound."""
    unchanged, floor = (statistics.median(result[name]) for name in ("unchanged", "floor"))
    rows = [
        ("first update", Number(result["first"], ".2f", " s")),
        ("update, no file changed", Number(unchanged, ".2f", " s")),
        ("floor: imports of numpy and Arrow", Number(floor, ".2f", " s")),
    ]
    yield Table("build-unchanged", ("unchanged", "median"), rows)
    ratio = Ratio("update, no file changed", unchanged, _GOAL, unit=" s")
    yield ratio_table("build-unchanged-bounds", "unchanged", [ratio])
