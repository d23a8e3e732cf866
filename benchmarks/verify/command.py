"""``verify``: seconds on one core, plain and deep, by the size of the dataset."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports
from benchmarks.harness.tables import Number, Table


def measure_verify(dataset: Path, rounds: int) -> dict[str, Any]:
    """Return the seconds of each round, after one that is not counted."""
    times: dict[str, list[float]] = {"plain": [], "deep": []}
    with measure.one_core() as pinned:
        for at in range(rounds + 1):
            for name, seconds in times.items():
                began = time.perf_counter()
                geolookup.verify(dataset, deep=name == "deep")
                if at:
                    seconds.append(time.perf_counter() - began)
    with geolookup.open(dataset) as engine:
        counts = engine.metadata.counts
    return {
        "unit": "s",
        "rows": times,
        "bytes": sum(file.stat().st_size for file in dataset.iterdir()),
        "intervals": counts["ipv4_intervals"] + counts["ipv6_intervals"],
        "machine": measure.facts(pinned=pinned),
    }


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the table for a terminal."""
    head = f"{result['bytes'] / 1e6:,.0f} MB, {result['intervals']:,} intervals"
    rows = [
        (name, Number(statistics.median(times), ".2f", " s"))
        for name, times in result["rows"].items()
    ]
    yield Table("verify", (head, ""), rows)


@click.command("verify", help="Time the verification of a dataset, plain and deep.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@reports.outputs()
def command(scale: str, rounds: int, outputs: reports.Outputs) -> None:
    """Measure and print."""
    result = measure_verify(cache.dataset(scale), rounds)
    outputs.tell(lines(result), result)
