"""Flipped bits of every kind of dataset: a seeded sample.

Every flip must be found by ``verify``; ``open``, lookups and reads of whole tables on it,
unverified, must answer by the contract or raise DatasetError. A forged flip has its digest in the
manifest: ``verify`` gets to read the columns. A flip that it misses must change no answer, but in
the texts of rows it may change their values.
"""

from __future__ import annotations

import hashlib
import mmap
import random
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import pytest

from geolookup.errors import DatasetError
from tests.corrupt.probe import KERNELS, LOOKUPS, Probe, addresses, read_whole
from tests.damage import copied, crowded, whole
from tests.internals.dataset import layout as fmt
from tests.internals.integrity import verify
from tests.own_sources import own_dataset
from tests.skips import needs
from tests.tiers import one_of_each, scaled

_PART = 500
#: Files whose texts of rows ``verify`` does not compare with the columns.
_TEXTS = (fmt.LOCATION, fmt.NETWORK, fmt.COUNTRY, fmt.OWN)


class Flip(NamedTuple):
    """One byte of a file, and the bits of it that are turned."""

    name: str
    at: int
    mask: int


#: Counts by file and outcome, and what must not be.
Outcome = tuple[Counter[tuple[str, str]], list[str]]


def damages_of(
    dataset: Path, sample: int, *, forged: bool, files: Collection[str], together: int
) -> list[list[Flip]]:
    """Return a seeded sample of flips with repetition, at least one a file.

    ``files`` are those to damage; ``together`` flips are done at once.
    """
    rng = random.Random(20261121)
    flips = [
        Flip(path.name, at, rng.choice((1, 2, 4, 8, 16, 32, 64, 128, 255)))
        for path in sorted(dataset.iterdir())
        for at in range(path.stat().st_size)
        if path.name in files
    ]
    if together > 1:
        return [rng.sample(flips, together) for _ in range(sample)]
    by_file = {flip.name: flip for flip in rng.sample(flips, len(flips))}
    return [[flip] for flip in (*by_file.values(), *rng.choices(flips, k=sample - len(by_file)))]


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


def _swept(dataset: Path, forged: bool, lookups: int, damages: list[list[Flip]]) -> Outcome:
    """Flip, verify, look up, and flip back, one after the other, in a copy of its own."""
    counts, failures = Counter[tuple[str, str]](), []
    memory = Path("/dev/shm")  # noqa: S108 - only where it is there
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as target:
        folder = copied(dataset, Path(target) / "dataset")
        texts, copy = addresses(folder, lookups), Flippable(folder)
        asked = [Probe(kernel, texts) for kernel in KERNELS]
        right = [probe.survey(folder) for probe in asked]
        for flips in damages:
            with ExitStack() as damage:
                for flip in flips:
                    damage.enter_context(copy.flipped(flip, forged=forged))
                try:
                    actual, answers = _verdict(folder), [probe.survey(folder) for probe in asked]
                    if flips[0].name in (*fmt.ANSWERING, fmt.MANIFEST, fmt.OWN):
                        read_whole(folder)
                    else:
                        asked[0].explain(folder)
                except Exception:  # noqa: BLE001 - whatever it is, it is reported
                    failures.append(f"{flips}: {traceback.format_exc()}")
                    continue
            name = flips[0].name if len(flips) == 1 else "several"
            counts[name, actual] += 1
            counts[name, "refused" if any(None in each for each in answers) else "answered"] += 1
            if actual == "missed" and not (forged and (name in _TEXTS or answers == right)):
                failures.append(f"{flips}: not found by verify")
        again = [probe.survey(folder) for probe in asked]
        if again != right or any(None in each for each in right) or _verdict(folder) != "missed":
            failures.append("the last flip was not taken back")
    return counts, failures


def sweep(
    dataset: Path,
    *,
    sample: int,
    forged: bool,
    files: Collection[str],
    together: int,
    jobs: int,
    lookups: int,
) -> Outcome:
    """Flip so many bytes; return what became of them. One job runs in this process."""
    damages = damages_of(dataset, sample, forged=forged, files=files, together=together)
    parts = [damages[begin : begin + _PART] for begin in range(0, len(damages), _PART)]
    work = partial(_swept, dataset, forged, lookups)
    if jobs == 1:
        return _joined(map(work, parts))
    # A crash ends a process of the pool, and with it the pool, with an error.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return _joined(pool.map(work, parts))


def _joined(outcomes: Iterable[Outcome]) -> Outcome:
    listed = list(outcomes)
    failures = [failure for _, item in listed for failure in item]
    return sum((counts for counts, _ in listed), Counter[tuple[str, str]]()), failures


class Case(NamedTuple):
    """A dataset, the files to damage, flips in the two tiers, and how they are made."""

    dataset: Callable[[], Path]
    files: Collection[str]
    fast: int
    full: int
    together: int = 1
    forged: bool = False
    #: the least share of an outcome: "found" by verify, "answered" and "refused" lookups
    shares: Mapping[str, float] = {"found": 1}


EVERY = (fmt.MANIFEST, *fmt.FILES)
_OWN = (fmt.OWN, fmt.IPV4, fmt.IPV6)
_SEARCHED = (fmt.IPV4_JUMP, fmt.IPV4, fmt.IPV6, fmt.IPV6_SPARSE_INDEX)
#: The rest of the bytes is padding.
_FORGED = {"found": 0.34}
_ANSWERED = {"found": 1, "answered": 0.25, "refused": 0.1}
CASES = {
    "any file": Case(whole, EVERY, 24, 800, shares=_ANSWERED),
    "forged": Case(whole, EVERY[1:], 20, 150, forged=True, shares=_FORGED),
    "own columns": Case(own_dataset, _OWN, 6, 120),
    "own columns, forged": Case(own_dataset, _OWN, 8, 120, forged=True, shares=_FORGED),
    "many intervals close together": Case(crowded, _SEARCHED, 12, 150),
    "many flips at once": Case(whole, EVERY[1:], 4, 60, together=90),
}


@needs("geolookup.kernel._compiled")
@pytest.mark.parametrize("name", one_of_each(CASES, lambda name: CASES[name].shares is _FORGED))
def test_every_flip_is_found_and_no_lookup_leaves_the_contract(name: str) -> None:
    """In this process, or in processes of their own, whose crash is a failure like others."""
    case = CASES[name]
    flips = scaled(case.fast, case.full)
    counts, failures = sweep(
        case.dataset(),
        sample=flips,
        forged=case.forged,
        files=case.files,
        together=case.together,
        jobs=scaled(1, 2),
        lookups=scaled(0, LOOKUPS // 4),
    )
    assert failures == []
    total = {
        outcome: sum(count for (_, label), count in counts.items() if label == outcome)
        for outcome in ("found", "missed", "answered", "refused")
    }
    assert total["found"] + total["missed"] == total["answered"] + total["refused"] == flips
    assert {file for file, _ in counts} == ({*case.files} if case.together == 1 else {"several"})
    for outcome, share in case.shares.items():
        assert total[outcome] >= flips * share, outcome
