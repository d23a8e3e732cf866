"""Tables of addresses: geolookup beside other ways to enrich one, in turn, in one run.

Strategy: as ``peers``: a process for each contender, on the cores it is allowed,
run once before it is timed; then the rounds of all take turns and the medians
count. The addresses are distinct, so that no cache of answers helps.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks import cache, measure, tables_files, tables_workload
from benchmarks.peers_libraries import Files
from benchmarks.shape import SCALES
from benchmarks.tables_contenders import CONTENDERS, Contender
from benchmarks.tables_ratios import ratios

ROWS, ROUNDS = 10_000_000, 3
RESULTS = cache.ROOT / "results"


class Process:
    """A contender in its process."""

    def __init__(self, contender: Contender, files: Files, addresses: Path) -> None:
        arguments = [contender.key, files.dataset, files.mmdb, addresses]
        self.contender = contender
        self._child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.tables_worker", *map(str, arguments)],
            cwd=cache.ROOT.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        #: Its rounds in ns a row, or why it takes no part.
        self.row: dict[str, Any] = self._answer()
        if "refused" not in self.row:
            self.row["rounds"] = []

    def round(self) -> None:
        """Time it once."""
        if "rounds" in self.row:
            with contextlib.suppress(BrokenPipeError):  # the answer says so
                print(file=self._child.stdin, flush=True)
            answer = self._answer()
            if "ns" in answer:
                self.row["rounds"].append(answer["ns"])
            else:
                self.row = answer

    def _answer(self) -> dict[str, Any]:
        line = self._child.stdout.readline() if self._child.stdout else ""
        found: dict[str, Any] = json.loads(line) if line else {}
        return found or {"refused": f"its process ended with status {self._child.wait()}"}

    def close(self) -> None:
        """End it."""
        self._child.communicate()


@contextlib.contextmanager
def _running(
    chosen: Sequence[Contender], files: Files, lists: dict[int, Path]
) -> Iterator[list[Process]]:
    found: list[Process] = []
    try:
        found.extend(Process(each, files, lists[each.family]) for each in chosen)
        yield found
    finally:
        for each in found:
            each.close()


def measure_tables(
    files: Files, chosen: Sequence[Contender], rows: int, rounds: int, ways: Sequence[str]
) -> dict[str, Any]:
    """Return the rounds of the contenders, the other ways, and what they depend on."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    with tempfile.TemporaryDirectory() as folder:
        lists = {family: Path(folder, f"ipv{family}.arrow") for family in (4, 6)}
        for family, path in lists.items():
            tables_workload.write(files.dataset, path, family, rows)
        with _running(chosen, files, lists) as processes:
            for _ in range(rounds):
                for each in processes:
                    each.round()
        found = dict(_ways(ways, files, lists[4], rows))
    return {
        "unit": "ns per row",
        "rows": {each.contender.key: each.row for each in processes},
        "ways": found,
        "addresses": rows,
        "rounds": rounds,
        "load": load,
        "machine": measure.facts(pinned=hasattr(os, "sched_setaffinity")),
    }


def _ways(
    ways: Sequence[str], files: Files, addresses: Path, rows: int
) -> Iterator[tuple[str, Any]]:
    for way in ways:
        if way == "memory":
            for count in (rows // 4, rows):
                name = "memory" if count == rows else "memory of a quarter"
                yield name, tables_files.run(way, files.dataset, addresses, count)
        else:
            yield way, tables_files.run(way, files.dataset, addresses)


def lines(result: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of what is printed."""
    body = [
        (name, f"{statistics.median(row['rounds']):,.1f}")
        for name, row in result["rows"].items()
        if row.get("rounds")
    ]
    yield measure.table(("ns per row, median of rounds", ""), body)
    refused = {**result["rows"], **result["ways"]}
    for name, row in refused.items():
        if "refused" in row:
            yield f"{name} did not take part: {row['refused']}"
    yield measure.table(
        ("ratios", "is", "wanted", ""),
        [
            (each.text, f"{each.value:,.2f}{each.unit}", each.bound, each.verdict)
            for each in ratios(result["rows"], result["ways"])
        ],
    )
    yield (
        f"{result['rounds']} rounds of {result['addresses']:,} distinct addresses;"
        f" {measure.machine_line(result['machine'])}; load before: {result['load']:.1f}"
    )


@click.command("tables", help="Enrich tables of addresses, beside other ways to do it.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--rows", type=click.IntRange(8), default=ROWS, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True)
@click.option("--only", multiple=True, help="Contenders whose name contains this; may repeat.")
@click.option(
    "--way",
    "ways",
    type=click.Choice(list(tables_files.WAYS)),
    multiple=True,
    default=tuple(tables_files.WAYS),
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
    target = target or RESULTS / f"tables-{scale}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(measure.as_json(result) + "\n", encoding="utf-8")
