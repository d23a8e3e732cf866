"""``prefixes``: seconds on one core for the prefixes of a country, and of every AS in one pass."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table

COUNTRY, EVERY_AS = "a country", "every AS"
#: Each list, with its AS numbers where they are asked for, as texts in CIDR notation.
LISTS: dict[str, Callable[[geolookup.Engine], pa.Table]] = {
    COUNTRY: lambda engine: engine.prefix_table({"location.country_code": "DE"}),
    EVERY_AS: lambda engine: engine.prefix_table(by="network.asn"),
}
#: Seconds that each is wanted to take at most, with the dataset of cities.
WANTED = {COUNTRY: 0.3, EVERY_AS: 2}


def measure_prefixes(dataset: Path, rounds: int) -> dict[str, Any]:
    """Return the seconds of each round, and how many prefixes each list has."""
    with measure.one_core() as pinned, geolookup.open(dataset) as engine:
        results = {name: _time_list(table_of, engine, rounds) for name, table_of in LISTS.items()}
        counts = engine.metadata.counts
    return {
        "unit": "s",
        "rows": {name: seconds for name, (seconds, _) in results.items()},
        "prefixes": {name: rows for name, (_, rows) in results.items()},
        "intervals": counts["ipv4_intervals"] + counts["ipv6_intervals"],
        "machine": measure.facts(pinned=pinned),
    }


def _time_list(
    table_of: Callable[[geolookup.Engine], pa.Table], engine: geolookup.Engine, rounds: int
) -> tuple[list[float], int]:
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        rows = table_of(engine).num_rows
        seconds.append(time.perf_counter() - began)
    return seconds, rows


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal; the first round reads files that are mapped afterwards."""
    head = f"prefixes of {result['intervals']:,} intervals"
    rows = [
        (
            name,
            Number(result["prefixes"][name]),
            Number(times[0], ".2f", " s"),
            Number(statistics.median(times), ".2f", " s"),
        )
        for name, times in result["rows"].items()
    ]
    ratios = [
        Ratio(name, statistics.median(times), WANTED[name], unit=" s")
        for name, times in result["rows"].items()
    ]
    yield Table("prefixes", (head, "prefixes", "first round", "median"), rows)
    yield ratio_table("prefixes-bounds", "as texts", ratios)


@click.command("prefixes", help="Time the prefixes of a country, and of every AS.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@reports.outputs()
def command(scale: str, rounds: int, outputs: reports.Outputs) -> None:
    """Measure and print."""
    result = measure_prefixes(cache.dataset(scale), rounds)
    outputs.tell(lines(result), result)
