"""A file of a dataset: its bytes and their parts."""

from __future__ import annotations

from dataclasses import dataclass
from mmap import mmap
from pathlib import Path

import numpy as np

from geolookup.archives.delta.parts import NONE, UNSIGNED, Bytes, Numbers, Parts, Unsigned, parts_of
from geolookup.archives.delta.streams import PatchError
from geolookup.archives.delta.texts import EMPTY, Column
from geolookup.dataset.manifest import FileDescription


@dataclass(frozen=True, slots=True)
class File:
    """The bytes of a file, and where its parts are."""

    parts: Parts
    whole: Bytes

    @classmethod
    def opened(cls, path: Path, described: FileDescription | None) -> File:
        """Map a file as described; one that is not described has no parts.

        Raises OSError where it cannot be read, PatchError where it is not as described.
        """
        if described is None:
            return cls(NONE, np.zeros(0, np.uint8))
        parts = parts_of(described)
        if path.stat().st_size != parts.size:
            raise PatchError(f"{path.name} has not the size that the manifest states")
        return cls(parts, np.memmap(path, np.uint8, mode="r"))

    @classmethod
    def empty(cls, parts: Parts) -> File:
        """Return a file of zeros, to be filled.

        Its memory returns to the system with the last view of it. That of a large array does
        not: the allocator keeps it, beside what ``verify`` takes next.
        """
        return cls(parts, np.frombuffer(mmap(-1, parts.size), np.uint8))

    def numbers(self, name: str, width: int) -> Unsigned:
        """Return the numbers of this name; none where it has none of that width."""
        part = self.parts.named.get(name)
        if isinstance(part, Numbers) and part.width == width:
            return part.of(self.whole)
        return np.zeros(0, UNSIGNED[width])

    def texts(self, name: str) -> Column:
        """Return the texts of this name; none where it has none."""
        part = self.parts.named.get(name)
        return EMPTY if part is None or isinstance(part, Numbers) else Column.of(part, self.whole)

    def frame(self) -> Bytes:
        """Return the bytes outside all parts: schema, padding and footer of the Arrow file."""
        places = [place.of(self.whole) for place in self.parts.frame]
        return np.concatenate([self.whole[:0], *places])

    def set_frame(self, frame: Bytes) -> None:
        """Write the bytes outside all parts."""
        at = 0
        for place in self.parts.frame:
            place.of(self.whole)[:] = frame[at : at + place.length]
            at += place.length
