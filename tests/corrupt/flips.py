"""Single bytes of a dataset flipped in place, and taken back."""

from __future__ import annotations

import hashlib
import mmap
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from geolookup.dataset import layout as fmt

MASKS = (1, 2, 4, 8, 16, 32, 64, 128, 255)


@dataclass(frozen=True, slots=True)
class Flip:
    """One byte of a file, and the bits of it that are turned."""

    name: str
    at: int
    mask: int


def every_flip(dataset: Path, seed: int) -> list[Flip]:
    """Return a flip of every byte of every file; the bits are seeded."""
    rng = random.Random(seed)
    return [
        Flip(path.name, at, rng.choice(MASKS))
        for path in sorted(dataset.iterdir())
        for at in range(path.stat().st_size)
    ]


class Flippable:
    """A dataset whose files are mapped to be written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = {path.name: _mapped(path) for path in folder.iterdir()}
        manifest = bytes(self._files[fmt.MANIFEST])
        self._digests = {
            name: (digest, manifest.index(digest.encode()))
            for name, content in self._files.items()
            if name != fmt.MANIFEST
            for digest in [hashlib.sha256(content).hexdigest()]
        }

    @contextmanager
    def flipped(self, flip: Flip, *, forged: bool) -> Iterator[None]:
        """Turn the bits while the block lasts; forged: the manifest has the new digest."""
        file = self._files[flip.name]
        file[flip.at] ^= flip.mask
        if forged:
            self._state(flip.name, hashlib.sha256(file).hexdigest())
        try:
            yield
        finally:
            file[flip.at] ^= flip.mask
            if forged:
                self._state(flip.name, self._digests[flip.name][0])

    def _state(self, name: str, digest: str) -> None:
        at = self._digests[name][1]
        self._files[fmt.MANIFEST][at : at + len(digest)] = digest.encode()


def _mapped(path: Path) -> mmap.mmap:
    with path.open("r+b") as stream:
        return mmap.mmap(stream.fileno(), 0)
