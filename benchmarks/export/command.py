"""``export``: processor time, memory and bytes of an MMDB file, beside the public Python writer."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.export.writers import OURS, THEIRS
from benchmarks.harness import reports, workload
from benchmarks.harness.processes import Result, result_of
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table

#: Addresses whose records are compared.
_COMPARED = 20_000


def measure_export(dataset: Path, rounds: int) -> dict[str, Any]:
    """Return the results of both writers, by name; the slow one writes once."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{name}.mmdb" for name in (OURS, THEIRS)}
        theirs = _write(THEIRS, dataset, files[THEIRS])
        ours = []
        for _ in range(rounds):
            files[OURS].unlink(missing_ok=True)
            ours.append(_write(OURS, dataset, files[OURS]))
        comparisons = _compare(dataset, files)
    with geolookup.open(dataset) as engine:
        counts = engine.metadata.counts
    median = {key: statistics.median(result[key] for result in ours) for key in _KEYS}
    return {
        "rows": {OURS: median, THEIRS: {key: theirs[key] for key in _KEYS}},
        "intervals": counts["ipv4_intervals"] + counts["ipv6_intervals"],
        "compared": comparisons,
        "machine": theirs["machine"],
    }


_KEYS = ("seconds", "peak_memory", "bytes")


def _write(name: str, dataset: Path, target: Path) -> Result:
    return result_of("benchmarks.export.writers", name, dataset, target)


def _compare(dataset: Path, files: dict[str, Path]) -> int:
    """Compare the records of both files at addresses of the dataset; return how many are alike."""
    import maxminddb

    ours, theirs = (maxminddb.open_database(files[name]) for name in (OURS, THEIRS))
    with ours, theirs:
        addresses = [
            kind(start)
            for family, kind in ((4, IPv4Address), (6, IPv6Address))
            for start in _some(workload.read(dataset, family).starts)
        ]
        different = sum(ours.get(address) != theirs.get(address) for address in addresses)
    if different:
        raise click.ClickException(f"the files differ at {different:,} addresses")
    return len(addresses)


def _some(starts: Any) -> Any:
    return starts[:: max(1, len(starts) // (_COMPARED // 2))]


def ratios(result: dict[str, Any]) -> list[Ratio]:
    """Return the ratio of the two, and its goal."""
    ours, theirs = (result["rows"][name] for name in (OURS, THEIRS))
    return [
        Ratio(
            f"CPU seconds of {THEIRS} / {OURS}", theirs["seconds"] / ours["seconds"], 20, True, "x"
        ),
        Ratio(
            f"peak memory of {OURS} / {THEIRS}",
            ours["peak_memory"] / theirs["peak_memory"],
            0.33,
            unit="x",
        ),
        Ratio(f"bytes of {OURS} / {THEIRS}", ours["bytes"] / theirs["bytes"], 1, unit="x"),
    ]


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    rows = [
        (
            name,
            Number(row["seconds"], ",.2f"),
            Number(row["peak_memory"] / 1e6),
            Number(row["bytes"]),
        )
        for name, row in result["rows"].items()
    ]
    head = f"MMDB of cities, {result['intervals']:,} intervals"
    header = (head, "CPU seconds", "peak memory, MB", "bytes")
    yield Table("export-mmdb", header, rows, ours=OURS)
    yield ratio_table("export-ratios", "MMDB", ratios(result))
    yield f"{result['compared']:,} records compared, all equal"


@click.command("export", help="Write an MMDB file of a dataset, beside the public Python writer.")
@click.option(
    "--scale",
    type=click.Choice(list(SCALES)),
    default="default",
    show_default=True,
    help="With city the other writer takes minutes, and several GB.",
)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@reports.outputs()
def command(scale: str, rounds: int, outputs: reports.Outputs) -> None:
    """Measure and print."""
    result = measure_export(cache.dataset(scale), rounds)
    outputs.tell(lines(result), result)
