"""Judge the mutants of a module in parallel, with a copy of the tree for each worker."""

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

from tests.mutate.judging import Copy, Verdict
from tests.mutate.mutant import Mutant
from tests.mutate.scope import Module, Survivor

_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - mkdtemp makes a folder in it


@dataclass
class Tally:
    """Counts of the mutants of a module by verdict."""

    name: str
    made: int = 0
    killed: int = 0
    timed_out: int = 0  # a part of the killed
    survived: int = 0
    equivalent: int = 0
    accepted: int = 0

    @staticmethod
    def head() -> str:
        names = f"{'':12} {'made':>6} {'killed':>8} {'timed out':>10} {'survived':>8}"
        return f"{names} {'equivalent':>10} {'accepted':>8}"

    def line(self) -> str:
        judged = f"{self.made:6} {self.killed:8} {self.timed_out:10} {self.survived:8}"
        return f"{self.name:12} {judged} {self.equivalent:10} {self.accepted:8}"


class Runner:
    """A folder with copies of a tree; a context manager that removes it."""

    def __init__(self, root: Path, workers: int, entries: Iterable[Survivor] = ()) -> None:
        self._entries = {entry.key: entry for entry in entries}
        parent = _MEMORY_FOLDER if os.access(_MEMORY_FOLDER, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix="geolookup-mutate-", dir=parent))
        self._copies: Queue[Copy] = Queue()
        for number in range(workers):
            self._copies.put(Copy(root, self._folder / str(number)))
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
        mutants: Iterator[Mutant],
        most: int,
        report: Callable[[Mutant], None],
    ) -> Tally:
        """Judge the first ``most`` mutants that can be built; call ``report`` for survivors.

        A survivor that is listed is counted, not reported.
        """
        tally = Tally(module.name)
        copy = self._copies.get()
        limits = copy.measure(module.tests, module.environment)
        self._copies.put(copy)

        def judge(mutant: Mutant) -> tuple[Mutant, Verdict | None]:
            copy = self._copies.get()
            try:
                return mutant, copy.verdict(mutant, module.tests, module.environment, limits)
            finally:
                self._copies.put(copy)

        while tally.made < most and (batch := list(islice(mutants, most - tally.made))):
            for mutant, verdict in self._pool.map(judge, batch):
                self._count(tally, mutant, verdict, report)
        return tally

    def _count(
        self,
        tally: Tally,
        mutant: Mutant,
        verdict: Verdict | None,
        report: Callable[[Mutant], None],
    ) -> None:
        if verdict is None:
            return  # cannot be built
        tally.made += 1
        entry = self._entries.get(mutant.key)
        if verdict is not Verdict.SURVIVED:
            tally.killed += 1
            tally.timed_out += verdict is Verdict.TIMED_OUT
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
        for name in ("made", "killed", "timed_out", "survived", "equivalent", "accepted"):
            setattr(summed, name, getattr(summed, name) + getattr(tally, name))
    return summed
