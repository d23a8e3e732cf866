"""Flips through all bytes of a small dataset: ``python -m tests.corrupt.sweep --help``.

Every flip must be found by ``verify``; ``open`` and a thousand lookups on it,
unverified, must answer by the contract or raise DatasetError. A forged flip
has its digest in the manifest, so that ``verify`` gets to read the columns;
what it does not find then must change no answer.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click

from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError
from geolookup.integrity import verify
from tests.corrupt.flips import Flip, Flippable, every_flip
from tests.corrupt.probe import KERNELS, LOOKUPS, Answers, Probe, addresses
from tests.damage import copied, whole

_PART = 1000


@dataclass(slots=True)
class Outcome:
    """What became of flips: counts by file and outcome, and what must not be."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Part:
    """Flips that one process makes, one after the other, in a copy of its own."""

    dataset: Path
    kernel: str
    forged: bool
    flips: list[Flip]
    lookups: int = LOOKUPS

    def run(self) -> Outcome:
        """Flip, verify, look up, and flip back."""
        outcome = Outcome()
        with _copy(self.dataset) as folder:
            probe = Probe(self.kernel, addresses(folder, self.lookups))
            copy = Flippable(folder)
            whole = probe.survey(folder)
            for flip in self.flips:
                with copy.flipped(flip, forged=self.forged):
                    self._take(flip, folder, probe, whole, outcome)
            if probe.survey(folder) != whole or None in whole or _found(folder) != "missed":
                outcome.failures.append("the last flip was not taken back")
        return outcome

    def _take(
        self, flip: Flip, folder: Path, probe: Probe, whole: Answers, outcome: Outcome
    ) -> None:
        try:
            found, answers = _found(folder), probe.survey(folder)
            if flip.name not in (*fmt.ANSWERING, fmt.MANIFEST):
                probe.explain(folder)
        except Exception:  # noqa: BLE001 - whatever it is, it is reported
            outcome.failures.append(f"{flip}: {traceback.format_exc()}")
            return
        outcome.counts[flip.name, found] += 1
        outcome.counts[flip.name, "refused" if None in answers else "answered"] += 1
        if found == "missed" and (not self.forged or answers != whole):
            outcome.failures.append(f"{flip}: not found by verify")


def _found(folder: Path) -> str:
    """Return whether ``verify`` finds the damage."""
    try:
        verify(folder)
    except DatasetError:
        return "found"
    return "missed"


@contextmanager
def _copy(dataset: Path) -> Iterator[Path]:
    memory = Path("/dev/shm")  # noqa: S108 - only where it is there
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield copied(dataset, Path(folder) / "dataset")


def sweep(
    kernel: str, *, sample: int | None, seed: int, forged: bool, jobs: int, lookups: int = LOOKUPS
) -> Outcome:
    """Flip every byte, or a seeded sample of them with repetition; return what became of them.

    One job runs in this process.
    """
    dataset = whole("full")
    flips = every_flip(dataset, seed)
    if forged:
        flips = [flip for flip in flips if flip.name != fmt.MANIFEST]
    if sample is not None:
        flips = _sampled(flips, sample, random.Random(seed))
    parts = [
        Part(dataset, kernel, forged, flips[begin : begin + _PART], lookups)
        for begin in range(0, len(flips), _PART)
    ]
    if jobs == 1:
        return _joined(map(Part.run, parts))
    # A crash ends a process of the pool, and with it the pool, with an error.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return _joined(pool.map(Part.run, parts))


def _sampled(flips: list[Flip], count: int, rng: random.Random) -> list[Flip]:
    """Return flips drawn with repetition: one of each file, the rest from all bytes."""
    by_file = {flip.name: flip for flip in rng.sample(flips, len(flips))}
    return [*by_file.values(), *rng.choices(flips, k=count - len(by_file))]


def _joined(outcomes: Iterator[Outcome]) -> Outcome:
    joined = Outcome()
    for each in outcomes:
        joined.counts += each.counts
        joined.failures += each.failures
    return joined


@click.command(help=__doc__)
@click.option("--kernel", type=click.Choice([*KERNELS]), default="compiled")
@click.option("--sample", type=int, help="Flips, at least one a file; all bytes without.")
@click.option("--seed", default=20261121)
@click.option("--forged", is_flag=True, help="With the digests made to fit.")
@click.option("--jobs", default=os.cpu_count() or 1)
def main(**options: Any) -> None:
    """Run the command; exits with 1 where anything is as it must not be."""
    outcome = sweep(**options)
    for (name, what), count in sorted(outcome.counts.items()):
        click.echo(f"{name:<24} {what:<12} {count:>8,}")
    for failure in outcome.failures[:20]:
        click.echo(failure, err=True)
    click.echo(f"{len(outcome.failures)} failures")
    sys.exit(bool(outcome.failures))


if __name__ == "__main__":
    main()
