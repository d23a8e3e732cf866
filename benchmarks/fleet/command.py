"""A fleet on one machine: edges follow one mirror until each generation is everywhere.

Every edge begins with generation 0. Generation 1 is good; while it comes, every third edge is
killed, and started again a second later. Generation 2 is withdrawn: the edges return to 1.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import click

import geolookup
from benchmarks.data import cache, changed
from benchmarks.harness import measure, reports
from benchmarks.harness.processes import Child, Result, run_children
from benchmarks.harness.tables import Number, Ratio, Table, ratio_table

_PAUSE, _DOWN, _PATIENCE = 0.1, 1.0, 10.0
#: Intervals of polls until all edges have a generation, as wanted.
_INTERVALS = 2.0
_ADDRESS = "8.8.8.8"
#: Bytes a second for all edges, seconds before an answer, the share of errors and of cut answers.
_LINK = (10e6, 0.05, 0.02)


def _geolookup(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "geolookup", *map(str, arguments)]


def _run(*arguments: object) -> None:
    process = subprocess.run(_geolookup(*arguments), capture_output=True, text=True, check=False)
    if process.returncode:
        raise click.ClickException(f"geolookup {arguments[0]}: {process.stderr.strip()}")


@dataclass(slots=True)
class Publisher:
    """A store, its key and its mirror in one folder; all by the commands of geolookup."""

    folder: Path
    recipe: Path
    number: int = 0

    def publish(self) -> None:
        """Build the next generation, sign and publish it, and write the mirror."""
        output, key = self.folder / f"generation-{self.number}", self.folder / "key"
        recipe = self.recipe
        if self.number:
            source = self.folder / f"source-{self.number}"
            source.mkdir()
            recipe = changed.write(self.recipe, source, seed=self.number)
        else:
            _run("mirror", "keys", "create", key)
        _run("build", recipe, "--output", output)
        _run("mirror", "sign", output, "--signing-key", key)
        _run("store", "publish", output, "--store", self.folder / "store")
        self.number += 1
        self._mirror()

    def withdraw(self) -> None:
        """Go back to the generation before, and write the mirror."""
        _run("store", "rollback", self.folder / "store", "--signing-key", self.folder / "key")
        self._mirror()

    def _mirror(self) -> None:
        key, mirror = self.folder / "key", self.folder / "mirror"
        _run("mirror", "write", self.folder / "store", "--output", mirror, "--signing-key", key)


@dataclass(slots=True)
class Edge:
    """A store and the process that updates it; an engine that watches the store answers."""

    store: Path
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    engine: geolookup.Engine = field(init=False)

    def __post_init__(self) -> None:
        self.engine = geolookup.open(self.store, watch=_PAUSE)

    def start(self) -> None:
        """Start the process; its output goes into a file beside the store."""
        with self.store.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)

    def stop(self, *, kill: bool = False) -> None:
        """End the process."""
        if self.process is not None:
            (self.process.kill if kill else self.process.terminate)()
            self.process.wait(_PATIENCE)

    def generation(self) -> str:
        """Return what the engine answers from; raises if it cannot answer."""
        self.engine.lookup_json(_ADDRESS)
        return self.engine.generation


def roll(edges: Sequence[Edge], wanted: str, limit: float, killed: Sequence[Edge]) -> Result:
    """Watch until every edge answers from a generation, for at most ``limit`` seconds."""
    seconds: list[float] = []
    began, late, down = time.monotonic(), list(edges), list(killed)
    for edge in down:
        edge.stop(kill=True)
    while late and (now := time.monotonic() - began) < limit:
        if down and now > _DOWN:
            for edge in down:
                edge.start()
            down = []
        behind = [edge for edge in late if edge.generation() != wanted]
        seconds += [now] * (len(late) - len(behind))
        late = behind
        time.sleep(_PAUSE)
    return {"seconds": seconds, "edges": len(edges), "killed": len(killed)}


def simulate(edge_count: int, rows: int, every: float) -> Result:
    """Run the fleet in a temporary folder, and return the measurements."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-")))
        publisher = Publisher(folder, cache.source("csv", rows))
        publisher.publish()
        origin = Child("benchmarks.fleet.origin", folder / "mirror", *_LINK)
        stack.enter_context(run_children([origin]))
        url, edges = f"http://127.0.0.1:{origin.facts['port']}/", []
        polls = ("--every", f"{every:g}s", "--trusted-key", folder / "key.pub")
        for number in range(edge_count):
            store = Path(shutil.copytree(folder / "store", folder / f"edge-{number}"))
            edges.append(Edge(store, _geolookup("update", url, "--store", store, *polls)))
            stack.callback(edges[-1].engine.close)
            stack.callback(edges[-1].stop)
            edges[-1].start()
            time.sleep(every / edge_count)
        steps: tuple[tuple[str, Callable[[], None], Sequence[Edge]], ...] = (
            ("generation 1", publisher.publish, edges[::3]),
            ("generation 2", publisher.publish, ()),
            ("back to generation 1", publisher.withdraw, ()),
        )
        rollouts: Result = {}
        for name, step, killed in steps:
            before = origin.ask()
            step()
            wanted = next(
                g.generation for g in geolookup.generations(folder / "store") if g.current
            )
            rollouts[name] = roll(edges, wanted, 5 * every + 60, killed)
            sent = origin.ask()
            rollouts[name]["sent"] = {key: sent[key] - before.get(key, 0) for key in sent}
        memory = [measure.memory("VmRSS", edge.process.pid) for edge in edges if edge.process]
        for edge in edges:
            geolookup.verify(edge.store)
        archive = max(path.stat().st_size for path in (folder / "mirror").rglob("*.zst"))
    return {"rollouts": rollouts, "memory": max(filter(None, memory)), "archive": archive}


