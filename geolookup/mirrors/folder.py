"""``mirror``: a static folder of a store's archives, for any web server or bucket.

::

    FOLDER/index.json                           the generations and their archives, signed
    FOLDER/archives/GENERATION.DIGITS.tar.zst   the current generation and the one before it

Strategy: archives first, then the index by one rename. A reader fetches the index, then files that
it names. So files of the former index stay until the index after this one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from geolookup.archives.head import Head
from geolookup.contract.gregorian import timestamp
from geolookup.dataset.metadata import age_limit
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic, open_regular
from geolookup.history.archived import head_of
from geolookup.mirrors.archive_files import archive_file, changing, remove_others
from geolookup.mirrors.index import INDEX, Index, IndexEntry, index_text, read_index
from geolookup.mirrors.rules import check_acceptable
from geolookup.signing.keys import PrivateKey, SigningKeys, read_signing_keys
from geolookup.signing.statement import read_statement, serial_of
from geolookup.store import pointer
from geolookup.store.changing import store_path
from geolookup.store.pointer import Publication
from geolookup.store.resolve import fingerprint, retry_if_changed

#: Withdrawn generations that are listed.
_MOST_WITHDRAWN = 100


@dataclass(frozen=True, slots=True)
class MirrorResult:
    """The result of ``mirror``; ``state`` is "published", or "unchanged" if the index stays."""

    state: str
    index: Index


def mirror(
    store: str | os.PathLike[str] | None,
    output: str | os.PathLike[str],
    *,
    signing_keys: SigningKeys = (),
    expires: timedelta | str | None = None,
) -> MirrorResult:
    """Write the current generation of a store into a folder that other stores follow.

    The folder is made if it is missing. It gets an archive of the current generation and of the one
    before it, and an index. The index lists the withdrawn ones too. Undamaged archives are kept.
    The index is replaced last, atomically; the files of the former one stay for its readers.
    ``signing_keys`` is the file of a private key that signs the index, or several. ``expires`` is
    the time until followers refuse it, such as "7d"; by default they never do. One call at a time
    changes a folder, others wait. Raises DatasetError for a store that is missing or damaged, and
    for a generation or an index that followers would refuse; OutputError for a folder that is
    neither a mirror nor empty, or cannot be written; ValueError for an invalid ``expires``. On an
    error the index does not change.
    """
    limit = None if expires is None else age_limit(expires, "expires")
    keys = read_signing_keys(signing_keys)
    store, folder = store_path(store), Path(output)
    pointer.read_existing(store)  # without a store, no folder is made
    with changing(folder):
        text, former = _former_index(folder)
        check = partial(check_acceptable, store, folder=folder, former=former, keys=keys)
        pack = partial(_pack_generations, store, folder, check)
        # A generation may be pruned or withdrawn meanwhile.
        packed = retry_if_changed(pack, partial(fingerprint, str(store)))
        index = _index(*packed, former, limit)
        if former is not None and limit is None and _is_same(index, former, text, keys):
            return MirrorResult("unchanged", former)
        _replace(folder, index, keys)
        # If both list the same files, the additional index must not shorten the life of others.
        if former is not None and {*former.files} != {*index.files}:
            remove_others(folder, (*former.files, *index.files))
    return MirrorResult("published", index)


def _former_index(folder: Path) -> tuple[bytes, Index | None]:
    """Return text and content of the index that a mirror has; DatasetError for a damaged one."""
    path = folder / INDEX
    try:
        with open_regular(path) as stream:
            text = stream.read()
    except FileNotFoundError:
        return b"", None
    try:
        return text, read_index(text, None, path)
    except DatasetError as error:
        raise DatasetError(path, error.problem, "remove it, and mirror again") from None


def _pack_generations(
    store: Path, folder: Path, check: Callable[[Head], None]
) -> tuple[str, tuple[IndexEntry, ...]]:
    """Return the name of the dataset and the entries of the index, their archives written.

    These are the current generation, the one before it and those withdrawn, the last first.
    """
    content = pointer.read_existing(store)
    *others, current = content.not_withdrawn
    heads = {current: _fetched_head(store, current)}
    check(heads[current])
    with suppress(DatasetError):  # pruned, or of another format version
        heads |= {entry: _fetched_head(store, entry) for entry in others[-1:]}
    withdrawn = [entry for entry in content.published if entry.withdrawn][-_MOST_WITHDRAWN:]
    entries = (
        _entry(store, folder, entry, heads.get(entry))
        for entry in reversed(content.published)
        if entry in heads or entry in withdrawn
    )
    return heads[current].manifest.metadata().name, tuple(entries)


def _fetched_head(store: Path, entry: Publication) -> Head:
    """Return the head of a generation that followers fetch.

    Raises DatasetError for a damaged one, and for a signature of another one.
    """
    head = head_of(store, entry.generation)
    if head.signature is not None:
        path = pointer.folder_of(store, entry.generation)
        read_statement(head.signature, head.manifest_text, None, path)
    return head


def _entry(store: Path, folder: Path, entry: Publication, head: Head | None) -> IndexEntry:
    """Return the entry of a generation; without a head it is withdrawn."""
    if head is None:
        return IndexEntry(entry.generation, entry.at, archive=None, signature=None)
    signature = None if head.signature is None else head.signature.decode()
    return IndexEntry(entry.generation, entry.at, archive_file(store, head, folder), signature)


def _index(
    name: str, entries: tuple[IndexEntry, ...], former: Index | None, limit: timedelta | None
) -> Index:
    """Return the index; its serial is the present time, whose clock may be behind others.

    It is above the serials of the former index and of the statements: a follower that has only its
    dataset accepts no older index.
    """
    now = datetime.now(UTC)
    serials = [serial_of(item.signature.encode(), INDEX) for item in entries if item.signature]
    serials.append(0 if former is None else former.serial)
    return Index(
        name=name,
        serial=max(time.time_ns() // 1000, max(serials) + 1),
        published_at=timestamp(now),
        current=next(entry.generation for entry in entries if entry.archive is not None),
        generations=entries,
        expires_at=None if limit is None else timestamp(now + limit),
    )


def _is_same(index: Index, former: Index, text: bytes, keys: Sequence[PrivateKey]) -> bool:
    """Return whether an index differs from the former one only in its time.

    Ed25519 is deterministic: the same content signed with the same keys is the same text.
    """
    same = replace(index, serial=former.serial, published_at=former.published_at)
    return index_text(same, keys) == text


def _replace(folder: Path, index: Index, keys: Sequence[PrivateKey]) -> None:
    """Replace the index of a mirror, atomically, by one that its readers can read."""
    path, text = folder / INDEX, index_text(index, keys)
    read_index(text, [key.public for key in keys] or None, path)
    with atomic.staged_file(path) as fresh:
        fresh.write_bytes(text)
        if path.exists():
            _set_later(fresh, path)


def _set_later(fresh: Path, former: Path) -> None:
    """Set the modification time of a file to a later second than the former one.

    Web servers answer If-Modified-Since by seconds (RFC 9110, section 8.8.2), and some make their
    ETag of second and size: readers would never learn of a second index within one.
    """
    second = 1_000_000_000
    # Former index at 12:00:05.3: the new one is of 12:00:06.0 at least.
    earliest = (former.stat().st_mtime_ns // second + 1) * second
    if fresh.stat().st_mtime_ns < earliest:
        os.utime(fresh, ns=(earliest, earliest))
