"""``own``: own columns, overlays and slices at the scale of cities, in CPU seconds."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from benchmarks.build.generated import city_recipe
from benchmarks.data import cache
from benchmarks.harness import reports
from benchmarks.harness.processes import Result, result_of
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table
from benchmarks.own import lookups
from benchmarks.own.child import run
from benchmarks.own.data import own_recipe, sites_recipe

SITES, SITES_OWN = "build of sites", "build of sites, an own column"
FIRST, SECOND = "first open(overlay=)", "second open(overlay=)"
SLICE, WORLD = "slice of DE and AT", "slice of bundled, countries"
BUILD, BUILD_OWN = "build, no own columns", "build, ten own columns"
#: CPU seconds and MB that each is wanted to take at most.
_CPU, _MEMORY = {SITES: 1.5, SITES_OWN: 1.5, FIRST: 1.5, SLICE: 1}, 400
Results = dict[str, list[Result]]


def measure_own(rows: int, own_rows: int, count: int, rounds: int) -> dict[str, Any]:
    """Return the measurements of the processes, and of the lookups with ten own columns."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    city, recipe = cache.built_dataset(city_recipe(rows)), city_recipe(own_rows)
    with tempfile.TemporaryDirectory(dir=cache.FOLDER) as temporary:
        folder = Path(temporary)
        processes, sizes = _over(folder, city, rounds)
        without, dataset = folder / "without", folder / "with"
        processes[BUILD] = [run("build", recipe, "-o", without)]
        with_own = own_recipe(folder, recipe, without)
        processes[BUILD_OWN] = [run("build", with_own, "-o", dataset)]
        timed = result_of("benchmarks.own.lookups", without, dataset, count, rounds)
    amounts = {"addresses": count, "rounds": rounds, "load": load}
    return {"processes": processes, "sizes": sizes, **timed, **amounts}


def _over(folder: Path, city: Path, rounds: int) -> tuple[Results, dict[str, int]]:
    """Measure sites over a city dataset, and slices; the processes take turns."""
    sites, with_own = (sites_recipe(folder, city, own=own) for own in (False, True))
    out, world, pack = folder / "out", folder / "world", folder / "world.tar.zst"
    results: Results = {}
    for at in range(rounds):
        opening = ("open", city, folder / "sites0.csv", folder / f"cache{at}")
        steps = {
            SITES: ("build", sites, "--force", "-o", out),
            SITES_OWN: ("build", with_own, "--force", "-o", out),
            FIRST: opening,
            SECOND: opening,
            SLICE: ("slice", city, "--only", "country=DE,AT", "--force", "-o", out),
            WORLD: ("slice", "bundled", "--fields", "country", "--force", "-o", world),
        }
        for name, arguments in steps.items():
            results.setdefault(name, []).append(run(*arguments))
    run("pack", world, "-o", pack)
    size = sum(path.stat().st_size for path in world.iterdir())
    return results, {"dataset": size, "packed": pack.stat().st_size}


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    processes = [
        (
            name,
            Number(_median(turns, "cpu"), ".2f"),
            Number(_median(turns, "seconds"), ".2f"),
            Number(_median(turns, "peak_memory") / 1e6),
        )
        for name, turns in result["processes"].items()
    ]
    yield Table("own-processes", ("whole process", "CPU s", "wall s", "peak MB"), processes)
    kinds = list(result["times"])
    rows = [
        (name, *(Number(statistics.median(result["times"][kind][name])) for kind in kinds))
        for name in result["times"][kinds[0]]
    ]
    yield Table("own-lookups", ("ns of CPU per address", *kinds), rows, unit="ns")
    yield ratio_table("own-bounds", "wanted of these", _bounds(result))
    without, with_own = result["intervals"]
    yield (
        f"median of {result['rounds']} rounds; builds without and with ten own columns once;"
        f" {result['addresses']:,} IPv4 addresses with own columns\n"
        f"{without:,} intervals without own columns, {with_own:,} with ten"
    )


def _median(turns: list[Result], key: str) -> float:
    return statistics.median(turn[key] or 0 for turn in turns)


def _bounds(result: dict[str, Any]) -> Iterator[Ratio]:
    processes, sizes = result["processes"], result["sizes"]
    for name, seconds in _CPU.items():
        yield Ratio(f"{name}: CPU time", _median(processes[name], "cpu"), seconds, unit=" s")
    for name in (SITES, SITES_OWN, FIRST):
        peak = _median(processes[name], "peak_memory") / 1e6
        yield Ratio(f"{name}: peak memory", peak, _MEMORY, unit=" MB")
    called = _median(processes[SECOND], "call") * 1e3
    yield Ratio(f"{SECOND}: the call", called, None, unit=" ms")
    for name, size in sizes.items():
        yield Ratio(f"{WORLD}: {name}", size / 1e6, 3, unit=" MB")
    for key, text in (("cpu", "CPU time"), ("peak_memory", "peak memory")):
        with_own, without = (_median(processes[name], key) for name in (BUILD_OWN, BUILD))
        yield Ratio(f"{BUILD_OWN} / none: {text}", with_own / (without or 1), None, unit="x")
    for kind, times in result["times"].items():
        yield from lookups.ratios(kind, times)


@click.command("own", help="Measure own columns, overlays and slices at the scale of cities.")
@click.option(
    "--rows",
    type=click.IntRange(2000),
    default=6_050_000,
    show_default=True,
    help="Rows below sites and slices; by default 3.7 million intervals.",
)
@click.option(
    "--own-rows",
    type=click.IntRange(2000),
    default=8_100_000,
    show_default=True,
    help="Rows with ten own columns; by default 5 million intervals.",
)
@click.option("--addresses", "count", type=click.IntRange(1), default=200_000, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=9, show_default=True)
@reports.outputs()
def command(*, rows: int, own_rows: int, count: int, rounds: int, outputs: reports.Outputs) -> None:
    """Measure and print."""
    result = measure_own(rows, own_rows, count, rounds)
    outputs.tell(lines(result), result)
