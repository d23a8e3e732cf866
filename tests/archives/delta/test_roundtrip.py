"""A patch of each changed file, applied to the base, gives the bytes of the file."""

from __future__ import annotations

import shutil
from pathlib import Path

from geolookup.archives.delta.applied import applied, largest_patch
from geolookup.archives.delta.changed import changed
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from tests.store.numbered import numbered


def rebuilt(base: Path, target: Path, folder: Path) -> list[str]:
    """Apply the patches of ``target`` over ``base`` in a folder, compare, return the names."""
    folder.mkdir()
    shutil.copy(target / fmt.MANIFEST, folder)
    names = []
    for name, patch in changed(base, target):
        found = applied(base, folder, name, patch)
        assert bytes(found) == (target / name).read_bytes(), name
        assert len(patch) <= largest_patch(len(found))
        (folder / name).write_bytes(found)
        names.append(name)
    return names


def test_changed_files_are_rebuilt(tmp_path: Path) -> None:
    base, target = numbered(tmp_path / "a", 1), numbered(tmp_path / "b", 2)
    names = rebuilt(base, target, tmp_path / "made")
    assert {fmt.LOCATION, fmt.NETWORK} <= set(names)
    former, fresh = read_manifest(base).files, read_manifest(target).files
    assert names == sorted(n for n in fresh if former[n].sha256 != fresh[n].sha256)


def test_a_dataset_over_itself_has_no_patches(tmp_path: Path) -> None:
    base = numbered(tmp_path / "a", 1)
    assert list(changed(base, base)) == []
