"""The current generation of a store, as another store chose it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from geolookup.integrity import verify
from geolookup.signing.statement import read_signature
from geolookup.store import pointer
from geolookup.store.changing import changing
from geolookup.store.pointer import Published
from geolookup.store.signatures import adopt_signature, manifest_text
from geolookup.store.trusted import trust_of


def make_current(
    store: Path, generation: str, withdrawn: Collection[str] = (), signature: bytes | None = None
) -> None:
    """Make a generation that a store has the current one, and mark others as withdrawn, in a step.

    It is verified first, unless it is current and there. It gets ``signature`` if that is newer
    than its own. Raises DatasetError if the generation is missing or damaged, and for a signature
    of other bytes, or one that the store does not accept; OutputError if the store cannot be
    written. The store stays as it was then.
    """
    with changing(store) as published:
        folder = Path(pointer.folder_of(store, generation))
        is_current = pointer.standing(published)[-1].generation == generation
        if not (is_current and folder.is_dir()):
            verify(folder)
        _sign(store, folder, signature)
        listed = [_marked(each, withdrawn) for each in published if each.generation != generation]
        now = [each for each in published if is_current and each.generation == generation]
        if now != published[-1:] or listed != published[:-1]:
            pointer.write(store, [*listed, *(now or [pointer.published_now(generation)])])


def _sign(store: Path, folder: Path, signature: bytes | None) -> None:
    """Check the signature of a generation, if the store trusts keys, and write a newer one."""
    trust = trust_of(store)
    if trust is not None:
        trust.check(manifest_text(folder), signature or read_signature(folder), folder)
    if signature is not None:
        adopt_signature(folder, signature)


def _marked(published: Published, withdrawn: Collection[str]) -> Published:
    """Return an entry of the pointer, the same one unless it has to be marked."""
    if published.withdrawn or published.generation not in withdrawn:
        return published
    return Published(published.generation, published.at, withdrawn=True)
