"""The statement beside a dataset: its name and generation, its manifest's digest, and a serial.

The manifest holds the digests of all files, so one signature covers every byte. The serial
orders the statements of one dataset: no reader accepts a lower one than it has accepted before.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.dataset.digests import canonical
from geolookup.dataset.manifest import is_generation
from geolookup.errors import DatasetError
from geolookup.filesystem import ReadErrors, open_regular
from geolookup.signing.envelope import open_envelope, seal
from geolookup.signing.keys import PrivateKey, PublicKey

#: The file in the folder of a dataset; the manifest does not describe it.
SIGNATURE = "signature.json"
#: Bytes; a statement with 16 signatures has about 5,000.
LARGEST_SIGNATURE = 1 << 16
_KIND = "dataset"
_LARGEST_SERIAL = (1 << 63) - 1
_AGAIN = "fetch it again"


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement of a signer about a dataset; the serial is Unix time in microseconds."""

    name: str
    generation: str
    manifest_sha256: str
    serial: int


def signed_statement(manifest_text: bytes, keys: Sequence[PrivateKey], after: int = 0) -> bytes:
    """Return the signed statement of a manifest, the content of ``signature.json``.

    Its serial is the present time, but always greater than ``after``.
    """
    # max: a clock that was set back must not give a serial that no reader accepts.
    serial = max(time.time_ns() // 1000, after + 1)
    statement = _statement_of(manifest_text, serial)
    return seal(_KIND, canonical(asdict(statement)), keys)


def _statement_of(manifest_text: bytes, serial: int) -> Statement:
    """Return the right statement of a manifest; ValueError, KeyError or TypeError for a bad one."""
    manifest = json.loads(manifest_text)
    digest = hashlib.sha256(manifest_text).hexdigest()
    return Statement(manifest["name"], manifest["generation"], digest, serial)


def read_statement(
    text: bytes,
    manifest_text: bytes,
    trusted: Sequence[PublicKey] | None,
    path: str | os.PathLike[str],
) -> Statement:
    """Return the statement of a manifest that one of the trusted keys signed.

    ``trusted`` None: signatures are not checked. ``path`` names ``signature.json`` in errors.
    Raises DatasetError for a malformed or unsigned one, and one of another manifest.
    """
    statement = _parsed(open_envelope(text, _KIND, trusted, path), path)
    with suppress(ValueError, KeyError, TypeError, RecursionError):  # not a manifest at all
        if statement == _statement_of(manifest_text, statement.serial):
            return statement
    raise DatasetError(path, f"signs another {fmt.MANIFEST} than that beside it", _AGAIN)


def serial_of(text: bytes, path: str | os.PathLike[str]) -> int:
    """Return the serial of a statement without its manifest; signatures are not checked."""
    return _parsed(open_envelope(text, _KIND, None, path), path).serial


def serial_in(dataset: str | os.PathLike[str]) -> int:
    """Return the serial of a dataset's signature; 0 if it is unsigned or unreadable."""
    try:
        text = read_signature(dataset)
        return 0 if text is None else serial_of(text, Path(dataset, SIGNATURE))
    except DatasetError:
        return 0


def read_signature(dataset: str | os.PathLike[str]) -> bytes | None:
    """Return the content of a dataset's ``signature.json``; None for an unsigned dataset."""
    path = Path(dataset, SIGNATURE)
    with ReadErrors(path):
        try:
            file = open_regular(path)
        except FileNotFoundError:
            return None
        with file:
            text = file.read(LARGEST_SIGNATURE + 1)
    if len(text) > LARGEST_SIGNATURE:
        raise DatasetError(path, f"more than {LARGEST_SIGNATURE:,} bytes: no signature", _AGAIN)
    return text


def _parsed(payload: bytes, path: str | os.PathLike[str]) -> Statement:
    """Return the statement of a payload, whose one serialisation is the canonical one."""
    with suppress(ValueError, TypeError, RecursionError):  # a lone surrogate is a ValueError too
        statement = Statement(**json.loads(payload))
        # {"a":1} and { "a": 1 } are one object, but only the canonical text is accepted.
        if _is_valid(statement) and canonical(asdict(statement)) == payload:
            return statement
    raise DatasetError(path, "signs no statement about a dataset", _AGAIN)


def _is_valid(statement: Statement) -> bool:
    return (
        isinstance(statement.name, str)
        and is_generation(statement.generation)
        and is_generation(statement.manifest_sha256)  # as many digits
        # type, not isinstance: true is an int in Python, and 1.0 no serial.
        and type(statement.serial) is int
        and 0 < statement.serial <= _LARGEST_SERIAL
    )
