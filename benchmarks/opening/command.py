"""Opening and first answer: the bundled dataset of the whole world beside one of a few networks.

Opening maps files and reads none of them: the size of a dataset must not matter. Two commands are
timed as whole processes, beside a bare interpreter and the import of another reader.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from geolookup_builder.calls import build

import geolookup
from benchmarks.harness import measure, reports
from benchmarks.harness.processes import ROOT
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table
from benchmarks.peers import start
from geolookup.store.paths import BUNDLED

_RECIPE = ROOT / "sample_data" / "small.toml"
_ADDRESS = "8.8.8.8"
_FIRST = "import sys, geolookup\ngeolookup.open(sys.argv[1]).lookup_json(sys.argv[2])"
_COMMAND = """
from geolookup.cli import main
try:
    main()
except SystemExit:
    pass
"""
#: Commands by their arguments, and the most milliseconds that each may take.
COMMANDS = {"8.8.8.8": 80.0, "--help": 100.0}
_PEER = "import maxminddb"


@click.command("opening", help="Time opening, the first answer and the start of commands.")
@click.option("--rounds", type=click.IntRange(1), default=200, show_default=True)
@click.option("--starts", type=click.IntRange(1), default=41, show_default=True)
@reports.outputs()
def command(rounds: int, starts: int, outputs: reports.Outputs) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "small")
        build(_RECIPE, small)
        result = measure_opening({"bundled": Path(BUNDLED), "small": small}, rounds, starts)
    outputs.tell(lines(result), result)


def measure_opening(datasets: Mapping[str, Path], rounds: int, starts: int) -> dict[str, Any]:
    """Return by dataset its bytes, microseconds of ``open``, milliseconds of a whole process."""
    programs = {start.BARE: start.Program("pass")}
    if find_spec("maxminddb"):
        programs[_PEER] = start.Program(_PEER)
    for name, path in datasets.items():
        programs[name] = start.Program(_FIRST, (str(path), _ADDRESS))
    for argument in COMMANDS:
        programs[argument] = start.Program(_COMMAND, (argument,))
    with measure.one_core() as pinned:
        open_times = _openings(datasets, rounds)
    start_times = start.measure_starts(programs, starts)
    results = {
        name: {
            "bytes": sum(file.stat().st_size for file in path.iterdir()),
            "open_us": open_times[name],
            "first_answer_ms": start_times[name]["median_ms"],
        }
        for name, path in datasets.items()
    }
    return {
        "datasets": results,
        "bare_interpreter_ms": start_times[start.BARE]["median_ms"],
        "peer_ms": start_times.get(_PEER, {}).get("median_ms"),
        "commands_ms": {name: start_times[name]["median_ms"] for name in COMMANDS},
        "kernel": geolookup.Engine.kernel,
        "machine": measure.facts(pinned=pinned),
    }


def _openings(datasets: Mapping[str, Path], rounds: int) -> dict[str, float]:
    """Return the median microseconds of ``open``; the datasets take turns."""
    times: dict[str, list[float]] = {name: [] for name in datasets}
    for _ in range(rounds):
        for name, path in datasets.items():
            began = time.perf_counter()
            engine = geolookup.open(path)
            times[name].append((time.perf_counter() - began) * 1e6)
            engine.close()
    return {name: statistics.median(rounds_of) for name, rounds_of in times.items()}


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the table for a terminal."""
    heads = ("dataset", "bytes", "open, us", "process to first answer, ms")
    body: list[tuple[Cell, ...]] = [
        (
            name,
            Number(row["bytes"]),
            Number(row["open_us"]),
            Number(row["first_answer_ms"], ",.1f"),
        )
        for name, row in result["datasets"].items()
    ]
    bare = Number(result["bare_interpreter_ms"], ",.1f")
    body.append(("(bare interpreter)", "", "", bare))
    if result["peer_ms"] is not None:
        body.append((f"({_PEER})", "", "", Number(result["peer_ms"], ",.1f")))
    yield Table("opening", heads, body, ours=tuple(result["datasets"]))
    commands = [
        Ratio(f"geolookup {name}, a whole process", result["commands_ms"][name], most, unit=" ms")
        for name, most in COMMANDS.items()
    ]
    yield ratio_table("opening-commands", "commands", commands)
