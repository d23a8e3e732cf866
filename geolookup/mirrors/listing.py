"""The generations of a store that a mirror shall list, and whether followers would accept them.

That is checked before the index is written. An index that followers refuse does no harm to them,
but they would get no data any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.mirrors.index import INDEX, Index
from geolookup.signing.keys import PrivateKey
from geolookup.signing.statement import SIGNATURE, read_signature, read_statement, serial_of
from geolookup.store import pointer
from geolookup.store.pointer import Published
from geolookup.store.signatures import check_trusted, manifest_text
from geolookup.store.trusted import trust_of

#: Generations of a store that are listed, with the withdrawn ones.
_MOST_LISTED = 100
#: Deltas to the current generation, by default and at most. Each costs about a second at city
#: scale, and most followers are one generation behind.
DELTAS, MOST_DELTAS = 5, 100
_NAME_KEY = "name the private key with --signing-key"
_SIGN_AGAIN = "sign it with 'geolookup sign STORE --signing-key KEY'"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A generation that the index shall list; ``folder`` has its dataset."""

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


def wanted_generations(store: Path, deltas: int) -> list[Wanted]:
    """Return the current generation, the one before it and those withdrawn, the last first.

    Only the current one has bases: the last ``deltas`` others, withdrawn ones too, because a
    store that follows may still be at one. Raises DatasetError if there is no store.
    """
    published = pointer.read_existing(store)
    standing = pointer.standing(published)
    current, withdrawn = standing[-1], [item for item in reversed(published) if item.withdrawn]
    generations = [_standing(store, current, _bases(store, published, current, deltas))]
    # [-2:-1] is empty where only one stands, which [-2] is not.
    generations += [_standing(store, item) for item in standing[-2:-1] if _is_readable(store, item)]
    generations += [Wanted(_folder(store, item), item.at, withdrawn=True) for item in withdrawn]
    order = {item.generation: number for number, item in enumerate(published)}
    return sorted(generations[:_MOST_LISTED], key=lambda item: -order[item.generation])


def _standing(store: Path, item: Published, bases: Sequence[Path] = ()) -> Wanted:
    folder = _folder(store, item)
    signature = read_signature(folder)
    if signature is not None:
        read_statement(signature, manifest_text(folder), None, folder / SIGNATURE)
    text = None if signature is None else signature.decode()
    return Wanted(folder, item.at, item.withdrawn, text, tuple(bases))


def _bases(
    store: Path, published: Sequence[Published], current: Published, deltas: int
) -> list[Path]:
    others = [item for item in reversed(published) if item is not current]
    readable = (item for item in others if _is_readable(store, item))
    return [_folder(store, item) for item in islice(readable, deltas)]


def _folder(store: Path, item: Published) -> Path:
    return Path(pointer.folder_of(store, item.generation))


def _is_readable(store: Path, item: Published) -> bool:
    """Return whether the store still has a generation, in the version of the format read here."""
    try:
        read_manifest(_folder(store, item))
    except DatasetError:
        return False
    return True


def check_acceptable(
    store: Path,
    current: Wanted,
    *,
    folder: Path,
    former: Index | None,
    keys: Sequence[PrivateKey],
) -> None:
    """Raise DatasetError if followers of the former index in ``folder`` would refuse the next one.

    They refuse a generation of another name, one that is unsigned or signed before the one that
    they have, and a signed one under an index that ``keys`` do not sign.
    """
    _check_keys(store, current, folder, keys)
    if former is None:
        return
    name = read_manifest(current.folder).metadata().name
    if name != former.name:
        problem = f"is a mirror of {former.name!r}, but the store has {name!r}"
        raise DatasetError(folder, problem, "choose another folder")
    _check_serial(current, former.now.signature, folder / INDEX)


def _check_keys(store: Path, current: Wanted, folder: Path, keys: Sequence[PrivateKey]) -> None:
    if current.signature is not None and not keys:
        problem = "the current generation is signed, but the index would not be"
        raise DatasetError(folder / INDEX, problem, _NAME_KEY)
    trust = trust_of(store)
    if trust is None:
        return
    check_trusted(current.folder, trust)
    if not trust.has_one_of(keys):
        raise DatasetError(
            folder / INDEX, "would be signed by no key that the store trusts", _NAME_KEY
        )


def _check_serial(current: Wanted, former: str | None, index: Path) -> None:
    if former is None:
        return
    if current.signature is None:
        problem = "not signed, but what the mirror has is"
        raise DatasetError(current.folder, problem, _SIGN_AGAIN)
    path = current.folder / SIGNATURE
    if serial_of(current.signature.encode(), path) < serial_of(former.encode(), index):
        raise DatasetError(path, "signed before what the mirror has", _SIGN_AGAIN)
