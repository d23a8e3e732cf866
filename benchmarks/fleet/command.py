"""A fleet on one machine: many edges follow one mirror, until each generation is everywhere."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from benchmarks.fleet.link import Quality
from benchmarks.fleet.rollout import Rollout, within
from benchmarks.fleet.server import program
from benchmarks.fleet.simulation import Plan, simulate
from benchmarks.harness import measure, reports
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table

EDGES, ROWS, EVERY, KILLS, SAMPLED = 300, 300_000, 240.0, 30, 10
_QUICK: dict[str, Any] = {"edges": 2, "rows": 2_000, "every": 1.0, "kills": 1, "sampled": 1}
_FOLDER = click.Path(file_okay=False, exists=True, path_type=Path)
_INTERVALS, _ORIGIN = 2.0, 1.2
_SHARES = (0.5, 0.99, 1.0)


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    plan = result["plan"]
    yield _rollouts(plan, result["rollouts"])
    yield _edges(result)
    yield ratio_table("fleet-bounds", "fleet", _ratios(plan, result["rollouts"]))
    yield _link(plan["quality"], result["counts"])


def _rollouts(plan: dict[str, Any], rollouts: list[dict[str, Any]]) -> Table:
    title = f"{plan['edges']:,} edges, {plan['rows']:,} rows, polls every {plan['every']:g} s"
    shares = (f"{share:.0%} in s" for share in _SHARES)
    header = (title, *shares, "delta kB", "an edge kB", "origin MB", "packs")
    rows: list[tuple[Cell, ...]] = []
    for rollout in rollouts:
        delta = "-" if rollout["delta"] is None else Number(rollout["delta"] / 1e3, ",.1f")
        edge_size = Number(bytes_of(rollout) / plan["edges"] / 1e3, ",.1f")
        origin = Number(bytes_of(rollout) / 1e6, ",.2f")
        packs = Number(rollout["sent"].get("packs 200", 0))
        times = _times(plan, rollout)
        rows.append((f"generation {rollout['name']}", *times, delta, edge_size, origin, packs))
    return Table("fleet-rollouts", header, rows)


def bytes_of(rollout: dict[str, Any]) -> int:
    """Return what the origin sent during a rollout, heads and broken answers included."""
    return sum(count for name, count in rollout["sent"].items() if name.endswith(" bytes"))


def _times(plan: dict[str, Any], rollout: dict[str, Any]) -> Iterator[Cell]:
    for share in _SHARES:
        seconds = within(Rollout(rollout["seconds"]), plan["edges"], share)
        yield "never" if seconds is None else Number(seconds, ",.1f")


def _edges(result: dict[str, Any]) -> Table:
    counts = dict(result["lookups"]["counts"])
    wrong = counts.pop("wrong", 0)
    rollouts, memory = result["rollouts"], result["memory"]
    rows = [
        ("memory of a follower, median MB", Number(statistics.median(memory) / 1e6, ".1f")),
        ("memory of a follower, largest MB", Number(max(memory) / 1e6, ".1f")),
        (
            "memory while one applies, MB",
            Number(max(rollout["peak"] for rollout in rollouts) / 1e6, ".1f"),
        ),
        ("killed", Number(sum(rollout["killed"] for rollout in rollouts))),
        (
            "killed while they applied",
            Number(sum(rollout["killed_applying"] for rollout in rollouts)),
        ),
        ("found without a generation", Number(sum(rollout["lacking"] for rollout in rollouts))),
        ("verified deep at the end", Number(result["verified"])),
        (f"lookups at {result['plan']['sampled']} edges", Number(sum(counts.values()) + wrong)),
        ("generations in their answers", Number(len(counts))),
        ("lookups with a wrong answer", Number(wrong)),
    ]
    return Table("fleet-edges", ("edges", ""), rows)


def _ratios(plan: dict[str, Any], rollouts: list[dict[str, Any]]) -> Iterator[Ratio]:
    for rollout in rollouts:
        seconds = within(Rollout(rollout["seconds"]), plan["edges"], 0.99)
        intervals = float("inf") if seconds is None else seconds / plan["every"]
        yield Ratio(f"generation {rollout['name']}: 99% in intervals", intervals, _INTERVALS)
    for rollout in rollouts:
        if rollout["delta"] is not None:
            least = plan["edges"] * rollout["delta"]
            text = f"generation {rollout['name']}: origin bytes / edges x delta"
            yield Ratio(text, bytes_of(rollout) / least, _ORIGIN, unit="x")


def _link(quality: dict[str, float], counts: dict[str, int]) -> str:
    answers = {
        name: sum(n for key, n in counts.items() if key.endswith(f" {name}")) for name in _STATUS
    }
    answers_text = ", ".join(f"{count:,} {_STATUS[name]}" for name, count in answers.items())
    return (
        f"link: {quality['rate'] / 1e6:g} MB/s in all, {quality['latency'] * 1e3:g} ms,"
        f" {quality['errors']:.1%} errors, {quality['cuts']:.1%} cut\nanswers: {answers_text}"
    )


_STATUS = {"200": "whole", "206": "resumed", "304": "unchanged", "503": "errors", "cut": "cut"}


def _numbers(
    name: str, kind: click.ParamType[Any], default: float, help_text: str
) -> Callable[..., Any]:
    """Return an option with a number, whose help states the default."""
    return click.option(name, type=kind, default=default, show_default=True, help=help_text)


@click.command("fleet", help="Simulate a fleet of edges behind a slow, lossy origin.")
@_numbers("--edges", click.IntRange(1), EDGES, "Stores, each with a follower.")
@_numbers("--rows", click.IntRange(1000), ROWS, "Rows of the source; 1 % changes each time.")
@_numbers("--every", click.FloatRange(1), EVERY, "Seconds between polls.")
@_numbers("--rate", click.FloatRange(0.01), 10.0, "MB/s of the origin, for all edges.")
@_numbers("--latency", click.FloatRange(0), 50.0, "Milliseconds before each answer.")
@_numbers("--loss", click.FloatRange(0, 0.9), 0.02, "Share of errors, and of cut answers.")
@_numbers("--kills", click.IntRange(0), KILLS, "Edges that are killed.")
@_numbers("--sampled", click.IntRange(1), SAMPLED, "Edges with lookups.")
@click.option("--folder", type=_FOLDER, help="Where the stores are while it runs.")
@click.option("--quick", is_flag=True, help="A few edges and seconds, to see that it runs.")
@reports.outputs()
def command(
    rate: float,
    latency: float,
    loss: float,
    folder: Path | None,
    outputs: reports.Outputs,
    *,
    quick: bool,
    **amounts: Any,
) -> None:
    """Measure and print."""
    if sys.platform != "linux":
        raise click.ClickException("the fleet reads /proc and needs Linux")
    if program() is None:
        raise click.ClickException("nginx is missing: install it")
    quality = Quality(rate * 1e6, latency / 1e3, loss, loss)
    amounts = _QUICK if quick else amounts
    amounts["kills"] = min(amounts["kills"], amounts["edges"])
    with tempfile.TemporaryDirectory(prefix="fleet-", dir=folder) as work:
        result = simulate(Plan(**amounts, quality=quality), Path(work))
    result["machine"] = measure.facts(pinned=False)
    outputs.tell(lines(result), result)
