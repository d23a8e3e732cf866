"""Updates of a store: download what changed, compile, compare, publish, prune.

``update`` is the call. ``from_recipe`` compiles, ``sources`` downloads; ``arriving`` takes archives
and mirrors. ``in_store`` lets one update at a time work on a store, in a staging directory of its
own, and records when one last succeeded.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

from geolookup.archives.head import is_archive
from geolookup.progress import Progress
from geolookup.signing.keys import SigningKeys
from geolookup.updates.arriving import FromArchive, FromMirror
from geolookup.updates.from_recipe import FromRecipe
from geolookup.updates.in_store import Updated, place_of

Request = FromRecipe | FromArchive | FromMirror


def update(
    recipe: str | os.PathLike[str] | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    if_older: timedelta | float | str | None = None,
    dry_run: bool = False,
    cache: str | os.PathLike[str] | None = None,
    signing_keys: SigningKeys = (),
) -> Updated:
    """Bring a store up to date with the sources of a recipe, an archive or a mirror.

    Returns what happened.

    Downloads what changed, compiles and verifies it, applies the gates of the recipe's
    ``[update]`` by a comparison with the current generation, publishes, and prunes.
    ``recipe`` is a recipe file, the name of a packaged recipe, or a file or folder of data; None:
    the packaged recipe "world". ``store`` None: the user's store. ``cache`` is the folder of
    downloaded files; None: ``$GEOLOOKUP_CACHE``, else the user's cache folder.

    ``recipe`` may also be a file of ``pack``, which is published as ``publish`` does, or the
    address of a mirror (``https://`` and so on), which is polled once, as ``geolookup follow``
    does. A generation that a rollback withdrew is not published again. ``if_older``, ``cache`` and
    ``signing_keys`` are for recipes only.

    ``if_older`` (a timedelta, a number of days, or "7d", "2w"): do nothing if an update succeeded
    less than that ago. ``dry_run``: ask the servers what changed, and change nothing. Another
    update of the same store is waited for. ``signing_keys`` is the file of a private key, or
    several, that sign what is published; a current generation that one of them has not signed is
    signed again. A store that trusts keys needs one of them.

    Raises UpdateError if a source or a mirror fails or a gate refuses the result, BuildError for a
    malformed recipe, DatasetError for a damaged store or archive, and for one that the store does
    not trust, OutputError for a store or cache that cannot be written, KeyFileError for a bad key,
    ValueError or TypeError for a malformed ``if_older`` and for an option that is for recipes only.
    The store then does not change. A failure after the publication is only a warning, in
    ``warnings`` of the result.
    """
    request = request_of(recipe, store, if_older, cache, signing_keys)
    silent = Progress(silent=True)
    return request.plan(_ignore) if dry_run else request.perform(silent, _ignore)


def _ignore(_text: str) -> None:
    pass


def request_of(
    recipe: str | os.PathLike[str] | None,
    store: str | os.PathLike[str] | None,
    if_older: timedelta | float | str | None = None,
    cache: str | os.PathLike[str] | None = None,
    signing_keys: SigningKeys = (),
) -> Request:
    """Check the arguments of an update and return the request; raises the errors of ``update``."""
    name = "" if recipe is None else os.fspath(recipe)
    is_mirror = "://" in name
    if not is_mirror and not (name and is_archive(name)):
        return FromRecipe.of(recipe, store, if_older, cache, signing_keys)
    recipe_options = {
        "if_older": if_older,
        "cache": cache,
        "signing_keys": signing_keys or None,
    }
    for option, value in recipe_options.items():
        if value is not None:
            raise ValueError(f"{option} is for recipes; {name} is none")
    folder = place_of(store)
    return FromMirror(name, folder) if is_mirror else FromArchive(Path(name), folder)
