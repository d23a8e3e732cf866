"""Whether the stores that follow a mirror would accept its next index, asked before it is written.

An index that they refuse does no harm where it arrives, but they would get no data any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.mirrors.index import INDEX, Index
from geolookup.mirrors.wanted import Wanted
from geolookup.signing.keys import PrivateKey
from geolookup.signing.statement import SIGNATURE, serial_of
from geolookup.store.signatures import check_trusted
from geolookup.store.trusted import trust_of

_NAME_KEY = "name the private key with --sign"
_SIGN_AGAIN = "sign it with 'geolookup sign STORE --sign KEY'"


def check_acceptable(
    store: Path,
    current: Wanted,
    *,
    folder: Path,
    former: Index | None,
    keys: Sequence[PrivateKey],
) -> None:
    """Raise DatasetError where followers of the former index in ``folder`` refuse the next one.

    That is a generation of another name, one that is unsigned or signed before the one that they
    have, and a signed one under an index that ``keys`` do not sign.
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
