"""Weekly generations in a store, and answers as of any of their days."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.data import cache
from benchmarks.harness import measure, reports
from benchmarks.harness.processes import Result, result_of
from benchmarks.harness.tables import Number, Ratio, Table, ratio_table
from benchmarks.past import year
from geolookup.store import in_force

_CHILD = "benchmarks.past.child"
#: An address whose answers differ in generated sources.
_ADDRESS = "8.8.8.8"
PRUNE, OLDEST, AGAIN = "prune: one more archive", "open as of the oldest", "the same, cached"
HISTORY, PLAIN = "history of an address", "enrich"
UNPACKING, AS_OF = "enrich as of each row's time, unpacking", "the same, all unpacked"
_SECONDS, _RATIO = 2, 1.5
_MEGABYTES, _OPEN, _CACHED = 150, 2.5, 0.05


def measure_past(rows: int, weeks: int, share: float, events: int) -> Result:
    """Make the store, and measure each step in a process of its own."""
    recipe = cache.source("csv", rows)
    with TemporaryDirectory(prefix=".past-", dir=cache.FOLDER) as folder:
        root = Path(folder)
        os.environ["GEOLOOKUP_CACHE"] = str(root / "cache")
        os.environ["GEOLOOKUP_CACHE_SIZE"] = "64GB"  # all generations: by default 4 GB
        store, prunes = year.make(recipe, root, weeks, share)
        oldest = in_force.periods(store)[0].begin
        steps = {
            OLDEST: result_of(_CHILD, "as_of", store, oldest),
            AGAIN: result_of(_CHILD, "as_of", store, oldest),
            HISTORY: result_of(_CHILD, "history", store, _ADDRESS),
            PLAIN: result_of(_CHILD, "enrich", store, events, 0),
            UNPACKING: result_of(_CHILD, "enrich", store, events, 1),
            AS_OF: result_of(_CHILD, "enrich", store, events, 1),
        }
        sizes = year.size_of(store)
    amounts = {"rows": rows, "weeks": weeks, "share": share, "events": events}
    return {"prunes": prunes, "steps": steps, "sizes": sizes, **amounts}


def lines(result: Result) -> Iterator[reports.Part]:
    """Yield the sizes, the processes, and the bounds."""
    title = f"{result['weeks']} generations of {result['rows']:,} rows"
    sizes = [(name, Number(size / 1e6, ",.1f")) for name, size in result["sizes"].items()]
    yield Table((title, "MB"), sizes)
    named = {PRUNE: _median(result["prunes"]), **result["steps"]}
    processes = [
        (
            name,
            Number(step["cpu"], ".2f"),
            Number(step["seconds"], ".2f"),
            Number((step["peak_memory"] or 0) / 1e6),
        )
        for name, step in named.items()
    ]
    yield Table(("whole process", "CPU s", "wall s", "peak MB"), processes)
    yield ratio_table("past", _bounds(result))
    yield (
        f"{result['share']:.0%} of the rows changed in each generation; {result['events']:,} events"
        " at random times"
    )


def _median(prunes: list[Result]) -> Result:
    keys = ("cpu", "seconds", "peak_memory")
    return {key: statistics.median(one[key] or 0 for one in prunes) for key in keys}


def _bounds(result: Result) -> Iterator[Ratio]:
    steps, sizes, events = result["steps"], result["sizes"], result["events"]
    yield Ratio("bytes of changes", sizes["changes"] / 1e6, _MEGABYTES, unit=" MB")
    yield Ratio(f"{OLDEST}: wall time", steps[OLDEST]["seconds"], _OPEN, unit=" s")
    yield Ratio(f"{AGAIN}: wall time", steps[AGAIN]["seconds"], _CACHED, unit=" s")
    yield Ratio(f"{HISTORY}: wall time", steps[HISTORY]["seconds"], _SECONDS, unit=" s")
    plain, as_of = steps[PLAIN]["enrich"], steps[AS_OF]["enrich"]
    yield Ratio(f"{PLAIN}: CPU time for a row", plain / events * 1e9, unit=" ns")
    yield Ratio("enrich as of each row's time / enrich", as_of / plain, _RATIO)


@click.command("past", help="Keep weekly generations, and answer as of their days.")
@click.option("--rows", type=click.IntRange(2000), default=300_000, show_default=True)
@click.option("--weeks", type=click.IntRange(4), default=26, show_default=True)
@click.option("--share", type=click.FloatRange(0, 1), default=0.01, show_default=True)
@click.option("--events", type=click.IntRange(1), default=1_000_000, show_default=True)
@reports.outputs
def command(rows: int, weeks: int, share: float, events: int, outputs: reports.Outputs) -> None:
    """Measure and print."""
    machine = measure.facts()
    result = measure_past(rows, weeks, share, events)
    outputs.tell(lines(result), {**result, "machine": machine})
