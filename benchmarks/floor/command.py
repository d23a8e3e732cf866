"""Lookups of geolookup as multiples of the floor: what the machine needs for the same bytes.

Strategy: the floor of JSON parses the address, reads the arrays that an answer depends on, one
element each (jump table, starts, rows, offsets, texts; each read depends on the one before it), and
copies the bytes of the answer to a new bytes object; all in one loop in C. The floor of a dict
has the same parse and reads, and CPython builds the dict from finished parts. Floor and
lookups take turns in one process on one core; the median of the rounds counts.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.floor import columns
from benchmarks.floor.steps import COPY, PARSE, READ, steps_of
from benchmarks.harness import measure, reports, workload
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table
from benchmarks.peers import floor as ready
from benchmarks.peers.libraries import Files
from geolookup.dataset.files import Dataset

ADDRESSES, ROWS, ROUNDS = 100_000, 1_000_000, 9
#: Calls of geolookup, and the most multiples of the floor that they may take, by distribution.
WANTED: dict[str, dict[str, float | None]] = {
    "JSON": {"zipf": None, "uniform": 2.0},
    "dict": {"zipf": None, "uniform": 1.3},
}


def measure_floor(dataset: Path, count: int, row_count: int, rounds: int) -> dict[str, Any]:
    """Return nanoseconds of the steps and of the calls, by distribution, and of columns."""
    intervals = workload.read(dataset, 4)
    with (
        tempfile.TemporaryDirectory() as folder,
        geolookup.open(dataset) as engine,
    ):
        with measure.one_core() as pinned:
            results = {}
            for distribution in workload.DISTRIBUTIONS:
                addresses = workload.addresses(intervals, distribution, count, hit=True)
                size = statistics.mean(len(engine.lookup_json(address)) for address in addresses)
                steps = steps_of(Dataset(dataset), round(size), Path(folder))
                calls = _calls(engine, steps, ready.open_floor(Files(dataset, dataset)), addresses)
                results[distribution] = {"bytes": size, **_rounds(calls, count, rounds)}
            of_columns = columns.measure_columns(engine, dataset, row_count, rounds, Path(folder))
        gains = columns.measure_threads(engine, dataset, row_count, rounds, Path(folder))
    return {
        "addresses": count,
        "rounds": rounds,
        "results": results,
        "rows": row_count,
        "columns": of_columns,
        "threads": gains,
        "kernel": engine.kernel,
        "machine": measure.facts(pinned=pinned),
    }


def _calls(
    engine: geolookup.Engine,
    steps: Callable[[list[str], int], None],
    prepare: Any,
    texts: list[str],
) -> dict[str, Callable[[], object]]:
    build = prepare(texts)
    return {
        "parse": lambda: steps(texts, PARSE),
        "parse, reads": lambda: steps(texts, READ),
        "parse, reads, copy": lambda: steps(texts, COPY),
        "dict from ready parts": lambda: deque(build(), 0),
        "JSON": lambda: deque(map(engine.lookup_json, texts), 0),
        "dict": lambda: deque(map(engine.lookup, texts), 0),
    }


def _rounds(
    calls: dict[str, Callable[[], object]], count: int, rounds: int
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.perf_counter_ns()
            call()
            times[name].append((time.perf_counter_ns() - began) / count)
    gc.unfreeze()
    return times


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    header = ("ns per lookup", *workload.DISTRIBUTIONS)
    yield Table("floor-steps", header, rows(result), unit="ns", ours="geolookup")
    yield ratio_table("floor-multiples", "multiples of the floor", ratios(result))
    sizes = " and ".join(f"{row['bytes']:,.0f}" for row in result["results"].values())
    run = f"{result['rounds']} rounds of {result['addresses']:,} addresses"
    yield f"answers of {sizes} bytes; median of {run}"
    yield from columns.lines(result["columns"], result["threads"])
    yield f"{result['rows']:,} distinct addresses"


def rows(result: dict[str, Any]) -> list[list[Cell]]:
    """Return a step or a call, and its nanoseconds by distribution."""
    columns = [_column(times) for times in result["results"].values()]
    return [[name, *(Number(column[name]) for column in columns)] for name in columns[0]]


def _column(times: dict[str, Any]) -> dict[str, float]:
    """Return the medians of one distribution, each step without those before it."""
    median = {name: statistics.median(times[name]) for name in times if name != "bytes"}
    column = {
        "parse": median["parse"],
        "dependent reads": median["parse, reads"] - median["parse"],
        "copy of the answer's bytes": median["parse, reads, copy"] - median["parse, reads"],
        "dict from ready parts": median["dict from ready parts"],
    }
    for name in WANTED:
        column[f"floor of {name}"] = statistics.median(floor(times, name))
        column[f"geolookup, {name}"] = median[name]
    return column


def floor(times: dict[str, Any], name: str) -> list[float]:
    """Return the floor of a call, round by round."""
    if name == "JSON":
        return list(times["parse, reads, copy"])
    pairs = zip(times["parse, reads"], times["dict from ready parts"], strict=True)
    return [sum(pair) for pair in pairs]


def ratios(result: dict[str, Any]) -> list[Ratio]:
    """Return the calls as multiples of their floors: the median over the rounds."""
    items = []
    for name, goals in WANTED.items():
        for distribution, bound in goals.items():
            times = result["results"][distribution]
            pairs = zip(times[name], floor(times, name), strict=True)
            value = statistics.median(ours / least for ours, least in pairs)
            items.append(
                Ratio(
                    f"geolookup, {name} / floor of {name}, {distribution}", value, bound, unit="x"
                )
            )
    return items


@click.command(
    "floor", help="Time lookups and columns beside what the machine needs for the same bytes."
)
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--addresses", "count", type=click.IntRange(1), default=ADDRESSES, show_default=True)
@click.option("--rows", "row_count", type=click.IntRange(1), default=ROWS, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True)
@reports.outputs()
def command(scale: str, count: int, row_count: int, rounds: int, outputs: reports.Outputs) -> None:
    """Build the dataset (once), time steps, lookups and columns, print all tables."""
    result = measure_floor(cache.dataset(scale), count, row_count, rounds)
    outputs.tell(lines(result), result)
