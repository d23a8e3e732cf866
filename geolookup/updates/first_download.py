"""Before the first download of a source: its licence and credit line, and what the update needs.

The estimate is of the plain bytes of all files, a compressed one with eight times its own. The
recipe ``cities`` with 8 million rows, 87 MB packed, took 720 MB of memory, 262 MB of disk and 23 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.errors import BuildError
from geolookup.filesystem.cache import default_folder
from geolookup.filesystem.unpacking import packing
from geolookup.remote.cache import CacheEntry
from geolookup.remote.transfer import ask

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe, SourceSpec

#: Plain bytes of an update that needs little.
LARGE = 10_000_000
_RATIO = 8  # of CSV, unpacked to packed
_LEAST_MEMORY, _MEMORY_PER_BYTE = 200e6, 0.75
_DISK_PER_BYTE = 0.25  # of the dataset
_BYTES_PER_SECOND = 20e6


def first_download(recipe: Recipe, cache: Path | None, *, compiles: bool) -> Iterator[str]:
    """Yield lines about the sources that are not in the cache; ``compiles``: also on the build."""
    download, plain, is_known = 0, 0, True
    folder = cache or default_folder()
    for spec in recipe.sources:
        if spec.remote is None:
            continue
        cached, size = CacheEntry(folder, spec.remote).current(spec.sha256), None
        if cached is None:
            yield from _terms(spec)
            with suppress(BuildError):  # the download tells it
                size = ask(spec.remote, spec.sha256, folder).bytes
            download += size or 0
        total = cached.bytes if cached else size
        is_known = is_known and total is not None
        plain += (total or 0) * (_RATIO if packing(Path(spec.remote.file)) else 1)
    if download and plain >= LARGE and is_known:
        needs = f"; needs about {_needs(download, plain)}" if compiles else ""
        yield f"downloads {_size(download)}{needs}"


def _terms(spec: SourceSpec) -> Iterator[str]:
    """Yield the line of the licence and the credit of a source, if it states any."""
    texts = spec.texts
    credit = f"credit it as {texts['attribution']!r}" if "attribution" in texts else ""
    terms = [text for text in (texts.get("licence", ""), credit, texts.get("url", "")) if text]
    if terms:
        yield f"{spec.name}: {', '.join(terms)}"


def _needs(download: int, plain: int) -> str:
    memory = _LEAST_MEMORY + _MEMORY_PER_BYTE * plain
    disk = download + _DISK_PER_BYTE * plain
    minutes = max(1, round(plain / _BYTES_PER_SECOND / 60))
    time = f"{minutes} minutes" if minutes > 1 else "a minute"
    return f"{_size(memory)} of memory, {_size(disk)} of disk and {time} after the download"


def _size(size: float) -> str:
    """Return a size in round numbers: ``93 MB``, ``1.4 GB``."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"
