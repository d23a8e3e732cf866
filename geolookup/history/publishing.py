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
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from geolookup.dataset.checksums import is_whole
from geolookup.dataset.manifest import manifest_text, parsed_manifest
from geolookup.errors import DatasetError, short_id
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.history.archived import remove_archive
from geolookup.history.incoming import Incoming, open_incoming
from geolookup.history.pruning import log_warnings, plan, prune_after
from geolookup.history.result import StoreResult
from geolookup.signing.trust import Trust
from geolookup.store import pointer
from geolookup.store.changing import changing, check_place, store_path
from geolookup.store.in_force import AsOf, is_current_since, read_since, with_past
from geolookup.store.pointer import Change, Publication, not_withdrawn
from geolookup.store.retention import ALL, Retention
from geolookup.store.signatures import adopt_signature, check_trusted
from geolookup.store.trusted import trust_of

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

    A store that trusts keys (``geolookup signing-keys trust``) accepts only datasets that one of
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
        _check_kept(store, incoming.generation, begin, retention)
        result.warnings += _replacement_warnings(store, incoming.generation, begin)
        if dry_run:
            return plan_publication(store, incoming, retention, begin)
        with result.step("publish"):
            is_changed = publish_into(store, incoming, since=begin)
    with result.step("prune"):
        prune_after(store, retention, result)
    log_warnings(result)
    is_current = pointer.current_of(store) == incoming.generation
    state = ("published" if is_current else "past") if is_changed else "unchanged"
    return result.ended(state, incoming.generation)


def _check_kept(store: Path, generation: str, since: str | None, retention: Retention) -> None:
    """Raise ValueError if a retention would remove the generation at once."""
    kept = retention.kept(*_with_generation(store, pointer.read(store), generation, since))
    if generation not in {entry.generation for entry in kept}:
        raise ValueError("keep would remove this generation at once; keep more, or use keep_for")


def _replacement_warnings(store: Path, generation: str, since: str | None) -> list[str]:
    """Return a warning if another generation came into force at that time: its time is lost."""
    return [
        f"generation {short_id(change.generation)} was in force since {since}, and is no longer"
        for change in pointer.read_changes(store)
        if change.since == since and change.generation != generation
    ]


def check_expected(incoming: Incoming, expect: str | None) -> None:
    """Raise DatasetError if the generation is not the expected one."""
    if expect not in (None, incoming.generation):
        is_id = expect is not None and len(expect) == len(incoming.generation)
        expected = short_id(expect) if expect and is_id else expect
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
    kept = retention.kept(*_with_generation(store, pointer.read(store), incoming.generation, since))
    result = plan(store, retention, kept)
    manifest = parsed_manifest(incoming.manifest_text, incoming.path)
    return result.ended("planned", incoming.generation, manifest)


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
    with changing(store, make=True) as published:
        trust = _check_trust(store, incoming, since)
        is_placed = _place(store, incoming, trust, gate)
        entries, changes = _with_generation(store, published, incoming.generation, since, withdrawn)
        is_listed = entries == published and changes == pointer.read_changes(store)
        if not is_listed:
            pointer.save(store, entries, changes)
    return is_placed or not is_listed


def _check_trust(store: Path, incoming: Incoming, since: str | None) -> Trust | None:
    """Check the signature of a dataset; return the trust of the store, None if it trusts all.

    Datasets of the past have older signatures.
    """
    trust = trust_of(store)
    if trust is None:
        return None
    if since is not None and not is_current_since(pointer.read_changes(store), since):
        trust = replace(trust, serial=0)
    trust.check(incoming.manifest_text, incoming.signature, incoming.path)
    return trust


def _place(store: Path, incoming: Incoming, trust: Trust | None, gate: Gate | None) -> bool:
    """Give a dataset its folder in the store; return whether the store did not have these bytes."""
    target = Path(pointer.folder_of(store, incoming.generation))
    # Also the same manifest: of the same values, another version of Arrow makes other bytes.
    is_new = not is_whole(target) or manifest_text(target) != incoming.manifest_text
    if is_new:
        with atomic.staged_folder(target, FOLDER_MODE) as fresh:
            if incoming.write(fresh).generation != incoming.generation:
                raise DatasetError(incoming.path, "replaced while it was read", "publish again")
            _adopt(fresh, incoming)
            if trust is not None:
                check_trusted(fresh, trust)  # again: the source may have changed since
            _compare(store, incoming, gate, fresh)
    else:
        _compare(store, incoming, gate, target)
        _adopt(target, incoming)
    remove_archive(store, incoming.generation)
    return is_new


def _compare(store: Path, incoming: Incoming, gate: Gate | None, folder: Path) -> None:
    """Compare the current generation with a dataset, if that is another one; see ``Gate``."""
    current = pointer.current_of(store)
    if gate is not None and current is not None and current != incoming.generation:
        gate(Path(pointer.folder_of(store, current)), folder)


def _adopt(folder: Path, incoming: Incoming) -> None:
    """Give a dataset in the store the newer signature of the same dataset outside."""
    if incoming.signature is not None:
        adopt_signature(folder, incoming.signature)


def _with_generation(
    store: Path,
    published: list[Publication],
    generation: str,
    since: str | None,
    withdrawn: Collection[str] = (),
) -> tuple[list[Publication], list[Change]]:
    """Return the entries and the changes of the pointer with a generation, new or not."""
    changes = pointer.read_changes(store)
    if since is not None and not is_current_since(changes, since):
        return with_past(published, changes, generation, since)
    entries = [pointer.withdraw(entry, withdrawn) for entry in published]
    current = [entry.generation for entry in not_withdrawn(entries)[-1:]]
    if since is None and current == [generation]:
        return entries, changes
    # A withdrawn generation is published again: its former entry goes.
    others = [entry for entry in entries if entry.generation != generation]
    entry = pointer.entry_now(generation, since)
    return [*others, entry], pointer.with_current(changes, entry)
