"""Geolookup beside other libraries: one run, one machine, the same addresses, in turn.

Strategy: each contender has a process of its own on one core and goes over
a list once before it is timed; then the rounds of all take turns. The MMDB
holds the ranges and city values of our dataset. This is checked first.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports, workload
from benchmarks.harness.processes import Child, run_children
from benchmarks.peers import check, report, start
from benchmarks.peers.contenders import CONTENDERS, Contender
from benchmarks.peers.libraries import Files

ADDRESSES, ROUNDS, STARTS = 100_000, 5, 41
_CHECKED = 5_000
#: The first list is the one that memory is measured on.
_KINDS = tuple(itertools.product((4, 6), (True, False), workload.DISTRIBUTIONS))


def write_lists(dataset: Path, folder: Path, count: int, exponent: float) -> dict[str, Path]:
    """Write the address lists, and return them by workload."""
    intervals = {family: workload.read(dataset, family) for family in (4, 6)}
    paths = {}
    for family, hit, distribution in _KINDS:
        addresses = workload.addresses(
            intervals[family], distribution, count, hit=hit, exponent=exponent
        )
        name = f"{distribution} IPv{family} {'hit' if hit else 'miss'}"
        paths[name] = folder / name.replace(" ", "-")
        paths[name].write_text("\n".join(addresses), "ascii")
    return paths


def compare(files: Files, lists: dict[str, Path]) -> int:
    """Compare MMDB and dataset on some of every list; UnequalError if they differ."""
    addresses = [
        address
        for path in lists.values()
        for address in path.read_text("ascii").split("\n")[:_CHECKED]
    ]
    check.check(files.dataset, files.mmdb, addresses)
    return len(addresses)


def measure_peers(
    files: Files,
    contenders: Sequence[Contender],
    options: dict[str, Any],
) -> dict[str, Any]:
    """Return times, memory and starts of the contenders, and their conditions."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    with tempfile.TemporaryDirectory() as folder:
        lists = write_lists(files.dataset, Path(folder), options["addresses"], options["exponent"])
        comparisons = compare(files, lists)
        first = next(iter(lists.values()))
        with run_children(_start_children(contenders, files, first)) as children:
            results = take_turns(children, lists, options["threads"], options["rounds"])
            rows = {
                contender.name: _row(contender, child, rounds)
                for contender, child, rounds in zip(contenders, children, results, strict=True)
            }
        address = first.read_text("ascii").partition("\n")[0]
    able = [contender for contender in contenders if "refused" not in rows[contender.name]]
    programs = start.programs(able, files, address)
    for name, times in start.measure_starts(programs, options["starts"]).items():
        rows.setdefault(name, {})["start"] = times
    with geolookup.open(files.dataset) as engine:
        counts = dict(engine.metadata.counts)
    return {
        **options,
        "unit": "ns per lookup",
        "workloads": [_key(name, count) for name in lists for count in options["threads"]],
        "rows": rows,
        "compared": comparisons,
        "counts": counts,
        "file_bytes": {"dataset": _size(files.dataset), "mmdb": _size(files.mmdb)},
        "load": load,
        "machine": measure.facts(pinned=hasattr(os, "sched_setaffinity")),
    }


def _start_children(contenders: Sequence[Contender], files: Files, first: Path) -> Iterator[Child]:
    paths = (files.dataset, files.mmdb, files.ip2location or "", first)
    return (Child("benchmarks.peers.worker", contender.name, *paths) for contender in contenders)


def take_turns(
    children: Sequence[Child], lists: Mapping[str, Path], threads: Sequence[int], rounds: int
) -> list[dict[str, list[float]]]:
    """Time every child on every list, after a pass over it; return its rounds by workload."""
    results: list[dict[str, list[float]]] = [{} for _ in children]
    for name, path in lists.items():
        for child in children:
            child.ask(load=str(path))
        for _, count, (child, child_rounds) in itertools.product(
            range(rounds), threads, list(zip(children, results, strict=True))
        ):
            if "ns" in (answer := child.ask(threads=count)):
                child_rounds.setdefault(_key(name, count), []).append(answer["ns"])
    return results


def _key(workload: str, threads: int) -> str:
    return workload if threads == 1 else f"{workload}, {threads} threads"


def _row(contender: Contender, child: Child, rounds: dict[str, list[float]]) -> dict[str, Any]:
    row = {"returns": contender.returns, "reads": contender.reads, **child.facts}
    return row if "refused" in row else {**row, "rounds": rounds}


def _size(path: Path) -> int:
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("peers", help="Time other libraries beside geolookup, on the same addresses.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="default", show_default=True)
@click.option("--addresses", type=click.IntRange(2), default=ADDRESSES, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True)
@click.option("--starts", type=click.IntRange(1), default=STARTS, show_default=True)
@click.option("--threads", type=click.IntRange(1, 2), multiple=True, default=(1, 2))
@click.option("--exponent", type=float, default=workload.EXPONENT, show_default=True)
@click.option("--only", multiple=True, help="Contenders whose name contains this; may repeat.")
@click.option("--ip2location", type=_FILE, help="A BIN file, for IP2Location to read.")
@reports.outputs("peers-{scale}")
def command(
    scale: str,
    only: tuple[str, ...],
    ip2location: Path | None,
    outputs: reports.Outputs,
    **options: Any,
) -> None:
    """Make dataset and MMDB (once), time everything, print the tables, write the results."""
    try:
        files = Files(cache.dataset(scale), cache.mmdb(scale), ip2location)
        selection = [c for c in CONTENDERS if not only or any(part in c.name for part in only)]
        result = {"scale": scale, **measure_peers(files, selection, options)}
    except (check.UnequalError, ImportError) as error:
        hint = "; 'pip install .[bench]' installs the missing packages"
        raise click.ClickException(f"{error}{hint * isinstance(error, ImportError)}") from error
    outputs.tell(report.lines(result), result)
