"""``update``: the dataset that a source offers goes into the store, and a record is written.

Strategy: everything is made and checked outside the generations; only the publication changes
the store, in one rename. A process that dies at any step leaves the generation before it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from geolookup.contract.gregorian import read_timestamp, timestamp
from geolookup.errors import (
    BuildError,
    GeoLookupError,
    MirrorError,
    OutputError,
    UpdateError,
    short_id,
)
from geolookup.history.generations import prune_after
from geolookup.history.incoming import from_archive
from geolookup.history.publishing import plan_publication, publish_into
from geolookup.history.result import StoreResult
from geolookup.mirrors.source import Mirror
from geolookup.signing.keys import SigningKeys
from geolookup.signing.trust import TrustedKeys
from geolookup.store import pointer
from geolookup.store.changing import check_place
from geolookup.updates.from_mirror import mirror_offer
from geolookup.updates.from_recipe import download_sources, recipe_offer
from geolookup.updates.job import Job, Offer, job_of
from geolookup.updates.state import State, read_state, write_state

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe


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
    ``source`` may also be a file of ``pack``, or a mirror: an address (``https://``, ``s3://``,
    ``gs://``) or a folder, whose current generation is published.

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
    result = run(job_of(**locals()))  # the arguments of this call
    result.log_warnings()
    return result


def run(job: Job) -> StoreResult:
    """Update a store once; raises the errors of ``update``."""
    try:
        if job.download_only:
            download_sources(job, cast("Recipe", job.source))
            return job.result.ended("downloaded")
        with job.place() as folder:
            before = read_state(job.store)
            if _is_recent(job, before):
                return job.result.ended("recent")
            before = replace(before, source=job.title)
            return (_plan if job.dry_run else _update)(job, before, folder)
    except (BuildError, MirrorError) as error:
        raise UpdateError([str(error)], wait=getattr(error, "wait", None)) from error


def _plan(job: Job, before: State, folder: Path) -> StoreResult:
    check_place(job.store)
    with _offer(job, before, folder) as offer:
        if offer.incoming is not None:
            return plan_publication(job.store, offer.incoming, job.retention)
    return job.result.ended(offer.state)


def _update(job: Job, before: State, folder: Path) -> StoreResult:
    """Publish what the source offers, prune, and write the record."""
    began = timestamp()  # later changes of a server are not in this update
    try:
        with _offer(job, before, folder) as offer:
            state = _publish(job, offer)
        members = {"generation": pointer.read(job.store).current, "inputs": "", **offer.members}
    except (GeoLookupError, OSError) as error:
        with suppress(OutputError):  # the disk may be full: the first failure is the cause
            problem = str(error) or type(error).__name__
            write_state(job.store, before.after("failed", problem))
        raise
    members["bytes"] = before.bytes + job.result.counts.get("downloaded", 0)
    if state != "held":  # also what an update that died has left to be pruned
        prune_after(job.store, job.retention, job.result)
    try:
        write_state(job.store, before.after(state, began_at=began, **members))
    except OutputError as error:  # the store is up to date
        job.result.warnings.append(f"--if-older will not know of this update: {error}")
    return job.result.ended(state)


def _publish(job: Job, offer: Offer) -> str:
    """Publish a dataset that is offered; return the state of the result."""
    if offer.incoming is None:
        return offer.state
    with job.result.step("publish", "prune"):
        is_changed = publish_into(
            job.store, offer.incoming, gate=offer.gate, withdrawn=offer.withdrawn
        )
    return "published" if is_changed else "unchanged"


def _is_recent(job: Job, before: State) -> bool:
    """Return whether an update from this source that succeeded began less than the limit ago.

    False for a time in the future: after a clock was wrong, updates must not stop.
    """
    if job.if_older is None or not before.began_at or before.source != job.title:
        return False
    passed = datetime.now(UTC) - read_timestamp(before.began_at)
    return pointer.read(job.store).current is not None and timedelta(0) <= passed < job.if_older


@contextmanager
def _offer(job: Job, before: State, folder: Path) -> Iterator[Offer]:
    """Yield what the source offers to the store."""
    if isinstance(job.source, Mirror):
        with mirror_offer(job, job.source, before, folder) as offer:
            yield offer
    elif isinstance(job.source, Path):
        with from_archive(job.source) as incoming:
            yield _unless_withdrawn(job, Offer("published", incoming))
    else:
        yield _unless_withdrawn(job, recipe_offer(job, job.source, before, folder))


def _unless_withdrawn(job: Job, offer: Offer) -> Offer:
    """Return what a store takes of an offer: no generation that a rollback withdrew."""
    withdrawn = {entry.generation for entry in pointer.read(job.store).published if entry.withdrawn}
    if offer.incoming is None or offer.incoming.generation not in withdrawn:
        return offer
    which = f"generation {short_id(offer.incoming.generation)}"
    job.tell(
        f"a rollback withdrew {which}, the result; 'geolookup store publish' makes it current again"
    )
    return Offer("held")
