"""``verify``: seconds on one core, plain and deep, by the size of the dataset.

Two floors: every file is read, from the disk and from the page cache, and read and digested.
"""

from __future__ import annotations

import hashlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table

_CHUNK = 1 << 20
#: The digests of files are read; so are the columns, for the generation id.
_GOAL = 3


def measure_verify(dataset: Path, rounds: int) -> dict[str, Any]:
    """Return the seconds of each round, after one that is not counted."""
    steps: dict[str, Callable[[Path], object]] = {
        "plain": geolookup.verify,
        "deep": partial(geolookup.verify, deep=True),
        "floor: read from the disk": _read_from_disk,
        "floor: read": _read,
        "floor: read and SHA-256": _digest,
    }
    times: dict[str, list[float]] = {name: [] for name in steps}
    with measure.one_core() as pinned:
        for at in range(rounds + 1):
            for name, step in steps.items():
                began = time.perf_counter()
                step(dataset)
                if at:
                    times[name].append(time.perf_counter() - began)
    with geolookup.open(dataset) as engine:
        counts = engine.metadata.counts
    return {
        "unit": "s",
        "rows": times,
        "bytes": sum(file.stat().st_size for file in dataset.iterdir()),
        "intervals": counts["ipv4_intervals"] + counts["ipv6_intervals"],
        "machine": measure.facts(pinned=pinned),
    }


def _read(dataset: Path) -> None:
    for path in dataset.iterdir():
        with path.open("rb", buffering=0) as file:
            while file.read(_CHUNK):
                pass


def _read_from_disk(dataset: Path) -> None:
    """Read every file after the system has released its pages, where it can."""
    for path in dataset.iterdir():
        with path.open("rb") as file:
            if sys.platform == "linux":
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    _read(dataset)


def _digest(dataset: Path) -> None:
    for path in dataset.iterdir():
        with path.open("rb", buffering=0) as file:
            hashlib.file_digest(file, "sha256")


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the table for a terminal."""
    head = f"{result['bytes'] / 1e6:,.0f} MB, {result['intervals']:,} intervals"
    rows = [
        (name, Number(statistics.median(times), ".2f", " s"))
        for name, times in result["rows"].items()
    ]
    yield Table("verify", (head, ""), rows)
    plain, *_, digest = (statistics.median(times) for times in result["rows"].values())
    ratio = Ratio("plain / read and SHA-256", plain / digest, _GOAL, unit="x")
    yield ratio_table("verify-bounds", "verify", [ratio])


@click.command("verify", help="Time the verification of a dataset, plain and deep.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@reports.outputs()
def command(scale: str, rounds: int, outputs: reports.Outputs) -> None:
    """Measure and print."""
    result = measure_verify(cache.dataset(scale), rounds)
    outputs.tell(lines(result), result)
