"""The compiler beside the public MMDB writer, on the same rows of City and ASN."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks import build_city, measure
from benchmarks.compiling import Result, compiled, in_child

#: The writer takes minutes for all the rows of a city data set.
ROWS = 1_000_000


def measured(rows: int | None) -> Result:
    """Make a dataset and MMDB files of the same rows; both read the CSV."""
    recipe = build_city.recipe(rows or ROWS)
    ours = compiled(recipe, build_city.CORES)
    with tempfile.TemporaryDirectory(dir=recipe.parent) as folder:
        for path in recipe.parent.glob("*.csv"):
            (Path(folder) / path.name).symlink_to(path)
        theirs = in_child("benchmarks.mmdb_rows", folder)
        files = [Path(folder) / name for name in ("city.mmdb", "asn.mmdb")]
        theirs["bytes"] = sum(path.stat().st_size for path in files)
    return {"machine": ours["machine"], "ours": ours, "theirs": theirs}


def told(result: Result) -> str:
    """Return both and the ratios."""
    ours, theirs = result["ours"], result["theirs"]
    rows = [
        ("rows", f"{ours['rows']:,}", f"{theirs['rows']:,}", ""),
        ("seconds", f"{ours['seconds']:.2f}", f"{theirs['seconds']:.2f}", ""),
        _compared("rows per second", "rows_per_second", result, 1, 0),
    ]
    if ours["peak_memory"]:
        rows.append(_compared("peak memory, MB", "peak_memory", result, 1e6, 1))
    return measure.table(("writer", "geolookup", "mmdb-writer", "ratio"), rows)


def _compared(name: str, key: str, result: Result, unit: float, digits: int) -> tuple[str, ...]:
    ours, theirs = (result[each][key] / unit for each in ("ours", "theirs"))
    return name, f"{ours:,.{digits}f}", f"{theirs:,.{digits}f}", f"{ours / theirs:.2f}"
