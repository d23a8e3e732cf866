"""What a reader of a mirror finds."""

from __future__ import annotations

import hashlib
from pathlib import Path

from geolookup.mirrors.index import INDEX, Index, read_index


def index_of(folder: Path) -> Index:
    """Return the index of a mirror, all of whose files must be there and right."""
    index = read_index((folder / INDEX).read_bytes(), None, folder / INDEX)
    for file in index.files:
        content = (folder / file.path).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file.bytes, file.sha256)
    return index


def stats_of(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """Return what changes when a file of a mirror is written, or one is added to a folder."""
    found = {path: path.stat() for path in folder.rglob("*")}
    return {path: (each.st_ino, each.st_mtime_ns, each.st_size) for path, each in found.items()}


def archives_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.glob("*/*")}
