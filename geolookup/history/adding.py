"""``add``: the one way in which a dataset becomes a generation of a store, current or of the past.

Strategy: manifest and signature come first. The store checks whether it trusts them before a file
is written. The files are written to a staging directory and verified in it, once. The
``VerifiedDataset`` folder is renamed, and the pointer replaced. Both steps are one rename, so a
process that dies leaves the old or the new generation.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.history.kept_deltas import remove, restore
from geolookup.history.past import is_current_since, with_past
from geolookup.integrity import VerifiedDataset
from geolookup.signing.trust import Trust
from geolookup.store import pointer
from geolookup.store.changing import changing
from geolookup.store.incoming import IncomingDataset
from geolookup.store.signatures import adopt_signature, check_trusted, manifest_text
from geolookup.store.trusted import trust_of


def add(store: Path, incoming: IncomingDataset, since: str | None = None) -> None:
    """Make a dataset the current generation of a store; a missing store is created.

    With ``since`` (a time as ``timestamp`` writes it) it was in force from then on, until the next
    change; it becomes current only if no other generation came later. Raises DatasetError for a
    dataset that the store does not trust or that is damaged, OutputError for a folder that is not a
    store or cannot be written; the store stays unchanged.
    """
    with changing(store, make=True) as published:
        changes = pointer.read_changes(store)
        is_past = since is not None and not is_current_since(changes, since)
        trust = _trust(store, is_past=is_past)
        if trust is not None:
            trust.check(incoming.manifest_text, incoming.signature, incoming.path)
        _write(store, incoming, trust)
        if since is not None and is_past:
            pointer.write(store, *with_past(published, changes, incoming.generation, since))
            return
        # A withdrawn generation is published again: its former entry goes.
        others = [entry for entry in published if entry.generation != incoming.generation]
        now = pointer.entry_now(incoming.generation)
        entry = now if since is None else pointer.Publication(incoming.generation, since)
        pointer.write(store, [*others, entry])


def _trust(store: Path, *, is_past: bool) -> Trust | None:
    """Return the requirements of the store; datasets of the past have older signatures."""
    trust = trust_of(store)
    return replace(trust, serial=0) if trust is not None and is_past else trust


def _write(store: Path, incoming: IncomingDataset, trust: Trust | None) -> None:
    """Write the folder of a dataset, unless the store has it undamaged."""
    target = Path(pointer.folder_of(store, incoming.generation))
    with suppress(DatasetError):  # a damaged delta: this dataset replaces it
        restore(store, incoming.generation)
    if _is_undamaged(target) and not _signs_other_bytes(incoming, target):
        incoming.check(target)
        if incoming.signature is not None:
            adopt_signature(target, incoming.signature)
        return
    with atomic.staged_folder(target, FOLDER_MODE) as fresh:
        if incoming.write(fresh).generation != incoming.generation:
            raise DatasetError(incoming.path, "replaced while it was read", "publish again")
        if trust is not None:
            check_trusted(fresh, trust)  # again: the source may have changed since
    remove(store, incoming.generation)


def _is_undamaged(folder: Path) -> bool:
    """Return whether a folder is an undamaged dataset."""
    try:
        VerifiedDataset(folder)
    except DatasetError:
        return False
    return True


def _signs_other_bytes(incoming: IncomingDataset, target: Path) -> bool:
    """Return whether a signed dataset has other bytes than the generation of its id.

    The id is of the values: another version of Arrow, or a base, lays the same ones out otherwise.
    """
    return incoming.signature is not None and incoming.manifest_text != manifest_text(target)
