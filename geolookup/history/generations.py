"""The generations of a store: list them, make another one current, roll back."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.store import pointer
from geolookup.store.changing import changing, store_path
from geolookup.store.pointer import Publication

if TYPE_CHECKING:
    from geolookup.signing.keys import PrivateKey, SigningKeys


_KeptAs = Literal["folder", "delta"]


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of a store."""

    generation: str
    at: str  # when it was last published, ISO 8601 in UTC
    current: bool  # whether engines answer from it
    withdrawn: bool  # whether a rollback withdrew it
    in_force_since: str | None  # when it last became current, ISO 8601 in UTC
    data_date: str | None  # of the oldest deciding source, ISO 8601
    kept_as: _KeptAs
    bytes: int | None  # of its files; None, as ``data_date``, if it is damaged


def generations(store: str | os.PathLike[str] | None = None) -> list[Generation]:
    """Return the generations of a store, by default the user's, the last published first.

    Each has ``generation`` (its id, 64 hexadecimal digits), ``at`` (when it was last published,
    ISO 8601 in UTC), ``current`` and ``withdrawn``, ``in_force_since`` (when it last became
    current), ``data_date`` (of the oldest deciding source; None if unknown), ``kept_as`` ("folder"
    or "delta") and ``bytes``. Raises DatasetError without a store.
    """
    store = store_path(store)
    published = pointer.read_existing(store)
    current = pointer.not_withdrawn(published)[-1]
    since = {change.generation: change.since for change in pointer.read_changes(store)}
    return [
        Generation(
            entry.generation,
            entry.at,
            entry is current,
            entry.withdrawn,
            since.get(entry.generation),
            *_data(store, entry.generation),
        )
        for entry in reversed(published)
    ]


def _data(store: Path, generation: str) -> tuple[str | None, _KeptAs, int | None]:
    """Return the date of the data, how a generation is kept, and its bytes."""
    is_delta = pointer.is_delta(store, generation)
    try:
        if not is_delta:
            metadata = read_manifest(pointer.folder_of(store, generation)).metadata()
            return metadata.age.date, "folder", metadata.bytes
        from geolookup.history.kept_deltas import manifest_of  # imports Arrow: slow

        size = Path(pointer.delta_of(store, generation)).stat().st_size
        return manifest_of(store, generation).metadata().age.date, "delta", size
    except (DatasetError, FileNotFoundError):  # damaged, or removed meanwhile
        return None, "delta" if is_delta else "folder", None


def rollback(store: str | os.PathLike[str] | None = None, *, signing_keys: SigningKeys = ()) -> str:
    """Withdraw the current generation of a store, by default the user's; return the new one's id.

    The generation before it becomes current; it is verified first. A withdrawn generation stays in
    the store until it is pruned; ``publish`` makes it current again, a rollback never does.
    ``signing_keys`` is the file of a private key, or several, to sign the new current generation
    again: if keys are trusted, no older signature is accepted. Raises DatasetError without a
    store or a generation before the current one, a damaged one, or one whose signature the store
    does not accept, KeyFileError for a bad key, OutputError if the store cannot be written; the
    store then does not change.
    """
    from geolookup.history.kept_deltas import restore  # imports Arrow: slow
    from geolookup.integrity import verify
    from geolookup.signing.keys import read_signing_keys  # slow, too

    store = store_path(store)
    signers = read_signing_keys(signing_keys)
    with changing(store) as published:
        not_withdrawn = pointer.not_withdrawn(published)
        if len(not_withdrawn) < 2:
            raise DatasetError(store, "no generation before the current one", "publish another")
        before, current = not_withdrawn[-2:]
        restore(store, before.generation)
        verify(pointer.folder_of(store, before.generation))
        _sign_or_check(store, before.generation, signers)
        pointer.write(store, [_mark(entry, {current.generation}) for entry in published])
    return before.generation


def _mark(entry: Publication, withdrawn: Collection[str]) -> Publication:
    """Return an entry of the pointer, the same one unless it has to be marked as withdrawn."""
    if entry.withdrawn or entry.generation not in withdrawn:
        return entry
    return Publication(entry.generation, entry.at, withdrawn=True)


def _sign_or_check(store: Path, generation: str, signers: Sequence[PrivateKey]) -> None:
    """Sign a generation, or check that the store accepts its signature."""
    from geolookup.store.signatures import check_trusted, sign_generation
    from geolookup.store.trusted import trust_of

    if signers:
        sign_generation(store, generation, signers)
    elif (trust := trust_of(store)) is not None:
        check_trusted(pointer.folder_of(store, generation), trust)


def make_current(
    store: Path, generation: str, withdrawn: Collection[str] = (), signature: bytes | None = None
) -> None:
    """Make a generation that a store has the current one, and mark others as withdrawn, in a step.

    For a store that follows another. The generation is verified first, unless it is current
    already. It gets ``signature`` if that is newer than its own. Raises DatasetError if the
    generation is missing or damaged, and for a signature of other bytes, or one that the store does
    not accept; OutputError if the store cannot be written. The store then does not change.
    """
    from geolookup.history.kept_deltas import restore
    from geolookup.integrity import verify

    with changing(store) as published:
        folder = Path(pointer.folder_of(store, generation))
        is_current = pointer.not_withdrawn(published)[-1].generation == generation
        restore(store, generation)
        if not (is_current and folder.is_dir()):
            verify(folder)
        _adopt(store, folder, signature)
        others = [_mark(entry, withdrawn) for entry in published if entry.generation != generation]
        # Only a change is written: otherwise each poll of a follower would make the engines reload.
        now = [entry for entry in published if is_current and entry.generation == generation]
        if now != published[-1:] or others != published[:-1]:
            pointer.write(store, [*others, *(now or [pointer.entry_now(generation)])])


def _adopt(store: Path, folder: Path, signature: bytes | None) -> None:
    """Check the signature of a generation, if the store trusts keys, and write a newer one."""
    from geolookup.signing.statement import read_signature
    from geolookup.store.signatures import adopt_signature, manifest_text
    from geolookup.store.trusted import trust_of

    trust = trust_of(store)
    if trust is not None:
        trust.check(manifest_text(folder), signature or read_signature(folder), folder)
    if signature is not None:
        adopt_signature(folder, signature)
