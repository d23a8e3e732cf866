"""One update: the dataset that its source offers goes into the store, and a record is written.

Strategy: everything is made and checked outside the generations; only the publication changes
the store, in one rename. A process that dies at any step leaves the generation before it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from geolookup.comparison.gates import Verdict
from geolookup.contract.gregorian import read_timestamp, timestamp
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError, GeoLookupError, OutputError
from geolookup.history.pruning import PruneResult, prune_after
from geolookup.history.publishing import publish_into
from geolookup.mirrors.source import Mirror
from geolookup.updates.from_archive import archive_offer
from geolookup.updates.from_mirror import mirror_offer
from geolookup.updates.from_recipe import recipe_offer
from geolookup.updates.job import Job, Offer, Outcome
from geolookup.updates.state import State, read_state, write_state


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """The outcome of an update, and the current generation of the store, if any.

    ``state``: "published", "unchanged", "held" (a rollback withdrew the generation of the source,
    or another one was published into a store that follows a mirror) or "planned" (``dry_run``).
    """

    state: Outcome
    store: str
    generation: str | None = None
    name: str | None = None  # of the dataset
    data_date: str | None = None  # of its oldest deciding source, ISO 8601
    bytes: int | None = None  # of its files
    rejected: int = 0  # rows of the sources
    nulled: int = 0  # invalid values of the sources
    gates: tuple[Verdict, ...] = ()
    removed: tuple[str, ...] = ()  # generations that were pruned
    archived: tuple[str, ...] = ()  # generations that became archives
    seconds: dict[str, float] = field(default_factory=dict)  # by step
    warnings: tuple[str, ...] = ()  # such as failures after the publication, a line each


def run(job: Job) -> UpdateResult:
    """Update a store once; raises the errors of ``update``."""
    with job.place() as folder:
        before, began = replace(read_state(job.store), source=job.title), timestamp()
        if _is_recent(job, before):
            job.tell(f"the last update of {job.store} is recent; nothing done")
            return _result(job, "unchanged", PruneResult())
        try:
            outcome, members = _publish(job, before, folder)
        except (GeoLookupError, OSError) as error:
            with suppress(OutputError):  # the disk may be full: the first failure is the cause
                _write(job, before.after_failure(str(error)))
            raise
        pruned = PruneResult()
        if outcome == "published":
            pruned = prune_after(job.store, job.retention)
        generation = "" if job.current is None else job.current.name
        size = before.bytes + job.counts["bytes"]
        members = {"inputs": "", **members, "began_at": began, "generation": generation}
        try:
            _write(job, before.after_success(outcome, **members, bytes=size))
        except OutputError as error:  # the store is up to date
            pruned.warnings.append(f"--if-older will not know of this update: {error}")
    return _result(job, outcome, pruned)


def _is_recent(job: Job, before: State) -> bool:
    """Return whether an update from this source that succeeded began less than the limit ago.

    False for a time in the future: after a clock was wrong, updates must not stop.
    """
    if job.if_older is None or job.current is None or not before.began_at:
        return False
    passed = datetime.now(UTC) - read_timestamp(before.began_at)
    return timedelta(0) <= passed < job.if_older


def _publish(job: Job, before: State, folder: Path) -> tuple[Outcome, dict[str, Any]]:
    """Publish what the source offers; return the outcome, and members of the state after it."""
    with _offer(job, before, folder) as offer:
        if offer.incoming is None:
            return offer.outcome, dict(offer.members)
        with job.step("publishing"):
            is_changed = publish_into(
                job.store,
                offer.incoming,
                gate=offer.gate,
                withdrawn=offer.withdrawn,
                signature=offer.signature,
            )
        return "published" if is_changed else "unchanged", dict(offer.members)


def _offer(job: Job, before: State, folder: Path) -> AbstractContextManager[Offer]:
    if isinstance(job.source, Mirror):
        return mirror_offer(job, job.source, before, folder)
    if isinstance(job.source, Path):
        return archive_offer(job, job.source)
    return recipe_offer(job, job.source, before, folder)


def _write(job: Job, state: State) -> None:
    if not job.dry_run:
        write_state(job.store, state)


def _result(job: Job, outcome: Outcome, pruned: PruneResult) -> UpdateResult:
    result = UpdateResult(
        outcome,
        str(job.store),
        rejected=job.counts["rejected"],
        nulled=job.counts["nulled"],
        gates=tuple(job.gates),
        removed=tuple(pruned.removed),
        archived=tuple(pruned.packed),
        seconds=job.seconds,
        warnings=(*job.warnings, *pruned.warnings),
    )
    if job.current is None:
        return result
    result = replace(result, generation=job.current.name)
    with suppress(DatasetError):  # damaged meanwhile
        metadata = read_manifest(job.current).metadata()
        age = metadata.age.date
        return replace(result, name=metadata.name, data_date=age, bytes=metadata.bytes)
    return result
