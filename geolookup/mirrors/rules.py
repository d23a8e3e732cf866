"""The rules by which a store accepts the index of a mirror, and the archive that it names.

``mirror`` checks them too, before it writes an index. An index that followers refuse does no harm
to them, but they would get no more data.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from geolookup.archives.head import Head
from geolookup.errors import DatasetError
from geolookup.history.incoming import Incoming
from geolookup.history.publishing import check_expected
from geolookup.mirrors.index import INDEX, Index, has_expired, read_index
from geolookup.signing.keys import PrivateKey
from geolookup.signing.statement import SIGNATURE, read_statement, serial_of
from geolookup.store import pointer
from geolookup.store.trusted import name_in, trust_of

_WRITE = "write it again with 'geolookup mirror write'"
_NAME_KEY = "name the private key with --signing-key"
_SIGN_AGAIN = "sign it with 'geolookup mirror sign STORE --signing-key KEY'"


def accepted_index(text: bytes, address: str, store: Path, serial: int) -> Index:
    """Return the index in a text, if a store may follow it; else DatasetError.

    ``serial`` is of the index that the store followed last; ``address`` names the index in errors.
    """
    trust = trust_of(store)
    index = read_index(text, trust.keys if trust else None, address)
    if has_expired(index.expires_at, datetime.now(UTC)):
        raise DatasetError(address, f"expired at {index.expires_at}", _WRITE)
    # The signatures in the store count too, in case its update.json is lost.
    accepted = max(serial, trust.serial if trust else 0)
    if index.serial < accepted:
        problem = f"older than an accepted index (serial {index.serial}, accepted {accepted})"
        raise DatasetError(address, problem, _WRITE)
    name = name_in(store)
    if name not in (None, index.name):
        problem = f"the dataset is {index.name!r}, but the store has {name!r}"
        raise DatasetError(address, problem, "keep each dataset in a store of its own")
    return index


def check_incoming(incoming: Incoming, index: Index, address: str) -> None:
    """Raise DatasetError for a dataset that is not the one that an index describes.

    A published dataset with the wrong name would make the store refuse every later index.
    """
    check_expected(incoming, index.current)
    name = incoming.head.manifest.metadata().name
    if name != index.name:
        problem = f"is the dataset {name!r}, but the index says {index.name!r}"
        raise DatasetError(incoming.path, problem, _WRITE)
    if index.signature is not None:
        read_statement(index.signature, incoming.head.manifest_text, None, address)


def check_acceptable(
    store: Path, head: Head, folder: Path, former: Index | None, keys: Sequence[PrivateKey]
) -> None:
    """Raise DatasetError if followers of the former index would refuse the next one.

    ``head`` is of the current generation, ``folder`` the mirror, and ``keys`` sign its index.
    Followers refuse a generation of another name, one that is unsigned or signed before the one
    that they have, and a signed one under an index without a signature.
    """
    current = Path(pointer.folder_of(store, head.manifest.generation))
    if head.signature is not None and not keys:
        problem = "the current generation is signed, but the index would not be"
        raise DatasetError(folder / INDEX, problem, _NAME_KEY)
    if (trust := trust_of(store)) is not None:
        trust.check(head.manifest_text, head.signature, current)
        if not trust.has_one_of(keys):
            problem = "would be signed by no key that the store trusts"
            raise DatasetError(folder / INDEX, problem, _NAME_KEY)
    if former is None:
        return
    name = head.manifest.metadata().name
    if name != former.name:
        problem = f"is a mirror of {former.name!r}, but the store has {name!r}"
        raise DatasetError(folder, problem, "choose another folder")
    if former.signature is None:
        return
    if head.signature is None:
        raise DatasetError(current, "not signed, but the generation in the mirror is", _SIGN_AGAIN)
    path = current / SIGNATURE
    if serial_of(head.signature, path) < serial_of(former.signature, folder / INDEX):
        raise DatasetError(path, "signed before the generation in the mirror", _SIGN_AGAIN)