def lines(result: Result, edges: int, rows: int, every: float) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    body, ratios = [], []
    for name, rollout in result["rollouts"].items():
        is_everywhere = len(rollout["seconds"]) == edges
        last = max(rollout["seconds"]) if is_everywhere else float("inf")
        half = sorted(rollout["seconds"])[edges // 2] if is_everywhere else float("inf")
        sent = rollout["sent"]
        cells = (half, last, sent.get("bytes", 0) / edges / 1e3, rollout["killed"])
        kinds = [sent.get(kind, 0) for kind in ("200", "206", "304", "503", "cut")]
        forms = (",.1f", ",.1f", ",.1f", ",.0f")
        numbers = [Number(cell, form) for cell, form in zip(cells, forms, strict=True)]
        body.append((name, *numbers, *map(Number, kinds)))
        ratios.append(Ratio(f"{name}: everywhere, in intervals", last / every, _INTERVALS))
    head = (f"{edges} edges, {rows:,} rows, polls every {every:g} s", "half, s", "all, s")
    answers = ("whole", "resumed", "unchanged", "errors", "cut")
    yield Table((*head, "an edge kB", "killed", *answers), body)
    yield (
        f"largest process {result['memory'] / 1e6:,.1f} MB; a whole archive"
        f" {result['archive'] / 1e3:,.0f} kB; each edge answered all the time, and was verified"
        " at the end"
    )
    yield ratio_table("fleet", ratios)


@click.command("fleet", help="Simulate edges that follow one mirror over a slow, lossy link.")
@click.option("--edges", type=click.IntRange(1), default=20, show_default=True)
@click.option("--rows", type=click.IntRange(2000), default=30_000, show_default=True)
@click.option("--every", type=click.FloatRange(1), default=10.0, show_default=True)
@reports.outputs
def command(edges: int, rows: int, every: float, outputs: reports.Outputs) -> None:
    """Measure and print."""
    machine = measure.facts()
    result = simulate(edges, rows, every)
    outputs.tell(lines(result, edges, rows, every), {**result, "machine": machine})
