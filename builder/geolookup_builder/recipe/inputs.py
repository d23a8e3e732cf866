"""A digest of all that decides the dataset of a recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import geolookup
import geolookup_builder
from geolookup.contract.tzdatabase import zone_names
from geolookup.errors import BuildError
from geolookup.progress import Progress
from geolookup.remote.cache import sha256_of
from geolookup_builder.demands import Quality
from geolookup_builder.downloads import with_local_paths
from geolookup_builder.recipe.document import Recipe, SourceSpec
from geolookup_builder.sources.reading.inputs import paths


def inputs_of(recipe: Recipe, cache: Path | None) -> str:
    """Return a digest of recipe, files and compiler; empty if they do not decide the dataset.

    A source that is a dataset has other files, and demands compare with ground truth.
    """
    if any(spec.is_dataset for spec in recipe.sources) or recipe.quality != Quality():
        return ""
    try:
        local = with_local_paths(recipe, cache, Progress(silent=True), offline=True)
        if local.warnings:  # of missing sources: every build tells them
            return ""
        tables = filter(None, (recipe.path, recipe.countries, recipe.enrich.stations))
        files = [*filter(Path.is_file, tables)]  # a folder of data has no recipe
        files += [path for spec in local.sources for path in _files_of(spec)]
        lines = [f"{path.name} {sha256_of(path)}" for path in files]
        # The date may be one that a server states.
        lines += [f"{spec.path} {sorted(spec.texts.items())}" for spec in local.sources]
        text = "\n".join((*lines, *_compiler()))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    except (BuildError, OSError):  # the build reports it
        return ""


def _files_of(spec: SourceSpec) -> Iterator[Path]:
    # An option may name a file, such as the names of autonomous systems.
    options = [value for value in spec.options.values() if isinstance(value, str)]
    for pattern in (spec.path, *options):
        yield from (path for path in paths(pattern, spec.base, ("",)) if path.is_file())


def _compiler() -> Iterator[str]:
    """Yield the state of the code, and the names of the time zones: a build depends on both."""
    for package in (geolookup, geolookup_builder):
        for path in sorted(Path(str(package.__file__)).parent.rglob("*.*")):
            if "__pycache__" not in path.parts:
                status = path.stat()
                yield f"{path} {status.st_size} {status.st_mtime_ns}"
    yield from sorted(zone_names())
