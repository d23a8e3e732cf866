"""``update``: brings a store up to date with a recipe, an archive or a mirror."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geolookup.archives.head import is_archive
from geolookup.dataset.metadata import age_limit
from geolookup.errors import MirrorError
from geolookup.history.result import StoreResult
from geolookup.mirrors.source import Mirror, is_mirror
from geolookup.signing.keys import SigningKeys, read_signing_keys
from geolookup.signing.trust import TrustedKeys, read_trusted_keys
from geolookup.store.changing import store_path
from geolookup.store.in_force import Retention
from geolookup.updates.job import Job, Tell
from geolookup.updates.run import run

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe

DEFAULT_RECIPE = "world"


def update(
    source: str | os.PathLike[str] | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    if_older: timedelta | float | str | None = None,
    dry_run: bool = False,
    download_only: bool = False,
    keep: int | None = None,
    keep_for: timedelta | float | str | None = None,
    keep_unpacked: int | None = None,
    max_memory: str | int | None = None,
    cache: str | os.PathLike[str] | None = None,
    signing_keys: SigningKeys = (),
    trusted_keys: TrustedKeys | None = None,
    limit_rate: int | None = None,
) -> StoreResult:
    """Bring a store up to date with a recipe, an archive or a mirror; return what was done.

    ``source`` is a recipe file, the name of a packaged recipe, or a file or folder of data; None:
    the packaged recipe "world". The sources that changed are downloaded and compiled. The dataset
    is verified, compared with the current generation by the gates of the recipe, and published.
    ``source`` may also be a file of ``pack``, published as by ``publish``, or a mirror: an address
    (``https://``, ``s3://``, ``gs://``) or a folder. A mirror is polled, and its current generation
    is published.

    ``state`` of the result is "published", "unchanged", "held" (a rollback withdrew the generation
    of the source; or another one was made current in a store that follows a mirror, and the mirror
    has not published since), "recent" (``if_older``), "planned" (``dry_run``: the servers are
    asked for changes, and nothing changes) or "downloaded" (``download_only``: only the cache
    changes). The record of it is STORE/update.json.

    ``store`` None: the user's store. ``if_older`` (a timedelta, a number of days, or "7d", "2w")
    does nothing if an update from this source that succeeded began less than that ago. ``keep``,
    ``keep_for`` and ``keep_unpacked`` are as for ``prune``; by default as the recipe says, else
    two generations are kept. ``trusted_keys``: files of public keys, or keys, for a store that
    trusts no key yet. Another update of the same store is waited for.

    For recipes only: ``download_only`` downloads the sources that changed into the cache, and does
    not compile. ``max_memory`` is as for ``build``. ``cache`` is the folder of downloaded
    files; None: ``$GEOLOOKUP_CACHE``, else the user's cache folder. ``signing_keys`` is the file of
    a private key, or several, that sign the published dataset, also if only the keys are new. For
    mirrors only: ``limit_rate`` is the maximum rate of a download in bytes a second.

    Raises UpdateError if a source or a mirror fails, or a gate refuses the result; BuildError for a
    malformed recipe, DatasetError for a damaged store or archive, for the index of a mirror that is
    not acceptable, and for a dataset that the store does not trust; OutputError for a store or
    cache that cannot be written, KeyFileError for a bad key; ValueError or TypeError for a
    malformed option or address, and for an option of another kind of source. The store then does
    not change. A failure after the publication is only a warning, in ``warnings`` of the result.
    """
    job = job_of(**locals())  # the arguments of this call
    result = run(job)
    job.result.log_warnings()
    return result


def job_of(
    source: str | os.PathLike[str] | None,
    store: str | os.PathLike[str] | None,
    if_older: timedelta | float | str | None,
    dry_run: bool,
    keep: int | None,
    keep_for: timedelta | float | str | None,
    keep_unpacked: int | None,
    trusted_keys: TrustedKeys | None,
    announce: Tell | None = None,
    **of_source: Any,
) -> Job:
    """Check the arguments of ``update``; raises its errors for malformed ones."""
    given = {option: value for option, value in of_source.items() if value}
    opened, default = _source(source, given.pop("limit_rate", None)), None
    if isinstance(opened, Path | Mirror):
        for option in given:
            raise ValueError(f"{option} is only for recipes")
    else:
        from geolookup_builder.downloads import with_strict_cache
        from geolookup_builder.memory import MemoryBudget

        MemoryBudget.of(given.get("max_memory"))  # a malformed size
        given["cache"] = Path(given["cache"]) if "cache" in given else None
        given["signers"] = read_signing_keys(given.pop("signing_keys", ()))
        if given["signers"]:  # they vouch for the content
            opened = with_strict_cache(opened)
        default = opened.update.retention
    return Job(
        opened,
        store_path(store),
        Retention.of(keep, keep_for, keep_unpacked, default),
        None if if_older is None else age_limit(if_older, "if_older"),
        dry_run,
        trusted_keys=read_trusted_keys(trusted_keys),
        announce=announce,
        **given,
    )


def _source(
    source: str | os.PathLike[str] | None, limit_rate: int | None
) -> Recipe | Path | Mirror:
    """Return what a source means; ValueError for the address of no mirror."""
    name = os.fspath(source or "")
    if is_mirror(name):
        mirror = Mirror(name, limit_rate)
        try:
            mirror.location()
        except MirrorError as error:
            raise ValueError(str(error)) from None
        return mirror
    if limit_rate is not None:
        raise ValueError("limit_rate is only for mirrors")
    if name and is_archive(name):
        return Path(name)
    from geolookup_builder.recipe import loading

    return loading.load_packaged(DEFAULT_RECIPE) if source is None else loading.load(source)
