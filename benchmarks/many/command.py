"""Many addresses at once: nanoseconds an address, against single calls and other readers.

Strategy: one process on one core. The ways take turns, several rounds: a busy moment of the machine
hits all of them; the second best round counts.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports, workload
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table
from benchmarks.many import lengths, piped, ways

ADDRESSES, ROUNDS = 100_000, 7
#: Of the calls for lists of several lengths: these take longer.
FEWER_ROUNDS = 3
#: How the names of our calls begin.
_OURS = ("lookup", "iter", "get")


def measure_many(
    dataset: Path, mmdb: Path | None, *, count: int, size: int, rounds: int
) -> dict[str, Any]:
    """Return nanoseconds an address of every way, and the rate of the command."""
    intervals = workload.read(dataset, 4)
    texts = {
        name: workload.addresses(intervals, name, count, hit=True)
        for name in workload.DISTRIBUTIONS
    }
    with geolookup.open(dataset) as engine, measure.one_core() as pinned:
        results = _times(ways.ways(engine, mmdb, size), texts, rounds)
        rates = {name: piped.rate(dataset, ips, 3) for name, ips in texts.items()}
        kernel = engine.kernel
    return {
        "unit": "ns per address, second best round",
        "addresses": count,
        "call": size,
        "rounds": rounds,
        "results": results,
        "rates": rates,
        "lengths": lengths.measure_lengths(dataset, count, min(rounds, FEWER_ROUNDS)),
        "kernel": kernel,
        "machine": measure.facts(pinned=pinned),
    }


def _times(
    selection: dict[str, ways.Way], texts: dict[str, list[str]], rounds: int
) -> dict[str, dict[str, float]]:
    times: dict[tuple[str, str], list[float]] = {}
    for at, name, kind in itertools.product(range(rounds + 1), selection, texts):
        began = time.perf_counter_ns()
        selection[name](texts[kind])
        nanoseconds = (time.perf_counter_ns() - began) / len(texts[kind])
        if at:  # the first round is not counted
            times.setdefault((name, kind), []).append(nanoseconds)
    return {name: {kind: sorted(times[name, kind])[:2][-1] for kind in texts} for name in selection}


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    kinds = list(result["rates"])
    rows = [
        [name, *(Number(row[kind]) for kind in kinds)] for name, row in result["results"].items()
    ]
    rates = [Number(result["rates"][kind] / 1e6, ".2f") for kind in kinds]
    yield Table("many-calls", ("ns per address", *kinds), rows, unit="ns", ours=_OURS)
    header = ("million addresses a second", *kinds)
    yield Table("many-piped", header, [("geolookup lookup, piped", *rates)], unit="M/s")
    yield ratio_table("many-ratios", "uniform", _ratios(result))
    yield ratio_table("many-lengths", "against single calls", lengths.ratios(result["lengths"]))
    run = f"{result['rounds']} rounds of {result['addresses']:,} addresses"
    yield f"second best of {run}, {result['call']:,} of them a call"


def _ratios(result: dict[str, Any]) -> list[Ratio]:
    took = {name: times["uniform"] for name, times in result["results"].items()}
    rate = result["rates"]["uniform"] / 1e6
    return [
        _part(took, ways.LINES, ways.SINGLE_JSON, 0.6),
        _part(took, ways.DICTS, ways.SINGLE_DICT, 0.75),
        _part(took, ways.VALUES, ways.SINGLE_VALUES, None),
        Ratio(ways.VALUES, took[ways.VALUES], 250, unit=" ns"),
        Ratio("geolookup lookup, piped", rate, 1.5, least=True, unit=" M/s"),
    ]


def _part(took: dict[str, float], many: str, single: str, goal: float | None) -> Ratio:
    return Ratio(f"{many} / {single}", took[many] / took[single], goal, unit="x")


@click.command("many", help="Time many addresses at once against single calls and other readers.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--addresses", "count", type=click.IntRange(1), default=ADDRESSES, show_default=True)
@click.option(
    "--call",
    "size",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Addresses a call.",
)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True)
@click.option("--peers/--no-peers", default=True, help="Time other readers too.")
@reports.outputs()
def command(
    *, scale: str, count: int, size: int, rounds: int, peers: bool, outputs: reports.Outputs
) -> None:
    """Measure and print."""
    mmdb = cache.mmdb(scale) if peers else None
    result = measure_many(cache.dataset(scale), mmdb, count=count, size=size, rounds=rounds)
    outputs.tell(lines(result), result)
