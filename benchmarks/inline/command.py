"""Text with addresses: annotated, filtered, and searched by tools that look nothing up.

Strategy: each contender is a program that reads a file and writes to nowhere, on one core. Its CPU
time counts, from its start to its end. Contenders take turns.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table
from benchmarks.inline.texts import TEXTS, write

ANNOTATE, GREP = "geolookup annotate", "geolookup grep"
SCRIPT = "regular expression + maxminddb (C)"
_LOG = next(iter(TEXTS))
#: Megabytes a second that annotating a log must reach.
WANTED = 150.0
_PATTERN = r"\b([0-9]{1,3}\.){3}[0-9]{1,3}\b"


def contenders(dataset: Path, mmdb: Path) -> dict[str, list[str]]:
    """Return the programs that are there, by name; each takes the file as its last argument."""
    own = [sys.executable, "-m", "geolookup"]
    options = ["--no-age-notice", "--dataset", str(dataset)]
    programs = {
        ANNOTATE: [*own, "annotate", *options],
        GREP: [*own, "grep", "--where", "location.country_code=DE", *options],
        SCRIPT: [sys.executable, "-m", "benchmarks.inline.script", str(mmdb)],
    }
    if shutil.which("rg"):  # unlike it, grep reads no more when nobody reads its output
        programs["ripgrep, IPv4, no lookup"] = ["rg", "-c", _PATTERN]
    return programs


def measure_inline(
    programs: Mapping[str, list[str]], dataset: Path, megabytes: float, rounds: int
) -> dict[str, Any]:
    """Return the CPU seconds of each program and text, round by round."""
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, measure.one_core() as pinned:
        for text in TEXTS:
            path = Path(folder, "text")
            write(text, dataset, megabytes, path)
            rows: dict[str, list[float]] = {name: [] for name in programs}
            for _ in range(rounds):
                for name, program in programs.items():
                    rows[name].append(_seconds([*program, str(path)]))
            results[text] = {"size": path.stat().st_size, "rows": rows}
    return {"rounds": rounds, "results": results, "machine": measure.facts(pinned=pinned)}


def _seconds(program: list[str]) -> float:
    """Return the CPU seconds of a program."""
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise click.ClickException(f"{program[0]} ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    texts = result["results"]
    names = next(iter(texts.values()))["rows"]
    rows = [(name, *(Number(_speed(run, name)) for run in texts.values())) for name in names]
    header = ("MB of text per CPU second", *texts)
    yield Table("inline-speed", header, rows, unit="MB/s", ours="geolookup")
    yield ratio_table("inline-ratios", "speed", ratios(result))
    yield f"median of {result['rounds']} rounds"


def ratios(result: dict[str, Any]) -> list[Ratio]:
    """Return the speed of annotating a log, and how many times as long a script takes."""
    log = result["results"][_LOG]
    own = _speed(log, ANNOTATE)
    return [
        Ratio(f"{ANNOTATE}, {_LOG}", own, WANTED, least=True, unit=" MB/s"),
        Ratio(f"{SCRIPT} / {ANNOTATE}, {_LOG}", own / _speed(log, SCRIPT), None, unit="x"),
    ]


def _speed(text: dict[str, Any], name: str) -> float:
    """Return megabytes per CPU second."""
    return float(text["size"] / 1e6 / statistics.median(text["rows"][name]))


@click.command("inline", help="Time annotating and filtering of text, beside a script and grep.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--megabytes", type=click.FloatRange(0.01), default=200, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@reports.outputs("inline-{scale}")
def command(scale: str, megabytes: float, rounds: int, outputs: reports.Outputs) -> None:
    """Make dataset, MMDB and texts, time everything, print the table, write the results."""
    dataset = cache.dataset(scale)
    result = measure_inline(contenders(dataset, cache.mmdb(scale)), dataset, megabytes, rounds)
    outputs.tell(lines(result), {"scale": scale, **result})
