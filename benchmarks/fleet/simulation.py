"""The simulation: a publisher, an origin, edges, lookups, and four rollouts one after the other.

Every edge begins with generation 0. Generation 1 is good, 2 is bad and withdrawn: the edges return
to 1. Generation 3 is good.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.fleet import edges as edge_processes
from benchmarks.fleet import rollout
from benchmarks.fleet.edges import Edge
from benchmarks.fleet.link import Quality
from benchmarks.fleet.publisher import Publisher, geolookup_command
from benchmarks.harness.processes import Child, run_children

GENERATIONS = 4
#: The generations of a rollout that a store holds: its bytes, times this, must be free.
_HELD = 3
_SEED = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a simulation; ``every`` is the interval of polls in seconds."""

    edges: int
    rows: int
    every: float
    kills: int
    sampled: int
    quality: Quality

    @property
    def limit(self) -> float:
        """The seconds after which a rollout is given up."""
        return 5 * self.every + 60


def simulate(plan: Plan, folder: Path) -> dict[str, Any]:
    """Run the simulation in an empty folder, and return the measurements."""
    publisher = Publisher(folder / "publisher")
    publisher.folder.mkdir()
    datasets = _build(publisher, plan.rows)
    _check_space(datasets[-1], folder, plan.edges)
    publisher.publish(datasets[0])
    (folder / "edges").mkdir()
    stores = edge_processes.install(publisher.store, folder / "edges", plan.edges)
    with ExitStack() as stack:
        stack.enter_context(_exit_on_sigterm())
        (origin,) = stack.enter_context(run_children([_origin(publisher.mirror, plan.quality)]))
        follow = _follower(publisher, origin.facts["port"], plan.every)
        edges = stack.enter_context(edge_processes.run_edges(stores, follow))
        rollout.start(edges, plan.every)
        rollout.wait_for_polls(edges, plan.limit)
        (lookups,) = stack.enter_context(run_children([_lookups(folder, stores, datasets, plan)]))
        lookups.ask(generation=publisher.generation(), limit=plan.limit)
        rollouts = []
        for measured in _rollouts(plan, publisher, origin, edges, datasets):
            rollouts.append(measured)
            lookups.ask(generation=publisher.generation(), limit=plan.limit)
        result = {
            "rollouts": rollouts,
            "memory": sorted(size for edge in edges if (size := edge.memory())),
            "lookups": lookups.ask(),
            "counts": origin.ask(),
        }
    return result | {"verified": sum(map(_is_valid, stores)), "plan": asdict(plan)}


def _build(publisher: Publisher, rows: int) -> list[Path]:
    """Build all generations; the third and the fourth both follow the second."""
    recipe = cache.source(f"rows-{rows}", "generate", ["--rows", str(rows)])
    first = publisher.build(recipe, 0, None)
    second = publisher.build(recipe, 1, first)
    return [first, second, *(publisher.build(recipe, number, second) for number in (2, 3))]


def _check_space(dataset: Path, folder: Path, edges: int) -> None:
    need = edges * _HELD * sum(file.stat().st_size for file in dataset.iterdir())
    free = shutil.disk_usage(folder).free
    if need > free / 2:
        problem = f"needs {need:,} bytes of the disk, half of its free space is {free // 2:,}"
        raise click.ClickException(f"{problem}; use fewer --edges or --rows, or another --folder")


def _origin(mirror: Path, quality: Quality) -> Child:
    return Child("benchmarks.fleet.proxy", mirror, *asdict(quality).values())


def _follower(publisher: Publisher, port: int, every: float) -> Callable[[Path], Sequence[str]]:
    url = f"http://127.0.0.1:{port}/"
    options = ("--every", f"{every:g}s", "--trusted-key", publisher.public_key)
    return lambda store: geolookup_command("follow", url, "--store", store, *options)


def _lookups(folder: Path, stores: Sequence[Path], datasets: Sequence[Path], plan: Plan) -> Child:
    plan_file = folder / "lookups.json"
    sample = Random(_SEED).sample(stores, min(plan.sampled, len(stores)))
    options = {"stores": sample, "datasets": datasets, "watch": min(1.0, plan.every / 4)}
    plan_file.write_text(json.dumps(options, default=str), encoding="utf-8")
    return Child("benchmarks.fleet.lookups", plan_file)


def _rollouts(
    plan: Plan,
    publisher: Publisher,
    origin: Child,
    edges: Sequence[Edge],
    datasets: Sequence[Path],
) -> Iterator[dict[str, Any]]:
    victims = Random(_SEED).sample(list(edges), plan.kills)
    steps: list[tuple[str, Callable[[], None], list[Edge]]] = [
        ("1, good", lambda: publisher.publish(datasets[1]), victims),
        ("2, bad", lambda: publisher.publish(datasets[2]), []),
        ("2 withdrawn, back to 1", publisher.withdraw, []),
        ("3, good", lambda: publisher.publish(datasets[3]), []),
    ]
    for name, publish, step_victims in steps:
        former, before = publisher.generation(), origin.ask()
        publish()
        killer = rollout.Killer(step_victims, _SEED)
        result = rollout.roll(edges, publisher.generation(), plan.limit, killer)
        seconds = f"{max(result.seconds, default=0):,.0f} s"
        print(f"generation {name}: {len(result.seconds)} edges in {seconds}", file=sys.stderr)
        yield {
            "name": name,
            **asdict(result),
            "sent": {key: count - before.get(key, 0) for key, count in origin.ask().items()},
            "delta": publisher.delta_bytes(former) if publish != publisher.withdraw else None,
            "pack": publisher.pack_bytes(),
            "killed": killer.kill_count,
            "killed_applying": killer.applying_count,
        }


def _is_valid(store: Path) -> bool:
    try:
        geolookup.verify(store, deep=True)
    except geolookup.DatasetError as error:
        print(f"geolookup: {error}", file=sys.stderr)
        return False
    return True


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Let SIGTERM leave the block as an exception does: the block ends its processes."""
    former = signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
