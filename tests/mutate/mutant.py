"""Mutants: one change of a source file each, and the sample that a run draws."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest


@dataclass(frozen=True)
class Mutant:
    """One change of one line; ``before`` and ``after`` are the line without its indent."""

    file: str
    function: str
    operator: str
    line: int
    before: str
    after: str
    source: str

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """The identity in ``survivors.toml``: without the line number: it may change."""
        return self.file, self.function, self.operator, self.before, self.after

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  ->  {self.after}  [{self.operator}]"


@dataclass(frozen=True)
class Position:
    """A position that an operator can change; ``changed_source`` returns the whole file."""

    file: str
    function: str
    operator: str
    line: int
    source: str
    changed_source: Callable[[], str]

    def mutant(self) -> Mutant | None:
        """Return the mutant; None if nothing changes."""
        after = self.changed_source()
        lines = zip_longest(self.source.splitlines(), after.splitlines(), fillvalue="")
        for line, (old, new) in enumerate(lines, 1):
            if old != new:
                shown = old.strip(), new.strip()
                return Mutant(self.file, self.function, self.operator, line, *shown, after)
        return None


def sample(positions: Iterable[Position], seed: str) -> Iterator[Mutant]:
    """Yield the mutants in the order of a seed, one of each function before a second of any."""
    chance = random.Random(seed)
    functions: dict[tuple[str, str], list[Position]] = {}
    for position in positions:
        functions.setdefault((position.file, position.function), []).append(position)
    groups = list(functions.values())
    chance.shuffle(groups)
    for group in groups:
        chance.shuffle(group)
    for turn in zip_longest(*groups):
        for position in filter(None, turn):
            mutant = position.mutant()
            if mutant is not None:
                yield mutant
