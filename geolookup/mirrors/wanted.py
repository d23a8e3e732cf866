"""What a mirror shall list: the generations of a store, with their statements and bases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.signing.statement import SIGNATURE, read_signature, read_statement
from geolookup.store import pointer
from geolookup.store.pointer import Published
from geolookup.store.signatures import manifest_text

#: Generations of a store that are listed, with the withdrawn ones.
_MOST_LISTED = 100
#: Each delta costs about a second at city scale, and most followers are one generation behind.
MOST_DELTAS = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """A generation that the index shall list; ``folder`` is that of its dataset."""

    folder: Path
    published_at: str
    withdrawn: bool
    signature: str | None = None
    #: folders of the generations that a delta to this one begins with
    bases: tuple[Path, ...] = ()

    @property
    def generation(self) -> str:
        """Its id."""
        return self.folder.name


def wanted(store: Path, deltas: int) -> list[Wanted]:
    """Return the current generation, the one before it and those withdrawn, the last first.

    Only the current one has bases: the last ``deltas`` others, withdrawn ones too, because a
    store that follows may still be at one. Raises DatasetError if there is no store.
    """
    published = pointer.read_existing(store)
    standing = pointer.standing(published)
    current, others = standing[-1], [each for each in reversed(published) if each.withdrawn]
    listed = [_standing(store, current, _bases(store, published, current, deltas))]
    listed += [_standing(store, each) for each in standing[-2:-1] if _is_readable(store, each)]
    listed += [Wanted(_folder(store, each), each.at, withdrawn=True) for each in others]
    order = {each.generation: number for number, each in enumerate(published)}
    return sorted(listed[:_MOST_LISTED], key=lambda each: -order[each.generation])


def _standing(store: Path, each: Published, bases: Sequence[Path] = ()) -> Wanted:
    folder = _folder(store, each)
    signature = read_signature(folder)
    if signature is not None:
        read_statement(signature, manifest_text(folder), None, folder / SIGNATURE)
    text = None if signature is None else signature.decode()
    return Wanted(folder, each.at, each.withdrawn, text, tuple(bases))


def _bases(
    store: Path, published: Sequence[Published], current: Published, deltas: int
) -> list[Path]:
    others = [each for each in reversed(published) if each is not current]
    readable = (each for each in others if _is_readable(store, each))
    return [_folder(store, each) for each, _ in zip(readable, range(deltas), strict=False)]


def _folder(store: Path, each: Published) -> Path:
    return Path(pointer.folder_of(store, each.generation))


def _is_readable(store: Path, each: Published) -> bool:
    """Return whether the store still has a generation, in the version of the format read here."""
    try:
        read_manifest(_folder(store, each))
    except DatasetError:
        return False
    return True
