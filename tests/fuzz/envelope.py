"""A ``signature.json``: refused in one line, or it states what a trusted key has signed."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from unittest import mock

from geolookup.dataset.manifest import canonical
from geolookup.errors import DatasetError
from geolookup.signing.envelope import sealed
from geolookup.signing.keys import PrivateKey, PublicKey
from geolookup.signing.statement import Statement, read_statement, serial_of
from geolookup.signing.trust import Trust
from tests.damage import refused
from tests.fuzz.json_values import changed
from tests.fuzz.target import Change, Target

_PATH = "signature.json"
_MANIFEST = canonical({"name": "geo", "generation": "0" * 64})


@cache
def _keys() -> tuple[PrivateKey, PrivateKey]:
    """The trusted key and another one, the same in every run."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    ours, theirs = (Ed25519PrivateKey.from_private_bytes(bytes([at]) * 32) for at in range(2))
    return PrivateKey(ours), PrivateKey(theirs)


def _statement(serial: int) -> Statement:
    return Statement("geo", "0" * 64, sha256(_MANIFEST).hexdigest(), serial)


def seeds() -> Iterator[bytes]:
    ours, theirs = _keys()
    old, new = (canonical(asdict(_statement(serial))) for serial in (5, 1 << 50))
    for keys in ((ours,), (theirs, ours), (theirs,), ()):
        yield sealed("dataset", new, keys)
    yield sealed("dataset", old, [ours])
    yield sealed("mirror", new, [ours])


def run(data: bytes) -> None:
    """Accept the two statements that the trusted key has signed, the older one where it may be."""
    with _refusals():
        assert 0 < serial_of(data, _PATH) < 1 << 63
    with _refusals():
        assert read_statement(data, _MANIFEST, None, _PATH).name == "geo"
    for accepted, known in ((0, (5, 1 << 50)), (6, (1 << 50,))):
        with _refusals():
            trust = Trust((_keys()[0].public,), "geo", accepted)
            found = trust.check(_MANIFEST, data, _PATH)
            assert found in [_statement(serial) for serial in known]


@contextmanager
def _refusals() -> Iterator[None]:
    """Let a DatasetError of one line pass, and nothing else."""
    try:
        yield
    except DatasetError as error:
        refused(error, _PATH)


def mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change the bytes, the values of the envelope, or the statement in it."""
    kind = rng.randrange(3)
    if kind == 0:
        return change(data)
    if kind == 1:
        return changed(data, rng)
    try:
        envelope = json.loads(data)
        payload = base64.b64decode(envelope["payload"])
        stated = json.loads(changed(payload, rng))
        payload = canonical(stated) if rng.randrange(2) else change(payload)
    except (ValueError, KeyError, TypeError, RecursionError):
        return change(data)
    return json.dumps({**envelope, "payload": base64.b64encode(payload).decode()}).encode()


def planted() -> AbstractContextManager[object]:
    """Compare the key ids alone."""
    return mock.patch.object(PublicKey, "verify", return_value=True)


TARGET = Target(run, seeds, planted, mutate)
