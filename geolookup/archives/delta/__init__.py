"""The patches of a dataset's files: ``file_patches`` makes them, ``apply_patch`` reads one.

A patch is a sequence of arrays (``streams``). It states no sizes: the manifests of the base and of
the new dataset describe the columns, and patch and file are walked in their order::

    patch     = alignment column* column       the last column: the bytes between all columns
    alignment = positions positions            rows of the base deleted; rows of the file inserted
    column    = numbers | texts                as the manifest says
    numbers   = 0 values                       the values themselves
              | 1 sparse values                the kept rows with another value; the inserted rows
              | 2 sparse values                where the growth of kept rows changes, and by what;
                                               the inserted rows, less the kept one before each
    texts     = positions lengths bytes        kept rows that differ; these and the inserted texts
    sparse    = positions values
    positions = values                         gaps: 3, 4 and 9 are 3, 0 and 4

An example: the base has the rows 10, 20, 30, 40, and the file 10, 15, 21, 31, 41. Row 1 of the
file is inserted, none is deleted: positions [], [1]. The kept rows have grown by 0, 1, 1, 1.
Way 2 writes that as the position 1 and the value 1, then 5 for the inserted row: 15 = 10 + 5.

The patch mode of zstd aligns no rows: its patches have four to eight times as many bytes
(``benchmarks/published/delta-zstd.txt``).

A patch is not trusted. The manifests describe the columns and so bound its arrays before memory is
allocated. The caller checks the digest of the result.

Strategy: the manifest has the byte range of each column of a file. Columns are compared with the
columns of the base by name, the bytes between them (``frame``) as one more column. The indexes over
the starts of intervals follow from another file of the same dataset. Most of their numbers differ
after each inserted interval, and none needs to be written. Memory is allocated for the file and for
a few columns at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path

import numpy as np

from geolookup.archives.delta.columns import Values, column_text, read_column
from geolookup.archives.delta.parts import NONE, Bytes, Numbers, Parts, Unsigned, parts_of
from geolookup.archives.delta.rows import (
    Alignment,
    align,
    alignment_text,
    read_alignment,
    same_numbers,
)
from geolookup.archives.delta.streams import PatchError, Streams
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import jump_table, sparse_index
from geolookup.dataset.manifest import FileDescription, Manifest, read_manifest
from geolookup.errors import REBUILD, DatasetError

#: For each index, by file and column: its function, and the file and the column of the starts.
_DERIVED: dict[tuple[str, str], tuple[Callable[[Unsigned], Unsigned], str, str]] = {
    (fmt.IPV4_JUMP, "interval"): (jump_table, fmt.IPV4, "start"),
    (fmt.IPV6_SPARSE_INDEX, "start_high"): (sparse_index, fmt.IPV6, "start_high"),
}


def file_patches(base: Path, target: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and patch of each file of ``target`` that ``base`` does not have, by name.

    Both are folders of datasets. A file precedes those that are derived from it. The same
    files give the same patches under one version of geolookup and Arrow. Raises DatasetError
    for files that are not as their manifests say.
    """
    former, manifest = read_manifest(base), read_manifest(target)
    for name, description in sorted(manifest.files.items()):
        before = former.file(name)
        if before is not None and before.sha256 == description.sha256:
            continue
        try:
            patch = _patch(base, former, target, manifest, name)
        except (OSError, ValueError) as error:  # the base classes of Arrow's errors, and PatchError
            problem = f"{name} differs from its manifest here or in {base} ({error})"
            raise DatasetError(target, problem, REBUILD) from error
        yield name, patch


def _patch(base: Path, former: Manifest, target: Path, manifest: Manifest, name: str) -> bytes:
    """Write alignment, columns and frame, in the order of ``apply_patch``."""
    before = _File.from_path(base / name, former.file(name))
    file = _File.from_path(target / name, manifest.file(name))
    rows = align(base / name, target / name, before.parts.rows, file.parts.rows)
    pairs = _pairs(file, before, rows, _derived_columns(target, manifest, name))
    frames = file.frame(), before.frame()
    written = [alignment_text(rows), *(column_text(*pair) for pair in pairs)]
    return b"".join([*written, column_text(*frames, same_numbers(len(frames[1]), len(frames[0])))])


def largest_patch(size: int) -> int:
    """Return the most bytes that the patch of a file of so many bytes may have."""
    # An incompressible file: its bytes, and heads and frames of the arrays.
    return size + size // 16 + (1 << 16)


