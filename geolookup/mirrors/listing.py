"""The generations of a store that its mirror lists, and whether followers would accept them.

Both are checked before the index is written. An index that followers refuse does no harm to them,
but they would get no more data.
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
from geolookup.store.pointer import Publication
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
class MirrorGeneration:
    """A generation for the index; ``folder`` has its dataset."""

    folder: Path
    published_at: str
    withdrawn: bool
    signature: str | None = None
    #: the folders of the bases of its deltas
    bases: tuple[Path, ...] = ()

    @property
    def generation(self) -> str:
        """Its id."""
        return self.folder.name


def listed_generations(store: Path, deltas: int) -> list[MirrorGeneration]:
    """Return the current generation, the one before it and those withdrawn, the last first.

    Only the current one has bases: the last ``deltas`` others, withdrawn ones too, because a
    follower may still be at one. Raises DatasetError without a store.
    """
    published = pointer.read_existing(store)
    not_withdrawn = pointer.not_withdrawn(published)
    current, withdrawn = not_withdrawn[-1], [item for item in reversed(published) if item.withdrawn]
    generations = [_with_signature(store, current, _bases(store, published, current, deltas))]
    # [-2:-1] is empty if only the current one is left; [-2] would be an error.
    generations += [
        _with_signature(store, item) for item in not_withdrawn[-2:-1] if _is_readable(store, item)
    ]
    generations += [
        MirrorGeneration(_folder(store, item), item.at, withdrawn=True) for item in withdrawn
    ]
    order = {item.generation: number for number, item in enumerate(published)}
    return sorted(generations[:_MOST_LISTED], key=lambda item: -order[item.generation])


def _with_signature(store: Path, item: Publication, bases: Sequence[Path] = ()) -> MirrorGeneration:
    folder = _folder(store, item)
    signature = read_signature(folder)
    if signature is not None:
        read_statement(signature, manifest_text(folder), None, folder / SIGNATURE)
    text = None if signature is None else signature.decode()
    return MirrorGeneration(folder, item.at, item.withdrawn, text, tuple(bases))


def _bases(
    store: Path, published: Sequence[Publication], current: Publication, deltas: int
) -> list[Path]:
    others = [item for item in reversed(published) if item is not current]
    readable = (item for item in others if _is_readable(store, item))
    return [_folder(store, item) for item in islice(readable, deltas)]


def _folder(store: Path, item: Publication) -> Path:
    return Path(pointer.folder_of(store, item.generation))


def _is_readable(store: Path, item: Publication) -> bool:
    """Return whether the store still has a generation, in the version of the format read here."""
    try:
        read_manifest(_folder(store, item))
    except DatasetError:
        return False
    return True


def check_acceptable(
    store: Path,
    current: MirrorGeneration,
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


def _check_keys(
    store: Path, current: MirrorGeneration, folder: Path, keys: Sequence[PrivateKey]
) -> None:
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


def _check_serial(current: MirrorGeneration, former: str | None, index: Path) -> None:
    if former is None:
        return
    if current.signature is None:
        problem = "not signed, but the generation in the mirror is"
        raise DatasetError(current.folder, problem, _SIGN_AGAIN)
    path = current.folder / SIGNATURE
    if serial_of(current.signature.encode(), path) < serial_of(former.encode(), index):
        raise DatasetError(path, "signed before the generation in the mirror", _SIGN_AGAIN)
