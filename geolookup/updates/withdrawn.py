"""Whether a rollback withdrew what a new dataset says.

A generation id depends on the row numbers, and these on the base of the build. The current
generation is the base, and a rollback makes another one current. So where the ids differ, what the
datasets say is compared.
"""

from __future__ import annotations

from pathlib import Path

from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.store import pointer


def is_withdrawn(store: Path, dataset: Path, generation: str) -> bool:
    """Return whether a withdrawn generation of a store says what a dataset says."""
    withdrawn = {each.generation for each in pointer.read(store) if each.withdrawn}
    if generation in withdrawn:
        return True
    folders = (Path(pointer.folder_of(store, each)) for each in withdrawn)
    return any(_say_the_same(folder, dataset) for folder in folders)


def _say_the_same(old: Path, new: Path) -> bool:
    """Return whether manifests and answers are equal; False for a generation that does not open."""
    from geolookup.comparison import diff

    try:
        if read_manifest(old).logical() != read_manifest(new).logical():
            return False
        parts = diff(old, new, top=0).parts.values()
    except DatasetError:
        return False
    changes = (each for part in parts for each in part.fields.values())
    return not any(each.null_gained or each.null_lost or each.changed for each in changes)
