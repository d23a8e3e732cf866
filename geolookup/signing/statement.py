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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from geolookup.dataset import layout as fmt
from geolookup.dataset.checksums import canonical
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
    manifest = json.loads(manifest_text)
    digest = hashlib.sha256(manifest_text).hexdigest()
    # max: a clock that was set back must not give a serial that no reader accepts.
    serial = max(time.time_ns() // 1000, after + 1)
    statement = Statement(manifest["name"], manifest["generation"], digest, serial)
    return seal(_KIND, canonical(asdict(statement)), keys)


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
    statement = _statement(open_envelope(_limit_size(text, path), _KIND, trusted, path), path)
    if statement.manifest_sha256 != hashlib.sha256(manifest_text).hexdigest():
        raise DatasetError(path, f"signs another {fmt.MANIFEST} than that beside it", _AGAIN)
    if _name_and_generation(manifest_text) != (statement.name, statement.generation):
        raise DatasetError(path, f"states another name or generation than {fmt.MANIFEST}", _AGAIN)
    return statement


def serial_of(text: bytes, path: str | os.PathLike[str]) -> int:
    """Return the serial of a statement without its manifest; signatures are not checked."""
    return _statement(open_envelope(_limit_size(text, path), _KIND, None, path), path).serial


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
            return _limit_size(file.read(LARGEST_SIGNATURE + 1), path)


def _limit_size(text: bytes, path: str | os.PathLike[str]) -> bytes:
    if len(text) > LARGEST_SIGNATURE:
        raise DatasetError(path, f"more than {LARGEST_SIGNATURE:,} bytes: no signature", _AGAIN)
    return text


def _name_and_generation(manifest_text: bytes) -> tuple[object, object] | None:
    """Return name and generation of a manifest; None for any other text.

    Without a check of signatures, anybody can state the digest of such a text.
    """
    try:
        manifest = json.loads(manifest_text)
        return manifest["name"], manifest["generation"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def _statement(payload: bytes, path: str | os.PathLike[str]) -> Statement:
    """Return the statement of a payload, whose one serialisation is the canonical one."""
    try:
        members = json.loads(payload)
        # {"a":1} and { "a": 1 } are one object, but only the canonical text is accepted.
        if _is_statement(members) and canonical(members) == payload:
            return Statement(**members)
    except (ValueError, RecursionError):  # a lone surrogate is a ValueError too
        pass
    raise DatasetError(path, "signs no statement about a dataset", _AGAIN)


def _is_statement(members: Any) -> bool:
    return (
        isinstance(members, dict)
        and members.keys() == set(Statement.__slots__)
        and isinstance(members["name"], str)
        and is_generation(members["generation"])
        and is_generation(members["manifest_sha256"])  # as many digits
        # type, not isinstance: true is an int in Python, and 1.0 no serial.
        and type(members["serial"]) is int
        and 0 < members["serial"] <= _LARGEST_SERIAL
    )
