"""Flips through all bytes of a small dataset: ``python -m tests.corrupt.sweep --help``.

Every flip must be found by ``verify``; ``open`` and a thousand lookups on it,
unverified, must answer by the contract or raise DatasetError. A forged flip
has its digest in the manifest: ``verify`` gets to read the columns. A flip that it misses must
change no answer.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import random
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import click

from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError
from geolookup.integrity import verify
from tests.corrupt.probe import KERNELS, LOOKUPS, Probe, addresses
from tests.damage import copied, whole
from tests.own_sources import full_dataset

_PART = 1000


class Flip(NamedTuple):
    """One byte of a file, and the bits of it that are turned."""

    name: str
    at: int
    mask: int


#: Counts by file and outcome, and what must not be.
Outcome = tuple[Counter[tuple[str, str]], list[str]]


def flips_of(dataset: Path, seed: int, sample: int | None, *, forged: bool) -> list[Flip]:
    """Return a flip of every byte, or a seeded sample with repetition, at least one a file."""
    rng = random.Random(seed)
    flips = [
        Flip(path.name, at, rng.choice((1, 2, 4, 8, 16, 32, 64, 128, 255)))
        for path in sorted(dataset.iterdir())
        for at in range(path.stat().st_size)
        if not forged or path.name != fmt.MANIFEST
    ]
    if sample is None:
        return flips
    by_file = {flip.name: flip for flip in rng.sample(flips, len(flips))}
    return [*by_file.values(), *rng.choices(flips, k=sample - len(by_file))]


class Flippable:
    """A dataset whose files are mapped to be written."""

    def __init__(self, folder: Path) -> None:
        self._files = {path.name: _mapped(path) for path in folder.iterdir()}
        self._manifest = self._files[fmt.MANIFEST]

    @contextmanager
    def flipped(self, flip: Flip, *, forged: bool) -> Iterator[None]:
        """Turn the bits while the block lasts; forged: the manifest has the new digest."""
        file = self._files[flip.name]
        digest = hashlib.sha256(file).hexdigest().encode()
        digest_at = self._manifest.find(digest) if forged else 0
        file[flip.at] ^= flip.mask
        if forged:
            fresh = hashlib.sha256(file).hexdigest().encode()
            self._manifest[digest_at : digest_at + len(fresh)] = fresh
        try:
            yield
        finally:
            file[flip.at] ^= flip.mask
            if forged:
                self._manifest[digest_at : digest_at + len(digest)] = digest


def _mapped(path: Path) -> mmap.mmap:
    with path.open("r+b") as stream:
        return mmap.mmap(stream.fileno(), 0)


def _verdict(folder: Path) -> str:
    try:
        verify(folder)
    except DatasetError:
        return "found"
    return "missed"


def _swept(dataset: Path, kernel: str, forged: bool, lookups: int, flips: list[Flip]) -> Outcome:
    """Flip, verify, look up, and flip back, one after the other, in a copy of its own."""
    counts, failures = Counter[tuple[str, str]](), []
    memory = Path("/dev/shm")  # noqa: S108 - only where it is there
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as target:
        folder = copied(dataset, Path(target) / "dataset")
        probe, copy = Probe(kernel, addresses(folder, lookups)), Flippable(folder)
        right = probe.survey(folder)
        for flip in flips:
            with copy.flipped(flip, forged=forged):
                try:
                    actual, answers = _verdict(folder), probe.survey(folder)
                    if flip.name not in (*fmt.ANSWERING, fmt.MANIFEST):
                        probe.explain(folder)
                except Exception:  # noqa: BLE001 - whatever it is, it is reported
                    failures.append(f"{flip}: {traceback.format_exc()}")
                    continue
            counts[flip.name, actual] += 1
            counts[flip.name, "refused" if None in answers else "answered"] += 1
            if actual == "missed" and (not forged or answers != right):
                failures.append(f"{flip}: not found by verify")
        if probe.survey(folder) != right or None in right or _verdict(folder) != "missed":
            failures.append("the last flip was not taken back")
    return counts, failures


def sweep(
    kernel: str,
    *,
    sample: int | None,
    seed: int,
    forged: bool,
    jobs: int,
    lookups: int = LOOKUPS,
    own: bool = False,
) -> Outcome:
    """Flip every byte, or so many; return what became of them. One job runs in this process."""
    dataset = full_dataset() if own else whole("full")
    flips = flips_of(dataset, seed, sample, forged=forged)
    parts = [flips[begin : begin + _PART] for begin in range(0, len(flips), _PART)]
    work = partial(_swept, dataset, kernel, forged, lookups)
    if jobs == 1:
        return _joined(map(work, parts))
    # A crash ends a process of the pool, and with it the pool, with an error.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return _joined(pool.map(work, parts))


def _joined(outcomes: Iterable[Outcome]) -> Outcome:
    listed = list(outcomes)
    failures = [failure for _, item in listed for failure in item]
    return sum((counts for counts, _ in listed), Counter[tuple[str, str]]()), failures


@click.command(help=__doc__)
@click.option("--kernel", type=click.Choice([*KERNELS]), default="compiled")
@click.option("--sample", type=int, help="Flips, at least one a file; all bytes without.")
@click.option("--seed", default=20261121)
@click.option("--own", is_flag=True, help="Of a dataset with own columns.")
@click.option("--forged", is_flag=True, help="With the digests made to fit.")
@click.option("--jobs", default=os.cpu_count() or 1)
def main(**options: Any) -> None:
    """Run the command; exits with 1 where anything is as it must not be."""
    counts, failures = sweep(**options)
    for (name, label), count in sorted(counts.items()):
        click.echo(f"{name:<24} {label:<12} {count:>8,}")
    for failure in failures[:20]:
        click.echo(failure, err=True)
    click.echo(f"{len(failures)} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
