"""``report``: time, memory and size of the pages of a dataset, a difference, a file of addresses.

Strategy: each page is written by a process of its own on two cores. The older dataset of the
difference has other ranges, and everything has changed: no difference takes longer.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.data import cache
from benchmarks.data.generate import SEED
from benchmarks.data.shape import SCALES
from benchmarks.harness import reports, workload
from benchmarks.harness.processes import result_of
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table
from benchmarks.tables import addresses

ADDRESSES = 10_000_000
#: What every page is wanted to take at most. CPU time counts: of a free machine it is the longest
#: that a page takes.
SECONDS, PEAK_GB, PAGE_MB = 30, 2, 6
DATASET, AGAINST = "report", "report --against"
#: The instants of the addresses: a week.
_FIRST, _WEEK = 1_795_132_800, 7 * 86_400


def measure_pages(scale: str, count: int) -> dict[str, Any]:
    """Return seconds, bytes in memory and bytes of each page, by its subject."""
    dataset, older = cache.dataset(scale), cache.dataset(scale, seed=SEED + 1)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        rows = folder / "rows.parquet"
        write_rows(dataset, rows, count)
        commands = {
            DATASET: ("report", dataset),
            AGAINST: ("report", dataset, "--against", older),
            map_of(count): ("map", rows, "--local-time-column", "time", "--dataset", dataset),
        }
        results = {
            name: result_of("benchmarks.report.writing", folder / f"{at}.html", *command)
            for at, (name, command) in enumerate(commands.items())
        }
    machine = next(iter(results.values()))["machine"]
    return {"rows": results, "addresses": count, "machine": machine}


def map_of(count: int) -> str:
    """Return the name of the page that shows so many addresses."""
    return f"map of {count:,} addresses"


def write_rows(dataset: Path, target: Path, count: int) -> None:
    """Write distinct IPv4 addresses, each at an instant of its own in a week, as Parquet."""
    source = target.with_suffix(".arrow")
    addresses.write(dataset, [source], 4, count)
    seconds = _FIRST + np.random.default_rng(workload.SEED).integers(0, _WEEK, count)
    instants = pa.array(seconds).cast(pa.timestamp("s", "UTC"))
    pq.write_table(workload.arrow(source).append_column("time", instants), target)
    source.unlink()


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    header = ("pages", "seconds", "CPU seconds", "peak memory, MB", "page, MB")
    rows = [
        (
            name,
            Number(page["seconds"], ",.1f"),
            Number(page["cpu_seconds"], ",.1f"),
            Number((page["peak_memory"] or 0) / 1e6),
            Number(page["bytes"] / 1e6, ",.2f"),
        )
        for name, page in result["rows"].items()
    ]
    yield Table("report-pages", header, rows)
    yield ratio_table("report-bounds", "bounds of pages", bounds(result))


def bounds(result: dict[str, Any]) -> Iterator[Ratio]:
    """Yield the cost of each page, and its goal."""
    for name, page in result["rows"].items():
        yield Ratio(f"{name}: CPU time", page["cpu_seconds"], SECONDS, unit=" s")
        if page["peak_memory"]:
            peak = page["peak_memory"] / 1e9
            yield Ratio(f"{name}: peak memory", peak, PEAK_GB, unit=" GB")
        yield Ratio(f"{name}: page", page["bytes"] / 1e6, PAGE_MB, unit=" MB")


@click.command("report", help="Write the pages of a dataset, of a difference, of addresses.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--addresses", "count", type=click.IntRange(1), default=ADDRESSES, show_default=True)
@reports.outputs()
def command(scale: str, count: int, outputs: reports.Outputs) -> None:
    """Make the datasets (once) and the addresses, write the pages, print the tables."""
    result = measure_pages(scale, count)
    outputs.tell(lines(result), {"scale": scale, **result})
