"""A rollout: from the moment that the mirror has a generation until every edge has it.

Strategy: one loop looks at all stores several times a second. It also kills: each of the edges
chosen to be killed dies while it applies the generation, at a random moment, and is started again
a second later, as ``Restart=on-failure`` would.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from benchmarks.fleet.edges import Edge, status_bytes

_PAUSE, _DOWN = 0.2, 1.0
#: The chance that an applying edge is killed when it is looked at.
_CHANCE = 0.25
#: Bytes of memory that stay free: 300 edges are 300 machines, but this is one.
_SPARE = 3 << 30


@dataclass(slots=True)
class Rollout:
    """What a rollout came to, for each edge in the order of time."""

    seconds: list[float] = field(default_factory=list)  # until an edge had the generation
    peak: int = 0  # bytes of memory of the largest process that applied it
    lacking: int = 0  # how often an edge had no whole generation


class Killer:
    """Kill each of some edges once: while it applies, or else when it has the generation."""

    def __init__(self, victims: Sequence[Edge], seed: int) -> None:
        self._alive, self._down = list(victims), list[tuple[float, Edge]]()
        self._random = random.Random(seed)
        self.kill_count = self.applying_count = 0

    def step(self, generation: str) -> None:
        """Kill whose moment has come, and start those that were down for long enough."""
        for edge in list(self._alive):
            applies = bool(edge.children())
            if edge.generation == generation or (applies and self._random.random() < _CHANCE):
                edge.kill()
                self._alive.remove(edge)
                self._down.append((time.monotonic() + _DOWN, edge))
                self.kill_count += 1
                self.applying_count += applies
        for due, edge in list(self._down):
            if time.monotonic() >= due:
                edge.start()
                self._down.remove((due, edge))

    @property
    def is_done(self) -> bool:
        """Whether all were killed and all run again."""
        return not self._alive and not self._down


def roll(edges: Sequence[Edge], generation: str, limit: float, killer: Killer) -> Rollout:
    """Watch until every edge has the generation and no kill is due, for ``limit`` seconds."""
    result, began = Rollout(), time.monotonic()
    late = list(edges)
    while (late or not killer.is_done) and time.monotonic() - began < limit:
        check_memory()
        result.lacking += sum(not edge.look() for edge in edges)
        fresh = [edge for edge in late if edge.generation == generation]
        result.seconds += [time.monotonic() - began] * len(fresh)
        late = [edge for edge in late if edge.generation != generation]
        result.peak = max([result.peak, *_applying_bytes(late)])
        killer.step(generation)
        time.sleep(_PAUSE)
    return result


def _applying_bytes(edges: Sequence[Edge]) -> list[int]:
    """Return the most memory of each process that the edges run at this moment."""
    return [status_bytes(pid, "VmHWM") or 0 for edge in edges for pid in edge.children()]


def check_memory() -> None:
    """Raise ClickException where the machine runs out of memory for so many edges."""
    free = Path("/proc/meminfo").read_text(encoding="ascii").partition("MemAvailable:")[2]
    if int(free.split()[0]) << 10 < _SPARE:
        raise click.ClickException(
            "too little memory is free; use fewer --edges or a longer --every"
        )


def wait_for_polls(edges: Sequence[Edge], limit: float) -> None:
    """Wait until every edge has stated the result of its first poll."""
    ends = time.monotonic() + limit
    while not all(edge.has_polled for edge in edges):
        if time.monotonic() > ends:
            raise click.ClickException("not every edge has polled in time; use a longer --every")
        check_memory()
        time.sleep(_PAUSE)


def start(edges: Sequence[Edge], over: float) -> None:
    """Start the edges, evenly over so many seconds."""
    for edge in edges:
        edge.start()
        time.sleep(over / len(edges))


def within(rollout: Rollout, edges: int, share: float) -> float | None:
    """Return the seconds until so large a share of the edges was fresh, None if it never was."""
    count = max(1, -(-edges * round(share * 100) // 100))
    return rollout.seconds[count - 1] if len(rollout.seconds) >= count else None
