"""A real web server of a mirror, and what was asked of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    """Serve a mirror for the block."""
    with serving(folder_act(folder)) as site:
        yield site


def kinds_asked(site: Site) -> list[str]:
    """Return the folder of each file that was asked for, "" for the index; and forget them."""
    asked = [path.strip("/").rpartition("/")[0] for path, _ in site.asked]
    site.asked.clear()
    return asked
