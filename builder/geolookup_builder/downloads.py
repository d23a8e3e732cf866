"""The remote sources of a recipe: downloaded or cached, checked by digest, with local paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from geolookup.errors import BuildError, DownloadError, OutputError
from geolookup.filesystem.cache import default_folder
from geolookup.filesystem.signatures import MMDB, PARQUET
from geolookup.filesystem.unpacking import packing
from geolookup.progress import Progress
from geolookup.remote.address import Remote
from geolookup.remote.cache import CachedFile, CacheEntry, sha256_of
from geolookup.remote.transfer import FetchedFile, fetch
from geolookup_builder.datasets.source import location
from geolookup_builder.recipe.document import LAST_MODIFIED, Recipe, SourceSpec
from geolookup_builder.sources.reading.inputs import members, missing_files
from geolookup_builder.sources.reading.stated_dates import CLOCKS_DIFFER

_CHUNK = 1 << 20
_DOWNLOAD = "download it with 'geolookup update --download-only'"


class NotInCacheError(BuildError):
    """A remote file that must be downloaded first."""


def download(
    spec: SourceSpec, remote: Remote, cache: Path | None, progress: Progress
) -> FetchedFile:
    """Download the file of a source unless it is current; ``cache`` None: the user's folder.

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


def read_through(path: Path) -> bool:
    """Read a compressed file up to its checksum; BuildError for a damaged one.

    Returns whether its format has an end: a checksum, or the mark of an MMDB or Parquet file, that
    every download is checked for.
    """
    if not packing(path):
        return path.name.lower().endswith((*MMDB.endings, *PARQUET.endings))
    for member in members(path.name, path.parent, ("",)):
        with member.open() as stream:
            while stream.read(_CHUNK):
                pass
    return True


@contextmanager
def refusing(cache: Path | None, spec: SourceSpec) -> Iterator[None]:
    """Refuse the downloaded file of a source if the block cannot read it.

    The last copy that compiled is current again, and the error names it. A file with the
    digest of the recipe is never refused.
    """
    try:
        yield
    except BuildError as error:
        if spec.remote is None:
            raise
        if not Path(spec.path).exists():
            problem = "another process has replaced it in the cache"
            raise BuildError(spec.remote.safe_uri, problem, remedy="build again") from error
        if spec.sha256:
            raise
        compiled = _refuse(CacheEntry(cache or default_folder(), spec.remote), Path(spec.path))
        if compiled is None:
            raise
        date = datetime.fromtimestamp(compiled.path.stat().st_mtime, UTC)
        copy = f"the copy of {spec.remote.safe_uri} from {date:%Y-%m-%d} that last compiled"
        remedy = "; ".join(
            filter(None, (error.remedy, f"'geolookup build --offline' reads {copy}"))
        )
        raise BuildError(error.path, error.problem, line=error.line, remedy=remedy) from error


def _refuse(cached: CacheEntry, path: Path) -> CachedFile | None:
    """Return the last copy of a source that compiled, current again; None without one."""
    with suppress(BuildError, OutputError):  # a cache in use or read-only: the first error counts
        return cached.refuse(path)
    return None


def accept(sources: Iterable[SourceSpec], cache: Path | None) -> None:
    """Note that the downloaded files of these sources have compiled."""
    for spec in sources:
        if spec.remote is not None:
            # The dataset is complete. A read-only cache has the same files for the next build.
            with suppress(BuildError, OutputError):
                CacheEntry(cache or default_folder(), spec.remote).accept(Path(spec.path))


def with_local_paths(
    recipe: Recipe, cache: Path | None, progress: Progress, *, offline: bool
) -> Recipe:
    """Return the recipe with local paths only; ``cache`` None: the user's cache folder.

    With ``on_missing = "skip"`` a source that is missing is left out, with a warning. Raises
    BuildError if all are, or another file cannot be downloaded or has another digest than stated.
    """
    sources, warnings = list[SourceSpec](), list[str]()
    for spec in recipe.sources:
        if spec.expected.may_be_missing:
            local, warning = _local_or_missing(spec, cache, progress, offline)
            warnings += [f"{spec.name}: {warning}"] if warning else []
        else:
            local = _make_local(spec, cache, progress, offline)
        sources += [local] if local else []
    if not sources:
        remedy = "provide the files of one source at least"
        raise BuildError(
            recipe.path, f"all sources are missing: {', '.join(warnings)}", remedy=remedy
        )
    return replace(recipe, sources=tuple(sources), warnings=tuple(warnings))


