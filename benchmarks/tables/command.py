"""Tables of addresses beside other ways to enrich one, and whole files beside Arrow itself.

Each address of a table is looked up once: no cache of answers helps. All contenders of a table have
as many threads.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.contenders.answers import UnequalError
from benchmarks.contenders.opening import Files
from benchmarks.contenders.table import (
    COLUMN,
    CONTENDERS,
    OWN_CITY,
    OWN_ONE,
    POLARS_CITY,
    POLARS_ONE,
)
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports, turns, workload
from benchmarks.harness.processes import Result
from benchmarks.harness.tables import Number, Ratio, Table, ratio_table
from benchmarks.harness.workload import UNIFORM
from benchmarks.tables import whole_files

_NAMES = tuple(contender.name for contender in CONTENDERS if contender.kind == COLUMN)
_FAMILIES = {"IPv4": 4, "IPv6": 6}
_THREADS = {"one thread": 1, "two threads": 2}
#: The ns of a row wanted.
_NS = {OWN_ONE: 30.0, OWN_CITY: 150.0}


def _lists(files: Files, folder: Path, rows: int, rounds: int) -> turns.Lists:
    """Write a table for the first pass and for each round; no address is there twice."""
    lists = {}
    for name, family in _FAMILIES.items():
        intervals = workload.read(files.dataset, family)
        texts = intervals.addresses(UNIFORM, rows * (rounds + 1), distinct=True)
        lists[name] = (
            family,
            [
                workload.write_table(folder / f"{name}-{at}", texts.slice(at * rows, rows))
                for at in range(rounds + 1)
            ],
        )
    return lists


def measure_tables(scale: str, rows: int, rounds: int, only: tuple[str, ...]) -> Result:
    """Return the rounds of the contenders by their threads, and of whole files."""
    files = cache.files(scale)
    results: Result = {}
    with tempfile.TemporaryDirectory() as folder:
        lists = _lists(files, Path(folder), rows, rounds)
        contenders = turns.selected(_NAMES, only)
        for name, threads in _THREADS.items():
            results[name] = turns.take_turns(contenders, files, lists, rounds, threads)
        column = lists["IPv4"][1][0]
        in_files = whole_files.measure_files(files.dataset, column, rounds)
    return {"threads": results, "files": in_files, "rows": rows, "rounds": rounds}


def lines(result: Result) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    for name, (rows, _) in result["threads"].items():
        yield turns.times_table(f"ns per row, {name}", rows, list(_FAMILIES), ",.1f")
        yield from turns.refusals(rows)
    rows = [
        (name, *(Number(run[column], ",.2f") for column in ("own", "peer", "per_second")))
        for name, run in result["files"].items()
    ]
    yield Table(("whole files", "enrich, s", "Arrow itself, s", "M rows/s"), rows)
    yield ratio_table("tables", _ratios(result))
    equal = sum(count for _, count in result["threads"].values())
    yield (
        f"{result['rounds']} rounds of {result['rows']:,} addresses, each looked up once;"
        f" {equal} columns of up to {turns.COMPARED:,} answers compared, all equal"
    )


def _ratios(result: Result) -> Iterator[Ratio]:
    one, two = (rows for rows, _ in result["threads"].values())
    for name, goal in _NS.items():
        if rounds := one.get(name, {}).get("rounds", {}).get("IPv4"):
            yield Ratio(f"{name}, IPv4", statistics.median(rounds), goal, unit=" ns")
    yield from turns.ratio(one, POLARS_ONE, OWN_ONE, "IPv4", 8.0, least=True)
    yield from turns.ratio(one, POLARS_CITY, OWN_CITY, "IPv4")
    for lesser in (OWN_ONE, OWN_CITY):
        names = (f"{lesser}, one thread", f"{lesser}, two threads")
        rows = {names[0]: one.get(lesser, {}), names[1]: two.get(lesser, {})}
        yield from turns.ratio(rows, *names, "IPv4", 1.8, least=True)
    yield from itertools.chain(
        turns.ratio(one, OWN_CITY, OWN_ONE, "IPv4", 1.8),
        turns.ratio(one, OWN_ONE, OWN_ONE, ("IPv6", "IPv4"), 1.5),
    )
    for name, run in result["files"].items():
        if run["goal"] is not None:
            yield Ratio(f"enrich / Arrow itself: {name}", run["ratio"], run["goal"])


@click.command("tables", help="Enrich tables and files of addresses, beside other ways to do it.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--rows", type=click.IntRange(8), default=1_000_000, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--only", multiple=True, help="Contenders whose name contains this; may repeat.")
@reports.outputs
def command(
    scale: str, rows: int, rounds: int, only: tuple[str, ...], outputs: reports.Outputs
) -> None:
    """Make dataset and MMDB (once), time everything, print the tables."""
    machine = measure.facts()
    try:
        result = measure_tables(scale, rows, rounds, only)
    except UnequalError as error:
        raise click.ClickException(str(error)) from None
    outputs.tell(lines(result), {**result, "machine": machine})
