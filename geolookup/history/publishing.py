"""``publish``: a dataset, or the archive of one, becomes a generation of a store.

``publish_into`` is the one way into a store: for a folder, an archive, one that was fetched from a
mirror, and what the compiler has staged. Strategy: what the dataset states comes first, and the
store checks whether it trusts that before a file is written. The files are written to a staging
directory, verified in it once, and compared with the current generation. The folder is renamed, and
the pointer replaced. Both steps are one rename, so a process that dies leaves the old or the new
generation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from geolookup.dataset.digests import is_whole
from geolookup.dataset.manifest import manifest_text
from geolookup.errors import DatasetError, short_id
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.history.archived import remove_archive
from geolookup.history.generations import plan, prune_after
from geolookup.history.incoming import Incoming, open_incoming
from geolookup.history.result import StoreResult
from geolookup.signing.trust import Trust
from geolookup.store import pointer
from geolookup.store.changing import changing, check_place, store_path
from geolookup.store.in_force import ALL, AsOf, Retention, is_past, read_since, with_generation
from geolookup.store.trusted import adopt_signature, check_trusted, trust_of

#: Compares the current generation with a new one; raises an error to keep the current one.
Gate = Callable[[Path, Path], None]


def publish(
    dataset: str | os.PathLike[str] | None,
    store: str | os.PathLike[str] | None = None,
    *,
    expect: str | None = None,
    since: AsOf | None = None,
    keep: int | None = None,
    keep_for: timedelta | float | str | None = None,
    keep_unpacked: int | None = None,
    dry_run: bool = False,
) -> StoreResult:
    """Make a dataset the current generation of a store; return what was done.

    ``dataset`` is a path that ``geolookup.open`` accepts, or an archive of ``pack``; of a store the
    current generation is published. ``store`` None: the user's store. A missing store is created.
    ``expect`` is the only generation id that is accepted, 64 hexadecimal digits. Files are copied;
    on btrfs and XFS a copy shares their blocks. Raises DatasetError for a missing or damaged
    dataset or archive, for a wrong generation id, and for another id than ``expect``; OutputError
    for a folder that is not a store or cannot be written. The store then stays unchanged.

    ``since`` (a date or instant, as text or object) puts the dataset into the past: it was in force
    from then until the next change. It becomes current only if it is the newest. ``keep``,
    ``keep_for`` and ``keep_unpacked`` prune the store afterwards, as ``prune`` does; by default all
    generations are kept, the last two as folders, older ones as archives. A failure of that is
    among the ``warnings`` of the result, and in the log ``geolookup``. Raises ValueError or
    TypeError for a malformed or future ``since``, and for malformed numbers to keep. ``dry_run``
    only reads: the result is "planned", with the generations that would go.

    A store that trusts keys (``geolookup mirror keys trust``) accepts only datasets that one of
    them has signed, with the name of the dataset in the store and no older signature; DatasetError
    for any other dataset. With ``since``, an older signature is accepted unless the dataset becomes
    current. The signature of an archive is checked before a file is written.
    """
    store = store_path(store)
    begin = None if since is None else read_since(since)
    retention = Retention.of(keep, keep_for, keep_unpacked, ALL)
    result = StoreResult(str(store))
    with open_incoming(dataset) as incoming:
        check_expected(incoming, expect)
        kept = retention.kept(with_generation(store, incoming.generation, begin))
        if incoming.generation not in {entry.generation for entry in kept.published}:
            problem = "keep would remove this generation at once; keep more, or use keep_for"
            raise ValueError(problem)
        for change in pointer.read(store).changes:
            if change.since == begin and change.generation != incoming.generation:
                replaced = short_id(change.generation)
                warning = f"generation {replaced} was in force since {begin}, and is no longer"
                result.warnings.append(warning)
        if dry_run:
            return plan_publication(store, incoming, retention, begin)
        with result.step("publish", "prune"):
            is_changed = publish_into(store, incoming, since=begin)
    prune_after(store, retention, result)
    result.log_warnings()
    is_current = pointer.read(store).current == incoming.generation
    state = ("published" if is_current else "past") if is_changed else "unchanged"
    return result.ended(state, incoming.generation)


def check_expected(incoming: Incoming, expect: str | None) -> None:
    """Raise DatasetError if the generation is not the expected one."""
    if expect not in (None, incoming.generation):
        is_id = len(expect or "") == len(incoming.generation)
        expected = short_id(expect or "") if is_id else expect
        problem = f"its generation is {short_id(incoming.generation)}, but {expected} was expected"
        remedy = "fetch the dataset that you expect" if is_id else "state all 64 digits of the id"
        raise DatasetError(incoming.path, problem, remedy)


def plan_publication(
    store: Path, incoming: Incoming, retention: Retention, since: str | None = None
) -> StoreResult:
    """Return what a publication would do; nothing is written, and no file of it is verified.

    Raises as a publication, but for damaged files.
    """
    check_place(store)
    _check_trust(store, incoming, since)
    kept = retention.kept(with_generation(store, incoming.generation, since))
    result = plan(store, retention, kept)
    return result.ended("planned", incoming.generation, incoming.head.manifest)


def publish_into(
    store: Path,
    incoming: Incoming,
    *,
    since: str | None = None,
    gate: Gate | None = None,
    withdrawn: Collection[str] = (),
) -> bool:
    """Make a dataset the current generation of a store; return whether the store has changed.

    With ``since`` (a time as ``timestamp`` writes it) it was in force from then on, until the next
    change. ``gate`` compares the folder of the current generation with the new one. ``withdrawn``
    are marked as such in the same step. Raises DatasetError for a dataset that the store does not
    trust or that is damaged, OutputError for a folder that is not a store or cannot be written, and
    what ``gate`` raises. The store then stays unchanged.
    """
    with changing(store, make=True):
        trust = _check_trust(store, incoming, since)
        is_placed = _place(store, incoming, trust, gate)
        after = with_generation(store, incoming.generation, since, withdrawn)
        return pointer.save(store, after) or is_placed


def _check_trust(store: Path, incoming: Incoming, since: str | None) -> Trust | None:
    """Check the signature of a dataset; return the trust of the store, None if it trusts all.

    Datasets of the past have older signatures.
    """
    trust = trust_of(store)
    if trust is None:
        return None
    if is_past(pointer.read(store), since):
        trust = replace(trust, serial=0)
    trust.check(incoming.head.manifest_text, incoming.head.signature, incoming.path)
    return trust


def _place(store: Path, incoming: Incoming, trust: Trust | None, gate: Gate | None) -> bool:
    """Give a dataset its folder in the store; return whether the store did not have these bytes."""
    target = Path(pointer.folder_of(store, incoming.generation))
    current = pointer.read(store).current
    # Also the same manifest: of the same values, another version of Arrow makes other bytes.
    is_new = not is_whole(target) or manifest_text(target) != incoming.head.manifest_text
    with atomic.staged_folder(target, FOLDER_MODE) if is_new else nullcontext(target) as folder:
        if is_new and incoming.write(folder).generation != incoming.generation:
            raise DatasetError(incoming.path, "replaced while it was read", "publish again")
        if gate is not None and current is not None and current != incoming.generation:
            gate(Path(pointer.folder_of(store, current)), folder)
        adopt_signature(folder, incoming.head.signature)
        if is_new and trust is not None:
            check_trusted(folder, trust)  # again: the source may have changed since
    remove_archive(store, incoming.generation)
    return is_new
