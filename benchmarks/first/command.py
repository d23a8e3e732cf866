"""The first pass of a new process over distinct addresses, beside other readers.

Strategy: in each round each contender gets a new process on one core, opens its file, and looks
every address of a list up once. That is the first pass: it fills caches, checks rows, computes
local times and maps pages. Then the same process goes over the list again, several times: the warm
pass. The files are in the page cache before the first round. The processes are the ones of
``peers``.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports, workload
from benchmarks.harness.processes import Child, run_children
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table
from benchmarks.peers import check
from benchmarks.peers.contenders import BY_NAME, Contender
from benchmarks.peers.libraries import Files

ADDRESSES, ROUNDS, WARM = (10_000, 100_000), 5, 3
JSON, DICT = "geolookup (compiled) lookup_json", "geolookup (compiled) lookup"
C_DICT, RUST_JSON = "maxminddb (C) get", "maxminddb-rust get + orjson"
C_JSON, C_ORJSON = f"{C_DICT} + json", f"{C_DICT} + orjson"
CONTENDERS = (JSON, DICT, C_DICT, C_JSON, C_ORJSON, "maxminddb-rust get", RUST_JSON)
#: The most multiples of its warm pass that a first pass of geolookup may take.
OVER_WARM = 1.5
#: A peer, a call of geolookup, and how many times as long the peer's first pass must take.
PEERS = ((C_JSON, JSON, 5.0), (C_ORJSON, JSON, None), (RUST_JSON, JSON, 3.0), (C_DICT, DICT, 2.0))
#: Goals of lists of up to ``FEW`` addresses: there, the zones of the world weigh more.
FEW, FEW_OVER_WARM, FEW_PEERS = 10_000, {JSON: 2.0}, {(RUST_JSON, JSON): 2.5}
_CHECKED = 5_000


def distinct(dataset: Path, count: int) -> list[str]:
    """Return distinct IPv4 addresses of known intervals, each interval equally likely."""
    intervals = workload.read(dataset, 4)
    addresses = workload.addresses(intervals, "uniform", 2 * count, hit=True)
    return list(dict.fromkeys(addresses))[:count]


def measure_first(
    files: Files, contenders: Sequence[Contender], counts: Sequence[int], rounds: int
) -> dict[str, Any]:
    """Return nanoseconds a lookup of the first and the warm pass, round by round, by list."""
    results: dict[str, Any] = {}
    for count in counts:
        addresses = distinct(files.dataset, count)
        check.check(files.dataset, files.mmdb, addresses[:_CHECKED])
        _cache_pages(files)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "addresses")
            path.write_text("\n".join(addresses), "ascii")
            results[str(len(addresses))] = _rounds(files, contenders, path, rounds)
    return {
        "rounds": rounds,
        "results": results,
        "machine": measure.facts(pinned=hasattr(os, "sched_setaffinity")),
    }


def _cache_pages(files: Files) -> None:
    """Read the files once into the page cache."""
    for path in (*files.dataset.iterdir(), files.mmdb):
        path.read_bytes()


def _rounds(
    files: Files, contenders: Sequence[Contender], path: Path, rounds: int
) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {
        contender.name: {"first": [], "warm": []} for contender in contenders
    }
    for _ in range(rounds):
        for contender in contenders:
            paths = (files.dataset, files.mmdb, "", path)
            with run_children([Child("benchmarks.peers.worker", contender.name, *paths)]) as (
                child,
            ):
                warm = [child.ask(threads=1) for _ in range(WARM)]
            if "refused" in child.facts:
                rows[contender.name] = {**rows[contender.name], "refused": child.facts["refused"]}
            else:
                rows[contender.name]["first"].append(child.facts["first_pass"])
                rows[contender.name]["warm"].append(
                    statistics.median(answer["ns"] for answer in warm)
                )
    return rows


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    for count, rows in result["results"].items():
        head = (
            f"ns per lookup, {int(count):,} addresses",
            "first pass",
            "warm pass",
            "first / warm",
        )
        body = [_row(name, row) for name, row in rows.items()]
        yield Table(f"first-{count}", head, body, unit="ns", ours="geolookup")
    yield ratio_table("first-ratios", "ratios of first passes", ratios(result))
    yield f"median of {result['rounds']} rounds, each in a new process"


def _row(name: str, row: dict[str, Any]) -> tuple[Cell, ...]:
    if "refused" in row:
        return name, *"---"
    first, warm = statistics.median(row["first"]), statistics.median(row["warm"])
    over = Number(_over(row["first"], row["warm"]), ".2f", "x")
    return name, Number(first), Number(warm), over


def ratios(result: dict[str, Any]) -> list[Ratio]:
    """Return first over warm passes of geolookup, and the peers' first passes over its own."""
    items = []
    for count, rows in result["results"].items():
        suffix, few = f"{int(count):,} addresses", int(count) <= FEW
        for own in (JSON, DICT):
            if first_passes := rows.get(own, {}).get("first"):
                value = _over(first_passes, rows[own]["warm"])
                most = FEW_OVER_WARM.get(own, OVER_WARM) if few else OVER_WARM
                items.append(Ratio(f"{own}: first / warm, {suffix}", value, most, unit="x"))
        for peer, own, goal in PEERS:
            pair = [rows.get(name, {}).get("first") for name in (peer, own)]
            if all(pair):
                text = f"{peer} / {own}, {suffix}"
                goal = FEW_PEERS.get((peer, own), goal) if few else goal
                items.append(Ratio(text, _over(*pair), goal, least=True, unit="x"))
    return items


def _over(one: list[float], other: list[float]) -> float:
    """Return the median, over the rounds, of how many times as long one takes as the other."""
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


@click.command("first", help="Time the first pass of a new process, beside other readers.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option(
    "--addresses", type=click.IntRange(2), multiple=True, default=ADDRESSES, show_default=True
)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True)
@click.option("--only", multiple=True, help="Contenders whose name contains this; may repeat.")
@reports.outputs("first-{scale}")
def command(
    scale: str,
    addresses: tuple[int, ...],
    rounds: int,
    only: tuple[str, ...],
    outputs: reports.Outputs,
) -> None:
    """Make dataset and MMDB (once), time everything, print the tables, write the results."""
    names = [name for name in CONTENDERS if not only or any(part in name for part in only)]
    try:
        files = Files(cache.dataset(scale), cache.mmdb(scale), None)
        result = measure_first(files, [BY_NAME[name] for name in names], addresses, rounds)
    except (check.UnequalError, ImportError) as error:
        hint = "; 'pip install .[bench]' installs the missing packages"
        raise click.ClickException(f"{error}{hint * isinstance(error, ImportError)}") from error
    outputs.tell(lines(result), {"scale": scale, **result})
