"""The files of a recipe: downloaded or cached, checked by digest, with local paths."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

import geolookup
from geolookup.contract.tzdatabase import zone_names
from geolookup.errors import BuildError, DownloadError, OutputError
from geolookup.filesystem.cache import default_folder
from geolookup.filesystem.unpacking import packing
from geolookup.progress import Progress
from geolookup.remote import Version
from geolookup.remote.address import Remote
from geolookup.remote.cache import CacheEntry, sha256_of
from geolookup.remote.key import key_of
from geolookup.remote.transfer import FetchedFile, fetch
from geolookup_builder.dataset_source import location
from geolookup_builder.demands import Quality
from geolookup_builder.recipe.document import LAST_MODIFIED, Recipe, SourceSpec
from geolookup_builder.sources.reading.inputs import members, paths
from geolookup_builder.sources.reading.reader import CLOCKS_DIFFER

_CHUNK = 1 << 20
_DOWNLOAD = "download it with 'geolookup update RECIPE --download-only'"
_STATE_DATE = "write the date into the recipe"


class NotInCacheError(BuildError):
    """A remote file that must be downloaded first."""


def download(
    spec: SourceSpec, remote: Remote, cache: Path | None, progress: Progress
) -> FetchedFile:
    """Download the file of a source unless it is current; by default into the user's cache.

    Raises BuildError.
    """
    with progress.stage(f"fetching {spec.name}"):
        folder = cache or default_folder()
        return fetch(remote, spec.sha256, folder, progress, read_through=read_through)


def with_strict_cache(recipe: Recipe) -> Recipe:
    """Return the recipe with downloads that are used only if no other user can change them."""
    sources = tuple(
        replace(spec, remote=spec.remote and replace(spec.remote, strict=True))
        for spec in recipe.sources
    )
    return replace(recipe, sources=sources)


def check_keys(recipe: Recipe) -> None:
    """Raise BuildError for a key that is missing or malformed, before the first download.

    A source with a digest may need none: its file may be in the cache.
    """
    for spec in recipe.sources:
        if spec.remote and not spec.sha256:
            key_of(spec.remote)


def read_through(path: Path) -> None:
    """Read a compressed file up to its checksum; BuildError for a damaged one."""
    if not packing(path):
        return
    for member in members(path.name, path.parent, ("",)):
        with member.open() as stream:
            while stream.read(_CHUNK):
                pass


@contextmanager
def refusing(cache: Path | None, spec: SourceSpec) -> Iterator[None]:
    """Refuse the downloaded file of a source if the block cannot read it.

    The last copy that compiled is current again, and the error names it. A file with the
    digest of the recipe is never refused.
    """
    try:
        yield
    except BuildError as error:
        compiled = None
        if spec.remote is not None and not spec.sha256:
            with suppress(BuildError, OutputError):  # in use or read-only: the first error counts
                compiled = _entry(spec.remote, cache).refuse(Path(spec.path))
        if spec.remote is None or compiled is None:
            raise
        date = datetime.fromtimestamp(compiled.path.stat().st_mtime, UTC)
        copy = f"the copy of {spec.remote.safe_uri} from {date:%Y-%m-%d} that last compiled"
        remedies = (error.remedy, f"'geolookup build --offline' reads {copy}")
        remedy = "; ".join(filter(None, remedies))
        raise BuildError(error.path, error.problem, line=error.line, remedy=remedy) from error


def accept(sources: Iterable[SourceSpec], cache: Path | None) -> None:
    """Note that the downloaded files of these sources have compiled."""
    for spec in sources:
        if spec.remote is not None:
            # The dataset is complete. A read-only cache has the same files for the next build.
            with suppress(BuildError, OutputError):
                _entry(spec.remote, cache).accept(Path(spec.path))


def with_local_paths(
    recipe: Recipe, cache: Path | None, progress: Progress, *, offline: bool
) -> Recipe:
    """Return the recipe with local paths only; by default with the user's cache folder.

    With ``on_missing = "skip"`` a source that is missing is left out, with a warning. Raises
    BuildError if all are, or another file cannot be downloaded or has another digest than stated.
    """
    if not offline:
        check_keys(recipe)
    sources, warnings = list[SourceSpec](), list[str]()
    for spec in recipe.sources:
        local, warning = _local_or_missing(spec, cache, progress, offline)
        warnings += [f"{spec.name}: {warning}"] if warning else []
        sources += [local] if local else []
    if not sources:
        problem = f"all sources are missing: {', '.join(warnings)}"
        raise BuildError(recipe.path, problem, remedy="provide the files of one source at least")
    return replace(recipe, sources=tuple(sources), warnings=tuple(warnings))


def _local_or_missing(
    spec: SourceSpec, cache: Path | None, progress: Progress, offline: bool
) -> tuple[SourceSpec | None, str]:
    """Return a source with a local path, None if it is missing and may be, and a warning.

    A damaged file is not missing, nor is one with another digest.
    """
    may_be_missing, guard = spec.expected.may_be_missing, partial(refusing, cache)
    if spec.remote is None and may_be_missing and (missing := missing_source(spec)):
        return None, f"skipped: {missing}"
    try:
        if spec.remote and not offline:
            download(spec, spec.remote, cache, progress)
        return with_cached_path(spec, cache, guard), ""
    except (NotInCacheError, DownloadError) as error:
        if not may_be_missing:
            raise
        with suppress(NotInCacheError):
            return with_cached_path(spec, cache, guard), f"its cached copy is used: {error}"
        return None, f"skipped: {error}"


def missing_source(spec: SourceSpec) -> str:
    """Return that a local source has no file; empty if it has one, or is a table in memory."""
    if "table" in spec.options or (spec.is_dataset and location(spec).exists()):
        return ""
    return "" if paths(spec.path, spec.base, ("",)) else f"no file {spec.base / spec.path}"


def with_cached_path(
    spec: SourceSpec,
    cache: Path | None,
    guard: Callable[[SourceSpec], AbstractContextManager[object]] = nullcontext,
) -> SourceSpec:
    """Return a source with a local path; the cache is read, and does not change.

    ``guard`` is around the reading of its date. Raises BuildError if the cache does not have the
    file.
    """
    if spec.remote is None:
        return _checked(spec)
    entry = _entry(spec.remote, cache).current(spec.sha256)
    if entry is None:
        problem = f"not in the cache at {cache or default_folder()}"
        raise NotInCacheError(spec.remote.safe_uri, problem, remedy=_DOWNLOAD)
    local = replace(spec, path=str(entry.path))
    with guard(local):
        return _dated(local, spec.remote, entry.version)


def _checked(spec: SourceSpec) -> SourceSpec:
    """Return a source with a local path; BuildError if its date or digest is wrong."""
    path = spec.base / spec.path
    if spec.texts.get("date") == LAST_MODIFIED:
        problem = f"source.date is {LAST_MODIFIED!r} for a local path"
        raise BuildError(spec.recipe, problem, remedy="remove it, or write the date")
    if spec.sha256 and not path.is_file():
        problem = "sha256 needs a path that is one file"
        raise BuildError(path, problem, remedy="name one file, or drop sha256")
    if spec.sha256 and (digest := sha256_of(path)) != spec.sha256:
        problem = f"its SHA-256 is {digest}, the recipe says {spec.sha256}"
        raise BuildError(path, problem, remedy="replace the file, or correct sha256")
    return spec


def _entry(remote: Remote, cache: Path | None) -> CacheEntry:
    # Absolute: the path of a source is relative to its recipe.
    return CacheEntry((cache or default_folder()).absolute(), remote)


def _dated(spec: SourceSpec, remote: Remote, version: Version) -> SourceSpec:
    """Return a source with its date, which may be the month of the file, or the server's."""
    texts = dict(spec.texts)
    if version.month:
        texts.setdefault("date", version.month)
    if texts.get("date") == LAST_MODIFIED:
        if not version.modified:
            problem = "the server sends no Last-Modified"
            raise BuildError(remote.safe_uri, problem, remedy=_STATE_DATE)
        date = datetime.fromisoformat(version.modified)
        if date > datetime.now(UTC) + CLOCKS_DIFFER:
            problem = f"its Last-Modified, {date:%Y-%m-%d}, is in the future"
            raise BuildError(remote.safe_uri, problem, remedy=_STATE_DATE)
        texts["date"] = date.date().isoformat()
    return replace(spec, texts=texts)


def inputs_of(recipe: Recipe, cache: Path | None) -> str:
    """Return a digest of recipe, files and version; empty if they do not decide the dataset.

    A source that is a dataset has other files, and demands compare with ground truth.
    """
    if any(spec.is_dataset for spec in recipe.sources) or recipe.quality != Quality():
        return ""
    try:
        local = with_local_paths(recipe, cache, Progress(silent=True), offline=True)
        if local.warnings:  # of missing sources: every build prints them
            return ""
        tables = filter(None, (recipe.path, recipe.countries))
        files = [*filter(Path.is_file, tables)]  # a folder of data has no recipe
        of_sources = (paths(spec.path, spec.base, ("",)) for spec in local.sources)
        files += filter(Path.is_file, chain.from_iterable(of_sources))
        lines = [f"{path.name} {sha256_of(path)}" for path in files]
        # The date may be one that a server states.
        lines += [f"{spec.path} {sorted(spec.texts.items())}" for spec in local.sources]
        text = "\n".join((*lines, geolookup.__version__, *sorted(zone_names())))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    except (BuildError, OSError):  # the build reports it
        return ""
