"""``publish``: a dataset, or the archive of one, becomes a generation of a store."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

from geolookup.archives.extract import extract
from geolookup.archives.head import Head, is_archive, open_archive
from geolookup.archives.members import SUFFIX, Members
from geolookup.errors import DatasetError
from geolookup.history.adding import add
from geolookup.history.past import read_since
from geolookup.history.pruning import log_warnings, prune_after
from geolookup.integrity import VerifiedDataset
from geolookup.store import pointer, resolve
from geolookup.store.changing import store_path
from geolookup.store.in_force import AsOf
from geolookup.store.incoming import IncomingDataset, check_expected, from_folder
from geolookup.store.retention import Retention


def publish(
    dataset: str | os.PathLike[str] | None,
    store: str | os.PathLike[str] | None = None,
    *,
    full: str | os.PathLike[str] | None = None,
    expect: str | None = None,
    since: AsOf | None = None,
    keep: int | None = None,
    keep_for: timedelta | float | str | None = None,
) -> str:
    """Make a dataset the current generation of a store; return its id, 64 hexadecimal digits.

    ``dataset`` is a path that ``geolookup.open`` accepts, or an archive of ``pack``; of a store the
    current generation is published. ``store`` None: the user's store. A missing store is created. A
    delta is applied to its base, any generation of the store. If the archive cannot be published,
    ``full`` is published: a dataset, or an archive of the whole one, of the same generation.
    ``expect`` is the only generation id that is accepted. Files are copied; on btrfs and XFS a copy
    shares their blocks. A generation that the store already has only becomes current. Raises
    DatasetError for a missing or damaged dataset, archive or base, for a wrong generation id, and
    for another id than ``expect``; OutputError for a folder that is not a store or cannot be
    written. The store then stays unchanged.

    ``since`` (a date or instant, as text or object) puts the dataset into the past: it was in force
    from then until the next change. It becomes current only if it is the newest, and is kept as a
    delta unless it belongs to the two newest. ``keep`` or ``keep_for`` prunes the store afterwards,
    as ``prune`` does; a failure of that is a warning in the log ``geolookup``. Raises ValueError or
    TypeError for a malformed or future ``since``, and for a malformed ``keep`` or ``keep_for``.

    A store that trusts keys (``geolookup signing-keys trust``) accepts only datasets that one of
    them has signed, with the name of the dataset in the store and no older signature; DatasetError
    for any other dataset. With ``since``, an older signature is accepted unless the dataset becomes
    current. The signature of an archive is checked before a file is written.
    """
    store = store_path(store)
    begin = None if since is None else read_since(since)
    is_pruned = keep is not None or keep_for is not None
    retention = Retention.of(keep, keep_for)
    generation = _publish(dataset, store, full, expect, begin)
    if begin is not None and not is_pruned:
        retention = Retention.of_all(pointer.read(store))
    if is_pruned or begin is not None:
        log_warnings(prune_after(store, retention))
    return generation


def _publish(
    dataset: str | os.PathLike[str] | None,
    store: Path,
    full: str | os.PathLike[str] | None,
    expect: str | None,
    since: str | None,
) -> str:
    if dataset is None or not _is_archive(path := Path(dataset)):
        incoming = from_folder(Path(resolve.folder(dataset)))
        check_expected(incoming.generation, expect, incoming.path)
        add(store, incoming, since)
        return incoming.generation
    with open_archive(path) as (head, members):
        generation = head.manifest.generation
        check_expected(generation, expect, path)
        try:
            add(store, _from_archive(head, members), since)
        except DatasetError as error:
            if full is None:
                raise
            _warn(error, full)
            return _publish(full, store, None, generation, since)
    return generation


def _is_archive(path: Path) -> bool:
    """Return whether a path is an archive, by its name or its first bytes; it may be damaged."""
    return path.is_file() and (path.name.endswith(SUFFIX) or is_archive(path))


def _from_archive(head: Head, members: Members) -> IncomingDataset:
    """Return the dataset of an archive; if the store has its generation, only the head is read."""

    def write(folder: Path) -> VerifiedDataset:
        return extract(head, members, folder)

    return IncomingDataset(
        members.archive, head.manifest.generation, head.manifest_text, head.signature, write
    )


def _warn(error: DatasetError, full: str | os.PathLike[str]) -> None:
    from logging import getLogger

    getLogger("geolookup").warning("%s; publishing %s instead", error, os.fspath(full))
