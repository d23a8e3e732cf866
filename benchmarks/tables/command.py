"""Tables of addresses: geolookup beside other ways to enrich one, in turn, in one run.

Strategy: as ``peers``: a process for each contender, on the cores it is allowed,
run once before it is timed; then the rounds of all take turns and the medians
count. The addresses are distinct, so that no cache of answers helps.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports
from benchmarks.harness.processes import Child, running
from benchmarks.peers.libraries import Files
from benchmarks.tables import addresses
from benchmarks.tables.contenders import CONTENDERS, Contender
from benchmarks.tables.ratios import ratios
from benchmarks.tables.ways import WAYS, run

ROWS, ROUNDS = 10_000_000, 3


def _started(chosen: Sequence[Contender], files: Files, lists: dict[int, Path]) -> Iterator[Child]:
    named = (files.dataset, files.mmdb)
    return (
        Child("benchmarks.tables.worker", each.key, *named, lists[each.family]) for each in chosen
    )


def _timed(children: Sequence[Child], rounds: int) -> list[dict[str, Any]]:
    """Return the rounds of each child in ns a row, or why it takes no part; they take turns."""
    timed: list[list[float]] = [[] for _ in children]
    for _ in range(rounds):
        for each, found in zip(children, timed, strict=True):
            if "ns" in (answer := each.ask()):
                found.append(answer["ns"])
    return [
        each.facts if "refused" in each.facts else {**each.facts, "rounds": found}
        for each, found in zip(children, timed, strict=True)
    ]


def measure_tables(
    files: Files, chosen: Sequence[Contender], rows: int, rounds: int, ways: Sequence[str]
) -> dict[str, Any]:
    """Return the rounds of the contenders, the other ways, and what they depend on."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    with tempfile.TemporaryDirectory() as folder:
        lists = {family: Path(folder, f"ipv{family}.arrow") for family in (4, 6)}
        for family, path in lists.items():
            addresses.write(files.dataset, path, family, rows)
        with running(_started(chosen, files, lists)) as children:
            timed = _timed(children, rounds)
        found = dict(_ways(ways, files, lists[4], rows))
    return {
        "unit": "ns per row",
        "rows": {each.key: row for each, row in zip(chosen, timed, strict=True)},
        "ways": found,
        "addresses": rows,
        "rounds": rounds,
        "load": load,
        "machine": measure.facts(pinned=hasattr(os, "sched_setaffinity")),
    }


def _ways(ways: Sequence[str], files: Files, column: Path, rows: int) -> Iterator[tuple[str, Any]]:
    for way in ways:
        if way == "memory":
            for count in (rows // 4, rows):
                name = "memory" if count == rows else "memory of a quarter"
                yield name, run(way, files.dataset, column, count)
        else:
            yield way, run(way, files.dataset, column)


def lines(result: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of what is printed."""
    body = [
        (name, f"{statistics.median(row['rounds']):,.1f}")
        for name, row in result["rows"].items()
        if row.get("rounds")
    ]
    yield reports.table(("ns per row, median of rounds", ""), body)
    refused = {**result["rows"], **result["ways"]}
    for name, row in refused.items():
        if "refused" in row:
            yield f"{name} did not take part: {row['refused']}"
    yield reports.ratio_table("ratios", ratios(result["rows"], result["ways"]))
    yield (
        f"{result['rounds']} rounds of {result['addresses']:,} distinct addresses;"
        f" {reports.machine_line(result['machine'])}; load before: {result['load']:.1f}"
    )


@click.command("tables", help="Enrich tables of addresses, beside other ways to do it.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--rows", type=click.IntRange(8), default=ROWS, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True)
@click.option("--only", multiple=True, help="Contenders whose name contains this; may repeat.")
@click.option(
    "--way",
    "ways",
    type=click.Choice(list(WAYS)),
    multiple=True,
    default=tuple(WAYS),
    show_default=True,
)
@click.option(
    "--json",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write here, not to benchmarks/results.",
)
def command(
    scale: str,
    rows: int,
    rounds: int,
    only: tuple[str, ...],
    ways: tuple[str, ...],
    target: Path | None,
) -> None:
    """Make dataset and MMDB (once), time everything, print the tables, write the results."""
    try:
        files = Files(cache.dataset(scale), cache.mmdb(scale))
    except ImportError as error:
        raise click.ClickException(
            f"{error}; 'pip install .[bench]' brings what is missing"
        ) from error
    chosen = [each for each in CONTENDERS if not only or any(part in each.key for part in only)]
    result = {"scale": scale, **measure_tables(files, chosen, rows, rounds, ways)}
    print("\n\n".join(lines(result)))
    target = target or reports.RESULTS / f"tables-{scale}.json"
    reports.write(result, target)
