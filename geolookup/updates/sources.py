"""The sources of a recipe before a build: present, downloaded, or asked whether they changed.

All sources are tried before an error: its text names every one that failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from geolookup.errors import BuildError, DownloadError, UpdateError

if TYPE_CHECKING:
    from pathlib import Path

    from geolookup_builder.recipe.document import Recipe, SourceSpec

    from geolookup.progress import Progress
    from geolookup.remote.address import Remote

Tell = Callable[[str], None]


def check_local(recipe: Recipe) -> None:
    """Raise UpdateError if local files are missing; it names each file and its origin."""
    missing = [
        problem
        for source in recipe.sources
        if source.remote is None and not source.expected.may_be_missing
        if (problem := _problem(source))
    ]
    if missing:
        raise UpdateError([*missing, _origin(recipe)])


def _problem(spec: SourceSpec) -> str:
    """Return why a source has no file; empty if it has one."""
    from geolookup_builder.downloads import missing_source

    try:
        missing = missing_source(spec)
    except BuildError as error:  # such as a name longer than the system allows
        return f"{spec.name}: {error.problem} {error.path}"
    if not missing or (spec.base / spec.path).is_dir():
        return missing and f"{spec.name}: {missing}"
    return f"{spec.name}: {missing}; it is obtained by hand"


def _origin(recipe: Recipe) -> str:
    from geolookup_builder.recipe.document import PACKAGED
    from geolookup_builder.recipe.loading import SUFFIX

    if recipe.path.suffix != SUFFIX:
        return "name an existing file or folder of data"
    if recipe.path.parent != PACKAGED:
        return f"the recipe {recipe.path} names these files; add them, or correct the recipe"
    return f"obtain these files; 'geolookup recipes show {recipe.path.stem}' names their origin"


def download(recipe: Recipe, cache: Path | None, progress: Progress, tell: Tell) -> None:
    """Download the remote sources that changed into the cache; report the result for each.

    ``cache`` None: the user's cache folder.
    """
    from geolookup_builder import downloads

    def fetch(spec: SourceSpec, remote: Remote) -> str:
        return str(downloads.download(spec, remote, cache, progress))

    _of_all(recipe.sources, fetch, tell)


def have_changed(recipe: Recipe, cache: Path | None, tell: Tell) -> bool:
    """Return whether a remote source has changed, without a download; tell of each."""
    from geolookup.filesystem.cache import default_folder
    from geolookup.remote.transfer import ask

    changed = []

    def ask_source(spec: SourceSpec, remote: Remote) -> str:
        answer = ask(remote, spec.sha256, cache or default_folder())
        changed.append(answer.changed)
        return str(answer)

    _of_all(recipe.sources, ask_source, tell)
    return any(changed)


def _of_all(
    sources: Iterable[SourceSpec], step: Callable[[SourceSpec, Remote], str], tell: Tell
) -> None:
    failed = []
    for spec in sources:
        if spec.remote is None:
            continue
        try:
            done = step(spec, spec.remote)
        except BuildError as error:
            if spec.expected.may_be_missing and isinstance(error, DownloadError):
                tell(f"warning: {spec.name}: {error}")
            else:
                failed.append(f"{spec.name}: {error}")
        else:
            tell(f"{spec.name}: {done}")
    if failed:
        raise UpdateError(failed)
