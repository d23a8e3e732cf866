"""One update: the dataset that its source offers goes into the store, and a record is written.

Strategy: everything is made and checked outside the generations; only the publication changes
the store, in one rename. A process that dies at any step leaves the generation before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from geolookup.contract.gregorian import read_timestamp, timestamp
from geolookup.errors import BuildError, GeoLookupError, MirrorError, OutputError, UpdateError
from geolookup.history.generations import prune_after
from geolookup.history.incoming import from_archive
from geolookup.history.publishing import plan_publication, publish_into
from geolookup.history.result import StoreResult
from geolookup.mirrors.source import Mirror
from geolookup.store import pointer
from geolookup.store.changing import check_place
from geolookup.updates.from_mirror import mirror_offer
from geolookup.updates.from_recipe import download_sources, recipe_offer
from geolookup.updates.job import Job, Offer
from geolookup.updates.state import State, read_state, write_state

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe


def run(job: Job) -> StoreResult:
    """Update a store once; raises the errors of ``update``."""
    if job.download_only:
        download_sources(job, cast("Recipe", job.source))
        return job.result.ended("downloaded")
    with job.place() as folder:
        before = read_state(job.store)
        if _is_recent(job, before):
            return job.result.ended("recent")
        before = replace(before, source=job.title)
        if job.dry_run:
            return _plan(job, before, folder)
        try:
            state, members = _publish(job, before, folder)
        except (GeoLookupError, OSError) as error:
            with suppress(OutputError):  # the disk may be full: the first failure is the cause
                write_state(job.store, before.after_failure(str(error)))
            raise
        if state != "held":  # also what an update that died has left to be pruned
            with job.step("prune"):
                prune_after(job.store, job.retention, job.result)
        try:
            write_state(job.store, before.after_success(state, **members))
        except OutputError as error:  # the store is up to date
            job.result.warnings.append(f"--if-older will not know of this update: {error}")
    return job.result.ended(state)


def _is_recent(job: Job, before: State) -> bool:
    """Return whether an update from this source that succeeded began less than the limit ago.

    False for a time in the future: after a clock was wrong, updates must not stop.
    """
    if job.if_older is None or not before.began_at or before.source != job.title:
        return False
    passed = datetime.now(UTC) - read_timestamp(before.began_at)
    return pointer.current_of(job.store) is not None and timedelta(0) <= passed < job.if_older


def _plan(job: Job, before: State, folder: Path) -> StoreResult:
    check_place(job.store)
    with _offer(job, before, folder) as offer:
        if offer.incoming is not None and offer.state == "published":
            return plan_publication(job.store, offer.incoming, job.retention)
    return job.result.ended(offer.state)


def _publish(job: Job, before: State, folder: Path) -> tuple[str, dict[str, Any]]:
    """Publish what the source offers; return the state, and members of the record after it."""
    # When it began, not when it ended: later changes of a server are not in this update.
    began, state = timestamp(), ""
    with _offer(job, before, folder) as offer:
        state = offer.state
        if offer.incoming is not None:
            with job.step("publish"):
                is_changed = publish_into(
                    job.store, offer.incoming, gate=offer.gate, withdrawn=offer.withdrawn
                )
            state = "published" if is_changed else "unchanged"
    received = before.bytes + job.result.counts.get("downloaded", 0)
    common = {"began_at": began, "generation": pointer.current_of(job.store), "bytes": received}
    return state, {"inputs": "", **offer.members, **common}


@contextmanager
def _offer(job: Job, before: State, folder: Path) -> Iterator[Offer]:
    """Yield what the source offers to the store; UpdateError if it fails."""
    try:
        if isinstance(job.source, Mirror):
            with mirror_offer(job, job.source, before, folder) as offer:
                yield offer
        elif isinstance(job.source, Path):
            with from_archive(job.source) as incoming:
                yield _unless_withdrawn(job, Offer("published", incoming))
        else:
            yield _unless_withdrawn(job, recipe_offer(job, job.source, before, folder))
    except (BuildError, MirrorError) as error:
        raise UpdateError([str(error)], wait=getattr(error, "wait", None)) from error


def _unless_withdrawn(job: Job, offer: Offer) -> Offer:
    """Return what a store takes of an offer: no generation that a rollback withdrew."""
    withdrawn = {entry.generation for entry in pointer.read(job.store) if entry.withdrawn}
    if offer.incoming is not None and offer.incoming.generation in withdrawn:
        return Offer("held")
    return offer
