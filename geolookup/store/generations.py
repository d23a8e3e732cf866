"""The generations of a store: list them, roll back to the previous one, prune old ones."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.dataset.manifest import is_generation
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.store import pointer, user_store
from geolookup.store.changing import changing
from geolookup.store.pointer import Published

if TYPE_CHECKING:
    from geolookup.signing.keys import PrivateKey, Signing


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of a store."""

    generation: str
    at: str  # when it was last published, ISO 8601 in UTC
    current: bool  # whether engines answer from it
    withdrawn: bool  # whether a rollback withdrew it


def generations(store: str | os.PathLike[str] | None = None) -> list[Generation]:
    """Return the generations of a store, by default the user's, the last published first.

    Each has ``generation`` (its id, 64 hexadecimal digits), ``at`` (when it was last published,
    ISO 8601 in UTC), ``current`` and ``withdrawn``. Raises DatasetError if there is no store.
    """
    store = _place(store)
    published = pointer.read_existing(store)
    current = pointer.standing(published)[-1]
    return [
        Generation(each.generation, each.at, each is current, each.withdrawn)
        for each in reversed(published)
    ]


def rollback(store: str | os.PathLike[str] | None = None, *, sign: Signing = ()) -> str:
    """Withdraw the current generation of a store, by default the user's; return the new one's id.

    That is the generation before it, which is verified first. A withdrawn generation stays
    in the store until it is pruned; ``publish`` makes it current again, a rollback never
    does. ``sign`` is the file of a private key, or several, to sign the new current generation
    again: where keys are trusted, no older signature is accepted. Raises DatasetError if there is
    no store, no generation before the current one, a damaged one, or one whose signature the store
    does not accept, KeyFileError for a bad key, OutputError if the store cannot be written; it
    stays as it was then.
    """
    from geolookup.integrity import verify  # imports Arrow, which a list does not need
    from geolookup.signing.keys import signing_keys  # imports modules, which a list does not need

    store = _place(store)
    signers = signing_keys(sign)
    with changing(store) as published:
        standing = pointer.standing(published)
        if len(standing) < 2:
            raise DatasetError(store, "no generation before the current one", "publish another")
        before, current = standing[-2:]
        verify(pointer.folder_of(store, before.generation))
        _sign_or_check(store, before.generation, signers)
        withdrawn = Published(current.generation, current.at, withdrawn=True)
        pointer.write(store, [withdrawn if each is current else each for each in published])
    return before.generation


def _sign_or_check(store: Path, generation: str, signers: Sequence[PrivateKey]) -> None:
    """Sign a generation, or check that the store accepts it as it is signed."""
    from geolookup.store.sign import sign_generation
    from geolookup.store.signatures import check_trusted
    from geolookup.store.trusted import trust_of

    if signers:
        sign_generation(store, generation, signers)
    elif (trust := trust_of(store)) is not None:
        check_trusted(pointer.folder_of(store, generation), trust)


def prune(store: str | os.PathLike[str] | None = None, keep: int = pointer.KEEP) -> list[str]:
    """Remove all but the ``keep`` last published generations; return the removed ids.

    The store is by default the user's. The current generation is always kept, and the one
    before it unless ``keep`` is 1. Engines that use a removed generation continue to
    answer, where the system can remove mapped files; Windows cannot: close those engines
    first. Raises ValueError for a
    ``keep`` below 1, DatasetError if there is no store, OutputError if it cannot be written.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}; at least the current generation is kept")
    store = _place(store)
    with changing(store) as published:
        kept = _kept(published, keep)
        # First, so that the pointer never lists a missing generation.
        if len(kept) < len(published):
            pointer.write(store, kept)
        names = {each.generation for each in kept}
        removed = [path for path in _folders(store) if path.name not in names]
        for path in removed:
            _remove(path)
        return [path.name for path in removed]


def _place(store: str | os.PathLike[str] | None) -> Path:
    return Path(user_store.place() if store is None else store)


def _kept(published: list[Published], keep: int) -> list[Published]:
    held = {*published[-keep:], *pointer.standing(published)[-min(keep, 2) :]}
    return [each for each in published if each in held]


def _folders(store: Path) -> list[Path]:
    """Return the folders of all generations, also unpublished ones; other names are not ours."""
    found = (store / pointer.GENERATIONS).iterdir()
    return sorted(path for path in found if is_generation(path.name))


def _remove(path: Path) -> None:
    """Rename a generation before it is removed, so that no generation is ever incomplete."""
    aside = Path(tempfile.mkdtemp(prefix=".removed.", dir=path.parent))
    try:
        path.rename(aside / path.name)
    except OSError:
        aside.rmdir()
        raise
    atomic.fsync_folder(path.parent)
    shutil.rmtree(aside)
