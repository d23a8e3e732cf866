"""The compiler on generated sources, and an update without a change."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.data import cache
from benchmarks.data.geolite import CITY_SCALE
from benchmarks.harness import measure, reports
from benchmarks.harness.processes import ROOT, Result, result_of
from benchmarks.harness.tables import Cell, Number, Ratio, Table, ratio_table

#: The rows of each source, and the most seconds and GB wanted of these.
_SOURCES = {"geolite": CITY_SCALE.rows, "csv": 3_700_000}
_GOALS = {"geolite": (2.9, 0.55), "csv": (4.5, 0.75)}
#: The most times of reading and hashing that ``verify`` may take, seconds of an update that changes
#: nothing, and its rounds.
_VERIFY, _UPDATE, _ROUNDS = 3.0, 0.5, 5
_RECIPE = ROOT / "sample_data" / "recipe.toml"
_FLOOR = ("-c", "import numpy, pyarrow.compute")


def compiled(layout: str, rows: int | None, max_memory: str | None) -> Result:
    """Compile a generated source on two cores, in a process of its own."""
    recipe = cache.source(layout, rows or _SOURCES[layout])
    return result_of("benchmarks.build.compiling", recipe, max_memory or "")


def compiled_lines(layout: str, result: Result) -> Iterator[reports.Part]:
    """Yield the totals of a compilation, and its goals."""
    peak = result["peak_memory"] or 0
    rows: list[tuple[str, Cell]] = [
        ("rows", Number(result["rows"])),
        ("source", Number(result["source_bytes"] / 1e6, ",.1f", " MB")),
        ("compile", Number(result["seconds"], ".2f", " s")),
        ("rows per second", Number(result["rows"] / result["seconds"])),
        ("peak memory", Number(peak / 1e9, ".2f", " GB")),
        ("dataset", Number(result["dataset_bytes"] / 1e6, ",.1f", " MB")),
        *((name.replace("_", " "), Number(count)) for name, count in result["counts"].items()),
        *((name, Number(seconds_of, ".2f", " s")) for name, seconds_of in result["after"].items()),
    ]
    yield Table((layout, "total"), rows)
    seconds, gigabytes = _GOALS[layout]
    after = result["after"]
    ratios = [
        Ratio(f"{layout}: compile", result["seconds"], seconds, unit=" s"),
        Ratio(f"{layout}: peak memory", peak / 1e9, gigabytes, unit=" GB"),
        Ratio(f"{layout}: verify / read and SHA-256", after["verify"] / after["SHA-256"], _VERIFY),
    ]
    yield ratio_table(f"{layout}: goals", ratios)


def unchanged() -> Result:
    """Return the seconds of an update that compiles, of others without a change, and of a floor.

    The floor is a process that imports numpy and Arrow.
    """
    with tempfile.TemporaryDirectory() as folder, measure.on_cores(2):
        update = ("-m", "geolookup", "update", str(_RECIPE), "--store", str(Path(folder) / "store"))
        first = _seconds(update)
        rounds = [(_seconds(update), _seconds(_FLOOR)) for _ in range(_ROUNDS)]
    again, floor = (statistics.median(times) for times in zip(*rounds, strict=True))
    return {"first": first, "again": again, "floor": floor}


def _seconds(arguments: tuple[str, ...]) -> float:
    began = time.perf_counter()
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def unchanged_lines(result: Result) -> Iterator[reports.Part]:
    """Yield the times, and the goal."""
    rows = [
        ("first update", Number(result["first"], ".2f", " s")),
        ("update, no file changed", Number(result["again"], ".2f", " s")),
        ("imports of numpy and Arrow", Number(result["floor"], ".2f", " s")),
    ]
    yield Table(("update of the bundled dataset", "median"), rows)
    ratio = Ratio("update, no file changed", result["again"], _UPDATE, unit=" s")
    yield ratio_table("update: goals", [ratio])


_HELP = """Compile generated sources and update a store.

\b
PARTS, by default all:
  geolite    GeoLite2's layout: City 4.9 M rows, ASN 0.63 M
  csv        a generic CSV of 3.7 M rows
  unchanged  geolookup update of the bundled dataset, first and without a change
"""


@click.command("build", help=_HELP)
@click.argument(
    "parts", nargs=-1, type=click.Choice([*_SOURCES, "unchanged"]), metavar="[PARTS]..."
)
@click.option("--rows", type=click.IntRange(2000), help="So many rows, instead of a part's own.")
@click.option("--max-memory", metavar="SIZE", help="Compile in so much memory.")
@reports.outputs
def command(
    parts: tuple[str, ...], rows: int | None, max_memory: str | None, outputs: reports.Outputs
) -> None:
    """Generate (once), compile and print the totals of each part."""
    result: Result = {"machine": measure.facts()}
    output: list[reports.Part] = []
    for name in dict.fromkeys(parts or (*_SOURCES, "unchanged")):
        if name == "unchanged":
            result[name] = unchanged()
            output += unchanged_lines(result[name])
        else:
            result[name] = compiled(name, rows, max_memory)
            output += compiled_lines(name, result[name])
    outputs.tell(output, result)
