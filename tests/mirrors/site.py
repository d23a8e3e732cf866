"""A real web server of a mirror, what was asked of it, and what a reader of the folder finds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geolookup.mirrors.index import INDEX, Index, read_index
from tests.builder.remote.serving import Act, Handler, Site, file, serving


def folder_act(folder: Path) -> Act:
    """Serve the files of a folder, with ETags, conditions and ranges."""

    def act(handler: Handler) -> None:
        path = folder / handler.path.partition("?")[0].lstrip("/")
        if not path.is_file():
            return handler.answer(404)
        content = path.read_bytes()
        return file(content, etag_of(content))(handler)

    return act


def etag_of(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:16]}"'


@contextmanager
def mirror_site(folder: Path) -> Iterator[Site]:
    with serving(folder_act(folder)) as site:
        yield site


def kinds_asked(site: Site) -> list[str]:
    """Return the folder of each file that was asked for, "" for the index; and forget them."""
    asked = [path.strip("/").rpartition("/")[0] for path, _ in site.asked]
    site.asked.clear()
    return asked


def index_of(folder: Path) -> Index:
    index = read_index((folder / INDEX).read_bytes(), None, folder / INDEX)
    for each in index.files:
        content = (folder / each.path).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (each.bytes, each.sha256)
    return index


def stats_of(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """Return what changes when a file of a mirror is written, or one is added to a folder."""
    found = {path: path.stat() for path in folder.rglob("*")}
    return {path: (each.st_ino, each.st_mtime_ns, each.st_size) for path, each in found.items()}


def archives_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.glob("*/*")}