def apply_patch(base: Path, target: Path, name: str, patch: bytes) -> memoryview:
    """Return the bytes of the file ``name`` of a new dataset.

    ``base`` is the folder of the base, whose files have the digests that its manifest states.
    ``target`` is the folder of the new dataset: it has its manifest already, and the files that
    others are derived from. The bytes have the size that the manifest states; their digest is not
    checked. Raises PatchError, a ValueError, if the patch is damaged or hostile, OSError if a file
    cannot be read.
    """
    manifest = read_manifest(target)
    description = manifest.file(name)
    if description is None:
        raise PatchError("the manifest does not describe the file")
    file, streams = _File.empty(parts_of(description)), Streams(patch)
    before = _File.from_path(base / name, read_manifest(base).file(name))
    rows = read_alignment(streams, before.parts.rows, file.parts.rows)
    for pair in _pairs(file, before, rows, _derived_columns(target, manifest, name)):
        read_column(streams, *pair)
    frame, former = file.frame(), before.frame()
    read_column(streams, frame, former, same_numbers(len(former), len(frame)))
    file.set_frame(frame)
    streams.end()
    return file.whole.data


@dataclass(frozen=True, slots=True)
class _File:
    """The bytes of a file, and where its parts are."""

    parts: Parts
    whole: Bytes

    @classmethod
    def from_path(cls, path: Path, description: FileDescription | None) -> _File:
        """Map a file as described; one that is not described has no parts.

        Raises OSError if it cannot be read, PatchError if it is not as described.
        """
        if description is None:
            return cls(NONE, np.zeros(0, np.uint8))
        parts = parts_of(description)
        if path.stat().st_size != parts.size:
            raise PatchError(f"{path.name} has not the size that the manifest states")
        return cls(parts, np.memmap(path, np.uint8, mode="r"))

    @classmethod
    def empty(cls, parts: Parts) -> _File:
        """Return a file of zeros, to be filled.

        Its memory returns to the system with the last view of it. The allocator would keep the
        memory of a large array, beside the memory of ``verify``.
        """
        return cls(parts, np.frombuffer(mmap(-1, parts.size), np.uint8))

    def frame(self) -> Bytes:
        """Return the bytes outside all parts: schema, padding and footer of the Arrow file."""
        # whole[:0] first: np.concatenate needs one array, also where no frame exists.
        return np.concatenate([self.whole[:0], *(part.of(self.whole) for part in self.parts.frame)])

    def set_frame(self, frame: Bytes) -> None:
        """Write the bytes outside all parts."""
        at = 0
        for part in self.parts.frame:
            part.of(self.whole)[:] = frame[at : at + part.length]
            at += part.length


def _pairs(
    file: _File, former: _File, rows: Alignment, derived: dict[str, Unsigned]
) -> Iterator[tuple[Values, Values, Alignment]]:
    """Yield each column of a file, its former column, and how their rows correspond."""
    for name, part in file.parts.by_name.items():
        values, before = part.of(file.whole), former.parts.by_name.get(name)
        index = derived.get(name)
        # A computed index that equals the stored one leaves an empty difference.
        if index is not None and index.itemsize == part.width:
            yield values, index, same_numbers(len(index), part.count)
            continue
        same_kind = before is not None and before.width == part.width
        base = before.of(former.whole) if before is not None and same_kind else part.none()
        # The values of a dictionary are not by row: they correspond by their numbers.
        by_row = part.by_row and len(base) == len(rows.base_mask)
        yield values, base, rows if by_row else same_numbers(len(base), part.count)


def _derived_columns(folder: Path, manifest: Manifest, file: str) -> dict[str, Unsigned]:
    """Return the columns of a file that follow from other files of its dataset, by name.

    Raises PatchError if such a file is missing: the archive left it out.
    """
    return {
        column: compute(_starts(folder, manifest, *of))
        for (name, column), (compute, *of) in _DERIVED.items()
        if name == file
    }


def _starts(folder: Path, manifest: Manifest, name: str, column: str) -> Unsigned:
    try:
        file = _File.from_path(folder / name, manifest.file(name))
    except FileNotFoundError:
        raise PatchError(f"{name} does not precede it") from None
    part = file.parts.by_name.get(column)
    if not isinstance(part, Numbers) or part.width != (4 if name == fmt.IPV4 else 8):
        raise PatchError(f"{name} has no starts")
    if not part.count:
        raise PatchError(f"{name} has no starts")
    return part.of(file.whole)
