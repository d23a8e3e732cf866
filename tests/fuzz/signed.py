"""A ``signature.json`` and the index of a mirror: refused in one line, or a ``signature.json``
states what a trusted key has signed, and an index is within its bounds."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache, partial
from hashlib import sha256
from pathlib import PurePosixPath

from geolookup.errors import DatasetError
from tests.damage import refused
from tests.fuzz.target import Change, Target, accepted, changed_json, mutated_json
from tests.internals.dataset import canonical
from tests.internals.mirrors import (
    KIND,
    File,
    Index,
    IndexEntry,
    index_text,
    read_index,
)
from tests.internals.signing import (
    PrivateKey,
    Statement,
    Trust,
    open_envelope,
    read_statement,
    seal,
    serial_of,
)

_PATH = "signature.json"
_MANIFEST = canonical({"name": "geo", "generation": "0" * 64})
_IDS = [digit * 64 for digit in "abcd"]
_TIME = "2026-11-23T10:00:00Z"


@cache
def _keys() -> tuple[PrivateKey, PrivateKey]:
    """The trusted key and another one, the same in every run."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    ours, theirs = (Ed25519PrivateKey.from_private_bytes(bytes([at]) * 32) for at in range(2))
    return PrivateKey(ours), PrivateKey(theirs)


def _statement(serial: int) -> Statement:
    return Statement("geo", "0" * 64, sha256(_MANIFEST).hexdigest(), serial)


def _signatures() -> Iterator[bytes]:
    ours, theirs = _keys()
    old, new = (canonical(asdict(_statement(serial))) for serial in (5, 1 << 50))
    for keys in ((ours,), (theirs, ours), (theirs,), ()):
        yield seal("dataset", new, keys)
    yield seal("dataset", old, [ours])
    yield seal("mirror", new, [ours])


def _read_signature(data: bytes) -> None:
    """Accept the two statements that the trusted key has signed, the older one where it may be."""
    serial = accepted(lambda: serial_of(data, _PATH), DatasetError, _PATH, refused)
    assert serial is None or 0 < serial < 1 << 63
    stated = accepted(
        lambda: read_statement(data, _MANIFEST, None, _PATH), DatasetError, _PATH, refused
    )
    assert stated is None or stated.name == "geo"
    for least, known in ((0, (5, 1 << 50)), (6, (1 << 50,))):
        trust = Trust((_keys()[0].public,), "geo", least)
        checked = partial(trust.check, _MANIFEST, data, _PATH)
        result = accepted(checked, DatasetError, _PATH, refused)
        assert result in [None, *map(_statement, known)]


def _mutate_signature(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change the bytes, the values of the envelope, or the statement in it."""
    kind = rng.randrange(3)
    if kind == 0:
        return change(data)
    if kind == 1:
        return changed_json(data, rng)
    try:
        envelope = json.loads(data)
        stated = base64.b64decode(envelope["payload"])
        values = json.loads(changed_json(stated, rng))
        stated = canonical(values) if rng.randrange(2) else change(stated)
    except (ValueError, KeyError, TypeError, RecursionError):
        return change(data)
    return json.dumps({**envelope, "payload": base64.b64encode(stated).decode()}).encode()


def _indexes() -> Iterator[bytes]:
    archive = File(f"archives/{_IDS[3]}.tar.zst", 1 << 20, _IDS[3])
    now = IndexEntry(_IDS[0], _TIME, archive, signature="{}")
    gone = IndexEntry(_IDS[2], _TIME, None, signature=None)
    for expires in (None, _TIME):
        index = Index("acme", 7, _TIME, _IDS[0], (now, gone), expires)
        yield open_envelope(index_text(index, []), KIND, None, "index.json")


def _read_index(data: bytes) -> None:
    envelope, file_name = seal(KIND, data, []), "index.json"
    index = accepted(
        lambda: read_index(envelope, None, file_name), DatasetError, file_name, refused
    )
    if index is None:
        return
    assert read_index(index_text(index, []), None, file_name) == index
    assert index.now.archive is not None
    for file in index.files:
        parts = PurePosixPath(file.path).parts
        assert parts == tuple(file.path.split("/"))
        assert not {"", ".", "..", "/"} & {*parts}
        assert 0 < file.bytes < 1 << 40


TARGETS = {
    "envelope": Target(_read_signature, _signatures, _mutate_signature),
    "mirror-index": Target(_read_index, _indexes, mutated_json),
}
