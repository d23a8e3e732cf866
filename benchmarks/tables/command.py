"""Tables of addresses: geolookup beside other ways to enrich one, in turn, in one run.

Strategy: as ``peers``: a process for each contender, on the cores it is allowed,
run once before it is timed; then the rounds of all take turns and the medians
count. Each address is looked up once: no cache of answers helps. The
answers of all are compared first.
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
from benchmarks.harness.processes import Child, run_children
from benchmarks.harness.ratios import ratio_table
from benchmarks.harness.tables import Number, Table
from benchmarks.peers.check import UnequalError
from benchmarks.peers.libraries import Files
from benchmarks.tables import addresses
from benchmarks.tables.answers import compare
from benchmarks.tables.contenders import CONTENDERS, OWN, Contender
from benchmarks.tables.ratios import ratios
from benchmarks.tables.ways import WAYS, run
from benchmarks.tables.worker import COMPARED

ROWS, ROUNDS = (1_000_000, 10_000_000), 3


def _start_children(
    contenders: Sequence[Contender], files: Files, lists: dict[int, list[Path]]
) -> Iterator[Child]:
    paths = (files.dataset, files.mmdb)
    return (
        Child("benchmarks.tables.worker", contender.key, *paths, *lists[contender.family])
        for contender in contenders
    )


def _time_rounds(children: Sequence[Child], rounds: int) -> list[dict[str, Any]]:
    """Return the rounds of each child in ns a row, or why it takes no part; they take turns."""
    results: list[list[float]] = [[] for _ in children]
    for _ in range(rounds):
        for child, times in zip(children, results, strict=True):
            if "ns" in (answer := child.ask()):
                times.append(answer["ns"])
    return [
        child.facts if "refused" in child.facts else {**child.facts, "rounds": times}
        for child, times in zip(children, results, strict=True)
    ]


def measure_tables(
    files: Files, contenders: Sequence[Contender], rows: int, rounds: int, ways: Sequence[str]
) -> dict[str, Any]:
    """Return the rounds of the contenders, the other ways, and their conditions."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    with tempfile.TemporaryDirectory() as folder:
        lists = {
            family: [Path(folder, f"ipv{family}-{part}.arrow") for part in range(rounds + 1)]
            for family in (4, 6)
        }
        for family in {contender.family for contender in contenders} | {4}:
            paths = lists[family]
            addresses.write(files.dataset, paths, family, rows)
        with run_children(_start_children(contenders, files, lists)) as children:
            comparisons = _compare(contenders, children)
            results = _time_rounds(children, rounds)
        way_results = dict(_ways(ways, files, lists[4][0], rows))
    return {
        "unit": "ns per row",
        "rows": {contender.key: row for contender, row in zip(contenders, results, strict=True)},
        "ways": way_results,
        "compared": comparisons,
        "addresses": rows,
        "rounds": rounds,
        "load": load,
        "machine": measure.facts(pinned=hasattr(os, "sched_setaffinity")),
    }


def _compare(contenders: Sequence[Contender], children: Sequence[Child]) -> int:
    """Compare the answers of those that take part, by family; UnequalError if they differ."""
    answers: dict[int, dict[str, Any]] = {4: {}, 6: {}}
    for contender, child in zip(contenders, children, strict=True):
        if "answers" in child.facts:
            answers[contender.family][contender.key] = child.facts.pop("answers")
    return sum(compare(family) for family in answers.values() if family)


def _ways(ways: Sequence[str], files: Files, column: Path, rows: int) -> Iterator[tuple[str, Any]]:
    for way in ways:
        if way == "memory":
            for count in (rows // 4, rows):
                name = "memory" if count == rows else "memory of a quarter"
                yield name, run(way, files.dataset, column, count)
        else:
            yield way, run(way, files.dataset, column)


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the parts of the output."""
    body = [
        (name, Number(statistics.median(row["rounds"]), ",.1f"))
        for name, row in result["rows"].items()
        if row.get("rounds")
    ]
    count = result["addresses"]
    header = ("ns per row, median of rounds", "")
    yield Table(f"tables-{count}", header, body, unit="ns", ours=OWN)
    results = {**result["rows"], **result["ways"]}
    for name, row in results.items():
        if "refused" in row:
            yield f"{name} did not take part: {row['refused']}"
    result_ratios = ratios(result["rows"], result["ways"], count)
    yield ratio_table(f"tables-{count}-ratios", "ratios", result_ratios)
    yield (
        f"{result['rounds']} rounds of {count:,} addresses, each looked up once;"
        f" {result['compared']} columns of up to {COMPARED:,} answers compared, all equal"
    )


@click.command("tables", help="Enrich tables of addresses, beside other ways to do it.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option(
    "--rows",
    "counts",
    type=click.IntRange(8),
    multiple=True,
    default=ROWS,
    show_default=True,
    help="Rows of a table; may repeat. The ways run with the last.",
)
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
@reports.outputs("tables-{scale}")
def command(
    scale: str,
    counts: tuple[int, ...],
    rounds: int,
    only: tuple[str, ...],
    ways: tuple[str, ...],
    outputs: reports.Outputs,
) -> None:
    """Make dataset and MMDB (once), time everything, print the tables, write the results."""
    selection = [c for c in CONTENDERS if not only or any(part in c.key for part in only)]
    try:
        files = Files(cache.dataset(scale), cache.mmdb(scale))
        results = [
            measure_tables(files, selection, rows, rounds, ways if at == len(counts) - 1 else ())
            for at, rows in enumerate(counts)
        ]
    except (UnequalError, ImportError) as error:
        hint = "; 'pip install .[bench]' installs the missing packages"
        raise click.ClickException(f"{error}{hint * isinstance(error, ImportError)}") from error
    parts = [part for result in results for part in lines(result)]
    conditions = {key: results[0][key] for key in ("load", "machine")}
    outputs.tell(parts, {"scale": scale, "tables": results, **conditions})
