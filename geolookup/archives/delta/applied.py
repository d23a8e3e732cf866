"""``applied``: the bytes of a file, from a patch and the base."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from geolookup.archives.delta.streams import PatchError, Streams
from geolookup.dataset.manifest import read_manifest


def largest_patch(size: int) -> int:
    """Return the most bytes that the patch of a file of so many bytes may have."""
    return size + size // 16 + (1 << 16)


def applied(base: Path, target: Path, name: str, patch: bytes) -> memoryview:  # noqa: ARG001 - literal so far
    """Return the bytes of the file ``name`` of a new dataset.

    ``base`` is the folder of the base, ``target`` that of the new dataset: it has its manifest
    already, and the files whose patches came before. The bytes have the size that the manifest
    states; their digest is not checked. Raises PatchError, a ValueError, for a patch that is
    damaged or hostile.
    """
    described = read_manifest(target).file(name)
    if described is None or described.bytes is None:
        raise PatchError("the manifest does not describe the file")
    streams = Streams(patch)
    found = streams.next(np.uint8, described.bytes)
    streams.end()
    if len(found) != described.bytes:
        raise PatchError(f"{len(found)} bytes where the manifest says {described.bytes}")
    return found.data