def _local_or_missing(
    spec: SourceSpec, cache: Path | None, progress: Progress, offline: bool
) -> tuple[SourceSpec | None, str]:
    """Return a source with a local path, None if it is missing, and a warning.

    A damaged file is not missing, nor is one with another digest.
    """
    if spec.remote is None and (missing := missing_source(spec)):
        return None, f"skipped: {missing}"
    try:
        return _make_local(spec, cache, progress, offline), ""
    except NotInCacheError as error:
        return None, f"skipped: {error}"
    except DownloadError as error:
        with suppress(NotInCacheError):
            cached = _make_local(spec, cache, progress, offline=True)
            return cached, f"its cached copy is used: {error}"
        return None, f"skipped: {error}"


def missing_source(spec: SourceSpec) -> str:
    """Return that a local source has no file; empty if it has one, or is a table in memory."""
    if "table" in spec.options or (spec.is_dataset and location(spec).exists()):
        return ""
    return missing_files(spec.path, spec.base)


def _make_local(
    spec: SourceSpec, cache: Path | None, progress: Progress, offline: bool
) -> SourceSpec:
    if spec.remote is None:
        return _check_local(spec)
    if offline:
        entry = _in_cache(spec.remote, spec.sha256, cache or default_folder())
    else:
        entry = download(spec, spec.remote, cache, progress).file
    with refusing(cache, replace(spec, path=str(entry.path))):
        return _at(spec, spec.remote, entry)


def with_cached_path(spec: SourceSpec, cache: Path | None) -> SourceSpec:
    """Return a source with a local path; the cache is read, and does not change.

    Raises BuildError if the cache does not have the file.
    """
    if spec.remote is None:
        return _check_local(spec)
    entry = _in_cache(spec.remote, spec.sha256, cache or default_folder())
    return _at(spec, spec.remote, entry)


def _check_local(spec: SourceSpec) -> SourceSpec:
    """Return a source with a local path; BuildError if its date or digest is wrong."""
    if spec.texts.get("date") == LAST_MODIFIED:
        problem = f"source.date is {LAST_MODIFIED!r} for a local path"
        raise BuildError(spec.recipe, problem, remedy="write the date")
    if spec.sha256:
        _check_digest(spec)
    return spec


def _at(spec: SourceSpec, remote: Remote, entry: CachedFile) -> SourceSpec:
    texts = {**spec.texts, **_date(spec, remote, entry)}
    return replace(spec, path=str(entry.path), texts=texts)


def _check_digest(spec: SourceSpec) -> None:
    path = spec.base / spec.path
    if not path.is_file():
        problem = "sha256 needs a path that is one file"
        raise BuildError(path, problem, remedy="name one file, or drop sha256")
    if (digest := sha256_of(path)) != spec.sha256:
        problem = f"its SHA-256 is {digest}, the recipe says {spec.sha256}"
        raise BuildError(path, problem, remedy="replace the file, or correct sha256")


def _in_cache(remote: Remote, sha256: str, folder: Path) -> CachedFile:
    cached = CacheEntry(folder, remote)
    entry = cached.current(sha256)
    if entry is None:
        other = " with this sha256" if sha256 and cached.current() else ""
        problem = f"not in the cache at {folder}{other}"
        raise NotInCacheError(remote.safe_uri, problem, remedy=_DOWNLOAD)
    return entry


def _date(spec: SourceSpec, remote: Remote, entry: CachedFile) -> dict[str, str]:
    if "date" not in spec.texts and entry.version.month:
        return {"date": entry.version.month}
    if spec.texts.get("date") != LAST_MODIFIED:
        return {}
    if not entry.version.modified:
        problem = "the server sends no Last-Modified"
        raise BuildError(remote.safe_uri, problem, remedy="write the date into the recipe")
    date = datetime.fromisoformat(entry.version.modified)
    if date > datetime.now(UTC) + CLOCKS_DIFFER:
        problem = f"its Last-Modified, {date:%Y-%m-%d}, is in the future"
        raise BuildError(remote.safe_uri, problem, remedy="write the date into the recipe")
    return {"date": date.date().isoformat()}
