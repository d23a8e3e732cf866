"""Trust: which signed datasets a store or an engine accepts.

Strategy: one rule everywhere. A dataset is accepted if a trusted key signed the statement of its
manifest, if it has the name of the dataset before it, and if its serial is not lower. To return to
older data on purpose, sign them again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from geolookup.errors import DatasetError
from geolookup.signing.keys import PrivateKey, PublicKey, read_public
from geolookup.signing.statement import Statement, read_statement

#: Trusted keys: the file of a public key, a key, or several of these.
TrustedKeys = str | os.PathLike[str] | PublicKey | Sequence[str | os.PathLike[str] | PublicKey]


@dataclass(frozen=True, slots=True)
class Trust:
    """The trusted keys, and name and serial of the last accepted dataset.

    ``name`` None: any name. ``serial`` 0: any serial.
    """

    keys: tuple[PublicKey, ...]
    name: str | None = None
    serial: int = 0

    def has_one_of(self, keys: Iterable[PrivateKey]) -> bool:
        """Return whether one of the keys to sign with is trusted."""
        return any(key.public in self.keys for key in keys)

    def check(
        self, manifest_text: bytes, signature: bytes | None, path: str | os.PathLike[str]
    ) -> Statement:
        """Return the statement of a dataset that is accepted; DatasetError for any other.

        ``manifest_text`` is the content of ``manifest.json``, ``signature`` the content
        of ``signature.json``, None if it is missing; ``path`` names the dataset in errors. The
        files are not read: whoever reads them checks their digests.
        """
        if signature is None:
            raise DatasetError(path, "not signed by a trusted key", _SIGN)
        statement = read_statement(signature, manifest_text, self.keys, path)
        if self.name not in (None, statement.name):
            problem = f"is the dataset {statement.name!r}, but {self.name!r} is expected"
            raise DatasetError(path, problem, "keep each dataset in a store of its own")
        if statement.serial < self.serial:
            problem = (
                f"its signature is older than an accepted one"
                f" (serial {statement.serial}, but {self.serial} was accepted)"
            )
            raise DatasetError(path, problem, "to return to it on purpose, sign it again")
        return statement


_SIGN = "sign it with 'geolookup mirror sign DATASET --signing-key KEY'"


def read_trusted_keys(trusted_keys: TrustedKeys | None) -> tuple[PublicKey, ...]:
    """Return the keys that a caller trusts; none for None: signatures are then not checked.

    Raises KeyFileError for a bad file, and ValueError for an empty sequence, such as the files of
    a folder that has none: it must not accept every dataset.
    """
    if trusted_keys is None:
        return ()
    several = (
        [trusted_keys] if isinstance(trusted_keys, str | os.PathLike | PublicKey) else trusted_keys
    )
    keys = tuple(key if isinstance(key, PublicKey) else read_public(key) for key in several)
    if not keys:
        raise ValueError(
            "no key to trust; name the file of a public key, or leave out 'trusted_keys'"
        )
    return keys
