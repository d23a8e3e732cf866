"""``changed``: a patch for each file in which a dataset differs from its base."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from geolookup.archives.delta.streams import written
from geolookup.dataset.manifest import read_manifest


def changed(base: Path, target: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and patch of each file of ``target`` that ``base`` does not have, by name.

    Both are folders of datasets with the digests that their manifests state. A file precedes
    those that are derived from it.
    """
    former, manifest = read_manifest(base).files, read_manifest(target).files
    for name, described in sorted(manifest.items()):
        if name not in former or former[name].sha256 != described.sha256:
            yield name, written(np.fromfile(target / name, np.uint8))
