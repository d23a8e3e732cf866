"""Updates of a store, from a recipe, an archive or a mirror.

``update`` is the call. ``from_recipe`` downloads (``sources``) and compiles, ``from_archive``
publishes an archive, ``from_mirror`` polls a mirror. ``in_store`` lets one update at a time work on
a store, in a staging directory, and records its last success.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from geolookup.archives.head import is_archive
from geolookup.progress import Progress
from geolookup.signing.keys import SigningKeys
from geolookup.signing.trust import TrustedKeys
from geolookup.updates.from_archive import FromArchive
from geolookup.updates.from_mirror import FromMirror
from geolookup.updates.from_recipe import FromRecipe
from geolookup.updates.in_store import Target, UpdateResult, target_of

Request = FromRecipe | FromArchive | FromMirror


def update(
    recipe: str | os.PathLike[str] | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    if_older: timedelta | float | str | None = None,
    dry_run: bool = False,
    keep: int | None = None,
    keep_for: timedelta | float | str | None = None,
    max_memory: str | int | None = None,
    cache: str | os.PathLike[str] | None = None,
    signing_keys: SigningKeys = (),
    trusted_keys: TrustedKeys | None = None,
    limit_rate: int | None = None,
) -> UpdateResult:
    """Bring a store up to date with a recipe, an archive or a mirror; return the outcome.

    ``recipe`` is a recipe file, the name of a packaged recipe, or a file or folder of data; None:
    the packaged recipe "world". The sources that changed are downloaded and compiled. The dataset
    is verified, compared with the current generation by the gates of the recipe, and published.
    ``recipe`` may also be a file of ``pack``, published as by ``publish``, or a mirror: an address
    (``https://``, ``s3://``, ``gs://``) or a folder. A mirror is polled, and its current generation
    is published. A generation that a rollback withdrew is not published again.

    ``store`` None: the user's store. ``dry_run``: ask the servers for changes, and change nothing.
    ``keep`` is the number of generations to keep, the last published, or ``keep_for`` ("1y") keeps
    those in force within that time; see ``prune``. Both None: as the recipe says, else two.
    ``trusted_keys``: files of public keys, or keys, for a store that trusts no key yet. Another
    update of the same store is waited for.

    For recipes only: ``if_older`` (a timedelta, a number of days, or "7d", "2w") does nothing if an
    update succeeded less than that ago. ``max_memory`` is as for ``build``. ``cache`` is the
    folder of downloaded files; None: ``$GEOLOOKUP_CACHE``, else the user's cache folder.
    ``signing_keys`` is the file of a private
    key, or several, that sign the published dataset. A current generation that one of them has not
    signed is signed again. A store that trusts keys needs one of them. For mirrors only:
    ``limit_rate`` is the maximum rate of a download in bytes a second.

    Raises UpdateError if a source or a mirror fails, a gate refuses the result, or the store
    refuses the dataset of a mirror; BuildError for a malformed recipe, DatasetError for a damaged
    store or archive, and for an archive that the store does not trust; OutputError for a store or
    cache that cannot be written, KeyFileError for a bad key; ValueError or TypeError for a
    malformed option or address, and for an option of another kind of update. The store then does
    not change. A failure after the publication is only a warning, in ``warnings`` of the result.
    """
    target = target_of(store, keep, trusted_keys, keep_for)
    request = request_of(
        recipe,
        target,
        if_older=if_older,
        max_memory=max_memory,
        cache=cache,
        signing_keys=signing_keys,
        limit_rate=limit_rate,
    )
    silent = Progress(silent=True)
    return request.plan(_ignore) if dry_run else request.perform(silent, _ignore)


def _ignore(_text: str) -> None:
    pass


def request_of(
    recipe: str | os.PathLike[str] | None,
    target: Target,
    *,
    if_older: timedelta | float | str | None = None,
    max_memory: str | int | None = None,
    cache: str | os.PathLike[str] | None = None,
    signing_keys: SigningKeys = (),
    limit_rate: int | None = None,
) -> Request:
    """Check the arguments of an update and return the request; raises the errors of ``update``."""
    from geolookup.mirrors.source import is_mirror

    name = "" if recipe is None else os.fspath(recipe)
    for_recipes = {
        "if_older": if_older,
        "max_memory": max_memory,
        "cache": cache,
        "signing_keys": signing_keys or None,
    }
    if is_mirror(name):
        _refuse(for_recipes, "recipes")
        return FromMirror.of(name, target, limit_rate)
    _refuse({"limit_rate": limit_rate}, "mirrors")
    if name and is_archive(name):
        _refuse(for_recipes, "recipes")
        return FromArchive(Path(name), target)
    return FromRecipe.of(recipe, target, if_older, cache, signing_keys, max_memory)


def _refuse(options: Mapping[str, object], kind: str) -> None:
    """Raise ValueError for an option that only another kind of update has."""
    for option, value in options.items():
        if value is not None:
            raise ValueError(f"{option} is only for {kind}")
