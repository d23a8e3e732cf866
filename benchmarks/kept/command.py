"""Answers that are all kept in a list: nanoseconds and bytes for each address.

Strategy: each way gets a new process in each round, because the memory of one way must not serve
another. The garbage collector of Python visits kept dicts again and again; ``many`` drops the
answers instead.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports
from benchmarks.harness.processes import result_of
from benchmarks.harness.tables import Number, Table
from benchmarks.kept import worker

ADDRESSES, ROUNDS = 1_000_000, 3


def measure_kept(dataset: Path, count: int, rounds: int) -> dict[str, Any]:
    """Return the measurements of every way, round by round."""
    results: dict[str, list[dict[str, float]]] = {name: [] for name in worker.NAMES}
    for _ in range(rounds):
        for name, row in results.items():
            row.append(result_of("benchmarks.kept.worker", name, dataset, count))
    return {
        "addresses": count,
        "rounds": rounds,
        "results": results,
        "kernel": geolookup.Engine.kernel,
        "machine": measure.facts(pinned=True),
    }


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the table for a terminal."""
    head = (f"{result['addresses']:,} answers kept", "ns per address", "bytes per address")
    body = [
        (name, _median(row, "ns"), _median(row, "bytes")) for name, row in result["results"].items()
    ]
    yield Table("kept", head, body, ours=worker.NAMES)
    yield f"median of {result['rounds']} rounds, each in a new process"


def _median(row: list[dict[str, float]], key: str) -> Number:
    return Number(statistics.median(measured[key] for measured in row))


@click.command("kept", help="Time answers that are all kept in a list, and measure their memory.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--addresses", "count", type=click.IntRange(1), default=ADDRESSES, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True)
@reports.outputs()
def command(scale: str, count: int, rounds: int, outputs: reports.Outputs) -> None:
    """Measure and print."""
    result = measure_kept(cache.dataset(scale), count, rounds)
    outputs.tell(lines(result), result)
