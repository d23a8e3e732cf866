"""``verify``: seconds on one core, plain and deep, by the size of the dataset."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports


def measure_verify(dataset: Path, rounds: int) -> dict[str, Any]:
    """Return the seconds of each round, after one that is not counted."""
    times: dict[str, list[float]] = {"plain": [], "deep": []}
    with measure.one_core() as pinned:
        for at in range(rounds + 1):
            for name, found in times.items():
                began = time.perf_counter()
                geolookup.verify(dataset, deep=name == "deep")
                if at:
                    found.append(time.perf_counter() - began)
    with geolookup.open(dataset) as engine:
        counts = engine.metadata.counts
    return {
        "unit": "s",
        "rows": times,
        "bytes": sum(each.stat().st_size for each in dataset.iterdir()),
        "intervals": counts["ipv4_intervals"] + counts["ipv6_intervals"],
        "machine": measure.facts(pinned=pinned),
    }


def lines(result: dict[str, Any]) -> str:
    """Return the table for a terminal."""
    head = f"{result['bytes'] / 1e6:,.0f} MB, {result['intervals']:,} intervals"
    rows = [(name, f"{statistics.median(each):.2f} s") for name, each in result["rows"].items()]
    return reports.table((head, ""), rows)


@click.command("verify", help="Time the verification of a dataset, plain and deep.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option(
    "--json", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write it here too."
)
def command(scale: str, rounds: int, target: Path | None) -> None:
    """Measure and print."""
    result = measure_verify(cache.dataset(scale), rounds)
    reports.tell(lines(result), result, target)
