"""Opening and first answer: the bundled dataset of the whole world beside one of a few networks.

Opening maps files and reads none of them: the size of a dataset must not matter. Commands are timed
as whole processes, beside a bare interpreter and the import of another reader.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import click

import geolookup
from benchmarks.harness import measure, reports
from benchmarks.harness.processes import ROOT, Result
from benchmarks.harness.start import BARE, Program, measure_starts
from benchmarks.harness.tables import Cell, Number, Ratio, Table, ratio_table
from geolookup.store.paths import BUNDLED

_RECIPE = ROOT / "sample_data" / "small.toml"
_ADDRESS = "8.8.8.8"
_FIRST = "import sys, geolookup\ngeolookup.open(sys.argv[1]).lookup_json(sys.argv[2])"
_COMMAND = "from geolookup.cli import main\nmain()"
#: Commands by their argument, and the most milliseconds wanted.
_COMMANDS = {"8.8.8.8": 80.0, "--help": 100.0}
_PEER = "import maxminddb"


def measure_opening(datasets: Mapping[str, Path], rounds: int, starts: int) -> Result:
    """Return by dataset its bytes and microseconds of ``open``; milliseconds of whole processes."""
    programs = {name: Program(_FIRST, (str(path), _ADDRESS)) for name, path in datasets.items()}
    programs |= {argument: Program(_COMMAND, (argument,)) for argument in _COMMANDS}
    if find_spec("maxminddb"):
        programs[_PEER] = Program(_PEER)
    return {
        "bytes": {
            name: sum(file.stat().st_size for file in path.iterdir())
            for name, path in datasets.items()
        },
        "open_us": _openings(datasets, rounds),
        "starts": measure_starts(programs, starts),
    }


def _openings(datasets: Mapping[str, Path], rounds: int) -> dict[str, float]:
    """Return the median microseconds of ``open``; the datasets take turns."""
    times: dict[str, list[float]] = {name: [] for name in datasets}
    with measure.on_cores(1):
        for _ in range(rounds):
            for name, path in datasets.items():
                began = time.perf_counter()
                engine = geolookup.open(path)
                times[name].append((time.perf_counter() - began) * 1e6)
                engine.close()
    return {name: statistics.median(rounds_of) for name, rounds_of in times.items()}


def lines(result: Result) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    starts = result["starts"]
    body: list[tuple[Cell, ...]] = [
        (name, Number(size), Number(result["open_us"][name]), Number(starts[name], ",.1f"))
        for name, size in result["bytes"].items()
    ]
    body += [
        (f"({name})", "-", "-", Number(starts[name], ",.1f"))
        for name in (BARE, _PEER)
        if name in starts
    ]
    yield Table(("dataset", "bytes", "open, us", "process to first answer, ms"), body)
    yield ratio_table(
        "commands",
        [
            Ratio(f"geolookup {name}, a whole process", starts[name], most, unit=" ms")
            for name, most in _COMMANDS.items()
        ],
    )


@click.command("opening", help="Time opening, the first answer and the start of commands.")
@click.option("--rounds", type=click.IntRange(1), default=200, show_default=True)
@click.option("--starts", type=click.IntRange(1), default=41, show_default=True)
@reports.outputs
def command(rounds: int, starts: int, outputs: reports.Outputs) -> None:
    """Measure and print."""
    machine = measure.facts()
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "small")
        geolookup.build(_RECIPE, small)
        result = measure_opening({"bundled": Path(BUNDLED), "small": small}, rounds, starts)
    outputs.tell(lines(result), {**result, "machine": machine})
