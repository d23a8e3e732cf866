"""Judges the mutants of a module side by side, a copy of the tree for each worker."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import Queue
from types import TracebackType
from typing import Self

from tests.mutate.judging import Copy
from tests.mutate.mutant import Mutant
from tests.mutate.scope import Module, Survivor

_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder in memory, in which one of our own is made


@dataclass
class Tally:
    """What became of the mutants of a module."""

    name: str
    made: int = 0
    killed: int = 0
    survived: int = 0
    equivalent: int = 0
    accepted: int = 0

    @staticmethod
    def head() -> str:
        return (
            f"{'':12} {'made':>6} {'killed':>8} {'survived':>8} {'equivalent':>10} {'accepted':>8}"
        )

    def line(self) -> str:
        listed = f"{self.equivalent:10} {self.accepted:8}"
        return f"{self.name:12} {self.made:6} {self.killed:8} {self.survived:8} {listed}"


class Runner:
    """A folder with copies of a tree; a context manager, which removes it."""

    def __init__(self, root: Path, workers: int, listed: Iterable[Survivor] = ()) -> None:
        self._listed = {entry.key: entry for entry in listed}
        parent = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix="geolookup-mutate-", dir=parent))
        datasets = self._folder / "datasets"
        datasets.mkdir()
        self._copies: Queue[Copy] = Queue()
        for number in range(workers):
            self._copies.put(Copy(root, self._folder / str(number), datasets))
        self._pool = ThreadPoolExecutor(workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def tally(
        self,
        module: Module,
        drawn: Iterator[Mutant],
        most: int,
        report: Callable[[Mutant], None],
    ) -> Tally:
        """Judge the first ``most`` mutants that can be built; call ``report`` for survivors.

        A survivor that is listed is counted, not reported.
        """
        tally = Tally(module.name)
        copy = self._copies.get()
        limits = copy.measured(module.tests, module.environment)
        self._copies.put(copy)

        def judged(mutant: Mutant) -> tuple[Mutant, bool | None]:
            copy = self._copies.get()
            try:
                return mutant, copy.is_killed(mutant, module.tests, module.environment, limits)
            finally:
                self._copies.put(copy)

        while tally.made < most and (batch := list(islice(drawn, most - tally.made))):
            for mutant, killed in self._pool.map(judged, batch):
                self._count(tally, mutant, killed, report)
        return tally

    def _count(
        self, tally: Tally, mutant: Mutant, killed: bool | None, report: Callable[[Mutant], None]
    ) -> None:
        if killed is None:
            return  # not a program
        tally.made += 1
        entry = self._listed.get(mutant.key)
        if killed:
            tally.killed += 1
        elif entry is None:
            tally.survived += 1
            report(mutant)
        elif entry.kind == "equivalent":
            tally.equivalent += 1
        else:
            tally.accepted += 1


def total(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies."""
    summed = Tally("all")
    for tally in tallies:
        for name in ("made", "killed", "survived", "equivalent", "accepted"):
            setattr(summed, name, getattr(summed, name) + getattr(tally, name))
    return summed
