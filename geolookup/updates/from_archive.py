"""What an archive of ``pack`` offers to a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geolookup.archives.head import open_archive
from geolookup.store.incoming import from_archive
from geolookup.updates.job import Job, Offer
from geolookup.updates.state import State


@contextmanager
def archive_offer(job: Job, archive: Path, _before: State, _folder: Path) -> Iterator[Offer]:
    """Yield the dataset of an archive; only its head is read before it is published."""
    with open_archive(archive) as (head, members):
        generation = head.manifest.generation
        if generation in job.withdrawn:
            yield Offer("held")
        elif job.dry_run:
            is_current = job.current is not None and job.current.name == generation
            yield Offer("unchanged" if is_current else "planned")
        else:
            yield Offer("published", incoming=from_archive(head, members))
