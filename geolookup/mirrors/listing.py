"""The generations of a store that its mirror lists: what followers fetch, and must not keep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geolookup.errors import DatasetError
from geolookup.signing.statement import SIGNATURE, read_signature, read_statement
from geolookup.store import pointer
from geolookup.store.pointer import Publication
from geolookup.store.signatures import manifest_text

#: Generations of a store that are listed, with the withdrawn ones.
_MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class MirrorGeneration:
    """A generation for the index; ``folder`` has its dataset."""

    folder: Path
    published_at: str
    withdrawn: bool
    signature: str | None = None

    @property
    def generation(self) -> str:
        """Its id."""
        return self.folder.name


def listed_generations(store: Path) -> list[MirrorGeneration]:
    """Return the current generation, the one before it and those withdrawn, the last first.

    Raises DatasetError without a store, and for a current generation that cannot be read.
    """
    published = pointer.read_existing(store)
    *others, current = pointer.not_withdrawn(published)
    listed = {current.generation: _fetched(store, current)}
    for entry in others[-1:]:
        if pointer.is_unpacked(store, entry.generation):
            listed[entry.generation] = _fetched(store, entry)
    for entry in [item for item in reversed(published) if item.withdrawn][:_MOST_LISTED]:
        listed[entry.generation] = MirrorGeneration(_folder(store, entry), entry.at, withdrawn=True)
    order = [entry.generation for entry in reversed(published)]
    return sorted(listed.values(), key=lambda item: order.index(item.generation))


def _fetched(store: Path, entry: Publication) -> MirrorGeneration:
    """Return a generation that followers fetch; DatasetError for a statement of another manifest."""
    folder = _folder(store, entry)
    signature = read_signature(folder)
    if signature is not None:
        read_statement(signature, manifest_text(folder), None, folder / SIGNATURE)
    text = None if signature is None else signature.decode()
    return MirrorGeneration(folder, entry.at, withdrawn=False, signature=text)


def _folder(store: Path, entry: Publication) -> Path:
    return Path(pointer.folder_of(store, entry.generation))
