"""Whether an update would compile the current generation again: from the same files, the same way.

The record of the last update that succeeded has two digests: of everything that decides its
dataset, and of the manifest that it published. If both are the same, and the files of the
generation have the digests of the manifest, nothing is compiled.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import geolookup
from geolookup.contract.tzdatabase import zone_names
from geolookup.dataset import layout as fmt
from geolookup.dataset.checksums import wrong_files
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import BuildError, DatasetError
from geolookup.filesystem import open_regular
from geolookup.progress import Progress
from geolookup.signing.statement import SIGNATURE

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe, SourceSpec

_CHUNK = 1 << 20


def inputs_of(recipe: Recipe, cache: Path | None) -> str:
    """Return a digest of recipe, files and compiler; empty if they do not decide the dataset.

    A source that is a dataset has other files, and demands compare with ground truth.
    """
    from geolookup_builder.recipe.quality import Quality

    if any(spec.is_dataset for spec in recipe.sources) or recipe.quality != Quality():
        return ""
    from geolookup_builder.downloads import with_local_paths

    try:
        local = with_local_paths(recipe, cache, Progress(silent=True), offline=True)
        if local.warnings:  # of missing sources: every build tells them
            return ""
        tables = filter(None, (recipe.path, recipe.countries, recipe.enrich.stations))
        files = [*filter(Path.is_file, tables)]  # a folder of data has no recipe
        files += [path for spec in local.sources for path in _files_of(spec)]
        # The date may be one that a server states.
        texts = [f"{spec.path} {sorted(spec.texts.items())}" for spec in local.sources]
        return _digest(files, [*texts, *_machine()])
    except (BuildError, OSError):  # the build reports it
        return ""


def _files_of(spec: SourceSpec) -> Iterator[Path]:
    from geolookup_builder.sources.reading.inputs import paths

    # An option may name a file, such as the names of autonomous systems.
    options = [value for value in spec.options.values() if isinstance(value, str)]
    for pattern in (spec.path, *options):
        yield from (path for path in paths(pattern, spec.base, ("",)) if path.is_file())


def _machine() -> Iterator[str]:
    """Yield the state of the code, and the names of the time zones: a build depends on both."""
    import geolookup_builder

    for package in (geolookup, geolookup_builder):
        for folder, folders, names in os.walk(Path(str(package.__file__)).parent):
            folders.sort()
            if not folder.endswith("__pycache__"):
                for name in sorted(names):
                    status = Path(folder, name).stat()
                    yield f"{folder}/{name} {status.st_size} {status.st_mtime_ns}"
    yield from sorted(zone_names())


def publication_digest(folder: Path) -> str:
    """Return a digest of the manifest and the signature of a dataset; empty without a manifest."""
    manifest, signature = folder / fmt.MANIFEST, folder / SIGNATURE
    with suppress(OSError):
        return _digest([manifest, *filter(Path.is_file, [signature])], [])
    return ""


def is_whole(folder: Path) -> bool:
    """Return whether the files of a dataset have the digests of its manifest."""
    try:
        return next(wrong_files(folder, read_manifest(folder)), None) is None
    except DatasetError:
        return False


def _digest(files: list[Path], texts: list[str]) -> str:
    digest = hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass"))
    for path in files:
        digest.update(b"\0" + os.fsencode(path.name) + b"\0")
        with open_regular(path) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()
