"""What the columns of a file are compared with: those of the base, or what they follow from.

The indexes over the starts of intervals follow from another file of the same dataset. Most of
their numbers differ after each inserted interval, and none needs to be written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from geolookup.archives.delta.alignment import Alignment, same_numbers
from geolookup.archives.delta.file import File
from geolookup.archives.delta.parts import Numbers, Texts, Unsigned
from geolookup.archives.delta.streams import PatchError
from geolookup.archives.delta.texts import Column
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import jump_table, sparse_index
from geolookup.dataset.manifest import Manifest

#: The column, by file and name: what computes it, and the file, name and bytes of the starts.
_DERIVED: dict[tuple[str, str], tuple[Callable[[Unsigned], Unsigned], tuple[str, str, int]]] = {
    (fmt.IPV4_JUMP, "interval"): (jump_table, (fmt.IPV4, "start", 4)),
    (fmt.IPV6_SPARSE_INDEX, "start_high"): (sparse_index, (fmt.IPV6, "start_high", 8)),
}


def derived(folder: Path, manifest: Manifest, file: str) -> dict[str, Unsigned]:
    """Return the columns of a file that follow from other files of its dataset, by name.

    Raises PatchError where such a file is missing: the archive left it out.
    """
    return {
        column: compute(_starts(folder, manifest, *of))
        for (name, column), (compute, of) in _DERIVED.items()
        if name == file
    }


def _starts(folder: Path, manifest: Manifest, name: str, column: str, width: int) -> Unsigned:
    try:
        starts = File.opened(folder / name, manifest.file(name)).numbers(column, width)
    except FileNotFoundError:
        raise PatchError(f"{name} is not there before it") from None
    if not len(starts):
        raise PatchError(f"{name} has no starts")
    return starts


@dataclass(frozen=True, slots=True)
class Base:
    """The file of the base, which of its rows are kept, and the columns that are ``derived``."""

    file: File
    rows: Alignment
    derived: dict[str, Unsigned]

    def numbers(self, name: str, part: Numbers) -> tuple[Unsigned, Alignment]:
        """Return what a column of numbers is compared with, and how their rows correspond."""
        values = self.derived.get(name)
        if values is not None and values.itemsize == part.width:
            return values, same_numbers(len(values), part.count)
        values = self.file.numbers(name, part.width)
        return values, self._alignment(len(values), part)

    def texts(self, name: str, part: Texts) -> tuple[Column, Alignment]:
        """Return what a column of texts is compared with, and how their rows correspond."""
        texts = self.file.texts(name)
        return texts, self._alignment(len(texts), part)

    def _alignment(self, former: int, part: Numbers | Texts) -> Alignment:
        by_row = part.by_row and former == len(self.rows.kept)
        return self.rows if by_row else same_numbers(former, part.count)
