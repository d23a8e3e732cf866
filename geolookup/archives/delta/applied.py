"""``applied``: the bytes of a file, from a patch and the base.

Strategy: the manifest of the new dataset says where each buffer of the file lies, and the patch
what the buffers hold. Memory is taken for the file and for a few columns at a time.
"""

from __future__ import annotations

from pathlib import Path

from geolookup.archives.delta.alignment import read_alignment, same_numbers
from geolookup.archives.delta.base import Base, derived
from geolookup.archives.delta.file import File
from geolookup.archives.delta.numbers import read_numbers
from geolookup.archives.delta.parts import Numbers, parts_of
from geolookup.archives.delta.streams import PatchError, Streams
from geolookup.archives.delta.texts import Column, read_texts
from geolookup.dataset.manifest import read_manifest


def largest_patch(size: int) -> int:
    """Return the most bytes that the patch of a file of so many bytes may have."""
    return size + size // 16 + (1 << 16)


def applied(base: Path, target: Path, name: str, patch: bytes) -> memoryview:
    """Return the bytes of the file ``name`` of a new dataset.

    ``base`` is the folder of the base, whose files have the digests that its manifest states.
    ``target`` is the folder of the new dataset: it has its manifest already, and the files that
    others are derived from. The bytes have the size that the manifest states; their digest is
    not checked. Raises PatchError, a ValueError, for a patch that is damaged or hostile, OSError
    for a file that cannot be read.
    """
    manifest = read_manifest(target)
    described = manifest.file(name)
    if described is None:
        raise PatchError("the manifest does not describe the file")
    parts, streams = parts_of(described), Streams(patch)
    former = File.opened(base / name, read_manifest(base).file(name))
    rows = read_alignment(streams, former.parts.rows, parts.rows)
    file = File.empty(parts)
    _fill(file, Base(former, rows, derived(target, manifest, name)), streams)
    streams.end()
    return file.whole.data


def _fill(file: File, base: Base, streams: Streams) -> None:
    """Fill all parts of a file, in the order in which ``changed`` wrote them."""
    for name, part in file.parts.named.items():
        if isinstance(part, Numbers):
            read_numbers(streams, part.of(file.whole), *base.numbers(name, part))
        else:
            read_texts(streams, Column.of(part, file.whole), *base.texts(name, part))
    former, frame = base.file.frame(), file.frame()
    read_numbers(streams, frame, former, same_numbers(len(former), len(frame)))
    file.set_frame(frame)
