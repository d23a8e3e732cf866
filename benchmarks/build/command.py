"""The compiler: time, memory and bytes, with and without the public MMDB writer.

Each part is a function that measures and one that tells; ``PARTS`` is their registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import click

from benchmarks.build import (
    explained,
    generated,
    over,
    previous,
    scaling,
    size,
    small,
    spilled,
    unchanged,
    writer,
)
from benchmarks.harness import reports
from benchmarks.harness.processes import Result


@dataclass(frozen=True, slots=True)
class Part:
    """``measure`` takes rows, or None for its own number; ``lines`` yields tables and remarks."""

    measure: Callable[[int | None], Result]
    lines: Callable[[Result], Iterator[reports.Part]]
    goal: str
    description: str


PARTS = {
    "csv": Part(
        generated.csv,
        partial(generated.bounded_totals, "csv"),
        "at most 4.5 s at 3,700,000 rows on two cores",
        "a generic CSV of 3.7 M rows, on two cores; half a minute",
    ),
    "city": Part(
        generated.city,
        partial(generated.bounded_totals, "city"),
        "at most 2.9 s and 0.55 GB at 5,530,000 rows on two cores",
        "GeoLite2's layout, City 4.9 M rows and ASN 0.63 M, on two cores; half a minute",
    ),
    "explained": Part(
        explained.measure_explained,
        explained.lines,
        "at most twice the time and twice the bytes",
        'the same with explain = "full" and without, on two cores; a minute',
    ),
    "previous": Part(
        previous.measure_previous,
        previous.lines,
        "at most 1.1 times the time of a build without one",
        "the next release of the generic CSV with --previous and without, on two cores; a minute",
    ),
    "over": Part(
        over.measure_over,
        partial(generated.totals, "over"),
        "at most 1.5 s and 0.4 GB over 5,530,000 rows on two cores",
        "3,000 sites over the dataset of City and ASN, on two cores; half a minute",
    ),
    "writer": Part(
        writer.measure_writer,
        writer.lines,
        "at least 20 times the rows a second, at most half the peak memory",
        "1,000,000 rows of such to a dataset and to MMDB files; a minute and a half"
        " (with --rows 5530000: ten, and 4 GB)",
    ),
    "scaling": Part(
        scaling.measure_scaling,
        scaling.lines,
        "an exponent of 1, at most 200 bytes a row",
        "such of 0.1 M to 20 M rows (--rows: the most); five minutes",
    ),
    "spilled": Part(
        spilled.measure_spilled,
        spilled.lines,
        "at most 512 MB and 2 GB of memory",
        "DB-IP's layout: 5 M rows in memory, 20 M in 512 MB, 100 M in 2 GB (--rows: these, in"
        " memory and in 500 MB); ten minutes and 20 GB of disk",
    ),
    "small": Part(
        small.measure_small,
        small.lines,
        "at most 20 ms without syncs",
        "a generic CSV of one row (--rows: up to 65,536), again and again; a few seconds",
    ),
    "unchanged": Part(
        unchanged.measure_unchanged,
        unchanged.lines,
        "at most 0.5 s from command to end",
        "geolookup update of the bundled dataset, first and without a change; half a minute",
    ),
    "size": Part(
        size.measure_size,
        size.lines,
        "at most 1.5 times the MMDB files, and at most their .tar.gz",
        "bytes beside the MMDB files of the same content; ten minutes once, for those",
    ),
}
USUAL = ("csv", "city")


def _parts_help() -> str:
    return "\n".join(f"{name}: {part.description}\n" for name, part in PARTS.items())


@click.command(
    "build",
    help=f"Compile generated sources. PARTS, by default {' '.join(USUAL)}:\n\n{_parts_help()}",
)
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)), metavar="[PARTS]...")
@click.option("--rows", type=click.IntRange(2000), help="So many rows, instead of a part's own.")
@reports.outputs()
def command(parts: tuple[str, ...], rows: int | None, outputs: reports.Outputs) -> None:
    """Generate (once), compile and print the totals of each part."""
    results: Result = {}
    output: list[reports.Part] = []
    for name in dict.fromkeys(parts or USUAL):
        results[name] = PARTS[name].measure(rows)
        output += [*PARTS[name].lines(results[name]), f"wanted: {PARTS[name].goal}"]
    outputs.tell(output, {**results, "machine": results[name]["machine"]})
