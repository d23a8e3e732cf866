"""The offer of a mirror to a store: the current generation of its index, if it has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from geolookup.dataset.digests import is_whole
from geolookup.errors import DatasetError, short_id
from geolookup.history.incoming import Incoming, from_archive, from_folder
from geolookup.mirrors.index import INDEX, File, Index, has_expired
from geolookup.mirrors.rules import accepted_index, check_incoming
from geolookup.mirrors.source import Mirror, forget
from geolookup.store import pointer
from geolookup.updates.job import Job, Offer
from geolookup.updates.state import State


@contextmanager
def mirror_offer(job: Job, mirror: Mirror, before: State, folder: Path) -> Iterator[Offer]:
    """Poll a mirror, and yield its offer; the store keeps what it has if the block fails.

    Raises MirrorError if the mirror does not answer, DatasetError for an index or an archive that
    is damaged or refused.
    """
    with job.result.step("poll", "download"):
        path, size = mirror.fetch_index(folder)
        text = path.read_bytes()
    job.count(downloaded=size)
    digest, current = hashlib.sha256(text).hexdigest(), pointer.read(job.store).current
    if current is not None and not pointer.is_unpacked(job.store, current):
        current = None  # it lost its files
    # The same bytes as those that were followed last: no signature needs to be checked again.
    is_followed = current is not None and digest == before.index
    if is_followed and not has_expired(before.expires_at, datetime.now(UTC)):
        # Also in every later poll: another generation is current here until the mirror publishes.
        yield Offer("unchanged" if before.followed.split()[:1] == [current] else "held")
        return
    try:
        index = accepted_index(text, f"{mirror.safe_url}/{INDEX}", job.store, before.serial)
        followed = f"{index.current} {index.now.published_at}"
        members = {"index": digest, "serial": index.serial, "followed": followed}
        members["expires_at"] = index.expires_at or ""
        # Another generation was made current in the store; the mirror has not published since.
        if current not in (None, index.current) and followed == before.followed:
            yield Offer("held", members=members)
        elif job.dry_run:
            if current != index.current:
                job.tell(f"would fetch and publish generation {short_id(index.current)}")
            yield Offer("unchanged" if current == index.current else "planned")
        else:
            with _fetch_generation(job, mirror, index, folder) as incoming:
                newest = incoming.with_signature(index.signature)
                yield Offer("published", newest, members, withdrawn=index.withdrawn)
    except BaseException:
        # With the ETag of a refused index, a server could answer "not modified" for ever.
        forget(folder, "index")
        raise
    forget(folder, "archives")


@contextmanager
def _fetch_generation(job: Job, mirror: Mirror, index: Index, folder: Path) -> Iterator[Incoming]:
    """Yield the current generation of an index, from the store if it has it, else fetched."""
    address = f"{mirror.safe_url}/{INDEX}"
    if stored := _stored_generation(job.store, index, address):
        yield stored
        return
    file = cast("File", index.now.archive)  # read_index demands one of the current generation
    with job.result.step("download", "publish"):
        archive = mirror.fetch_archive(file, folder)
    job.count(downloaded=file.bytes)
    job.tell(f"{mirror.safe_url}: an archive of {file.bytes:,} bytes")
    with from_archive(archive) as incoming:
        check_incoming(incoming, index, address)
        yield incoming


def _stored_generation(store: Path, index: Index, address: str) -> Incoming | None:
    """Return the current generation of an index, if the store has its folder undamaged."""
    folder = Path(pointer.folder_of(store, index.current))
    if not is_whole(folder):
        return None
    try:
        incoming = from_folder(folder)
        check_incoming(incoming, index, address)
    except DatasetError:
        return None
    return incoming
