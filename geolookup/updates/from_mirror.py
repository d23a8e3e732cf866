"""What a mirror offers to a store: the current generation of its index, if that has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from geolookup.archives.head import open_archive
from geolookup.errors import DatasetError, MirrorError, UpdateError
from geolookup.integrity import VerifiedDataset
from geolookup.mirrors.index import INDEX, File, Index, has_expired
from geolookup.mirrors.rules import accepted_index, check_archive
from geolookup.mirrors.source import Mirror, forget_archives, forget_index
from geolookup.signing.statement import read_signature
from geolookup.store import pointer
from geolookup.store.incoming import IncomingDataset, from_archive, from_folder
from geolookup.updates.job import Job, Offer
from geolookup.updates.state import State


@contextmanager
def mirror_offer(job: Job, mirror: Mirror, before: State, folder: Path) -> Iterator[Offer]:
    """Poll a mirror; UpdateError if it does not answer, or has nothing that the store accepts."""
    try:
        with job.step("polling"):
            path, size = mirror.fetch_index(folder)
        job.counts["bytes"] += size
        text = path.read_bytes()
        digest = hashlib.sha256(text).hexdigest()
        # The same bytes as those that were followed last: no signature needs to be checked again.
        if job.current and before.index == digest and not _is_over(before.expires_at):
            yield Offer("unchanged")
            return
        try:
            index = accepted_index(text, f"{mirror.safe_url}/{INDEX}", job.store, before.serial)
            followed = f"{index.current} {index.now.published_at}"
            members = {"index": digest, "serial": index.serial, "followed": followed}
            members["expires_at"] = index.expires_at or ""
            with _offer(job, mirror, index, folder, is_new=followed != before.followed) as offer:
                yield offer._replace(members=members)
        except BaseException:
            # With the ETag of a refused index, a server could answer "not modified" for ever.
            forget_index(folder)
            raise
        forget_archives(folder)
    except (MirrorError, DatasetError) as error:
        raise UpdateError([str(error)], wait=getattr(error, "wait", None)) from error


def _is_over(expires_at: str) -> bool:
    return has_expired(expires_at, datetime.now(UTC))


@contextmanager
def _offer(
    job: Job, mirror: Mirror, index: Index, folder: Path, *, is_new: bool
) -> Iterator[Offer]:
    """Yield the current generation of an index; ``is_new``: the mirror has published since."""
    current = job.current.name if job.current else ""
    if current not in ("", index.current) and not is_new:
        yield Offer("held")  # another generation was made current in the store
    elif current == index.current and _is_followed(job.store, index):
        yield Offer("unchanged")
    elif job.dry_run:
        yield Offer("planned")
    else:
        signature = index.now.signature
        with _incoming(job, mirror, index, folder) as incoming:
            yield Offer(
                "published",
                incoming=incoming,
                withdrawn=index.withdrawn,
                signature=None if signature is None else signature.encode(),
            )


def _is_followed(store: Path, index: Index) -> bool:
    """Return whether a store has the signature of the index, and its withdrawn generations."""
    signature = index.now.signature
    own = read_signature(pointer.folder_of(store, index.current))
    not_withdrawn = {entry.generation for entry in pointer.not_withdrawn(pointer.read(store))}
    return not index.withdrawn & not_withdrawn and signature in (None, (own or b"").decode())


@contextmanager
def _incoming(
    job: Job, mirror: Mirror, index: Index, folder: Path
) -> Iterator[IncomingDataset]:
    """Yield the current generation of an index, from the store if it has it, else fetched."""
    stored = Path(pointer.folder_of(job.store, index.current))
    if _is_whole(stored):
        yield from_folder(stored)
        return
    file = cast("File", index.now.archive)  # read_index demands one of the current generation
    with job.step("downloading"):
        archive = mirror.fetch_archive(file, folder)
    job.counts["bytes"] += file.bytes
    job.tell(f"{mirror.safe_url}: an archive of {file.bytes:,} bytes")
    with open_archive(archive) as (head, members):
        check_archive(head, archive, index, f"{mirror.safe_url}/{INDEX}")
        yield from_archive(head, members)


def _is_whole(folder: Path) -> bool:
    try:
        VerifiedDataset(folder)
    except DatasetError:
        return False
    return True
