"""Flips of a seeded sample of the bytes of a small dataset.

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
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from geolookup.errors import DatasetError
from tests.corrupt.probe import KERNELS, Probe, addresses, read_whole
from tests.damage import copied
from tests.internals.dataset import layout as fmt
from tests.internals.integrity import verify

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
