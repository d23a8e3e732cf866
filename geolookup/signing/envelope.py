"""Signed documents: envelopes of DSSE, version 1 (https://github.com/secure-systems-lab/dsse).

An envelope is JSON: ``payload`` in base64, ``payloadType``, and ``signatures``, each with ``keyid``
and ``sig``. Type and payload are signed with their lengths: no document can be taken for one of
another kind. The payload is parsed only after a signature is verified.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from geolookup.errors import DatasetError
from geolookup.signing.keys import PrivateKey, PublicKey

#: Bytes of an envelope, and signatures in it: read before anything is verified.
LARGEST_ENVELOPE, MOST_SIGNATURES = 4 << 20, 16
_AGAIN = "fetch it again"
_KEY_ID = re.compile(r"[0-9a-f]{64}")
#: From the URL-safe alphabet (DSSE admits both) to the standard one.
_STANDARD = str.maketrans("-_", "+/")


def media_type(kind: str) -> str:
    """Return the payload type of documents of a kind, such as "dataset"."""
    return f"application/vnd.geolookup.{kind}+json"


def seal(kind: str, payload: bytes, keys: Sequence[PrivateKey]) -> bytes:
    """Return the envelope of a document, signed with each of the keys; without keys, unsigned."""
    message = _signed_bytes(kind, payload)
    document = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": media_type(kind),
        "signatures": [
            {"keyid": key.public.id, "sig": base64.b64encode(key.sign(message)).decode()}
            for key in keys
        ],
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def open_envelope(
    text: bytes, kind: str, trusted: Sequence[PublicKey] | None, path: str | os.PathLike[str]
) -> bytes:
    """Return the payload of an envelope of a kind that one of the trusted keys signed.

    ``trusted`` None: only the form is checked. ``path`` names the envelope in errors. Raises
    DatasetError for a malformed envelope, one of another kind, and one without such a signature.
    """
    try:
        payload, signatures = _parts(text, kind)
    except _MalformedError as error:
        raise DatasetError(path, f"not a signed document ({error})", _AGAIN) from None
    if trusted is not None:
        _check_signed(_signed_bytes(kind, payload), signatures, trusted, path)
    return payload


def _signed_bytes(kind: str, payload: bytes) -> bytes:
    """Return DSSE's pre-authentication encoding."""
    name = media_type(kind).encode()
    # DSSEv1 SP length SP type SP length SP payload; lengths in decimal, of bytes:
    #   b"DSSEv1 38 application/vnd.geolookup.dataset+json 2 {}"
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


class _MalformedError(Exception):
    """An envelope is malformed."""


def _parts(text: bytes, kind: str) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Return the payload, and key id and signature of each signature."""
    if len(text) > LARGEST_ENVELOPE:
        raise _MalformedError(f"more than {LARGEST_ENVELOPE:,} bytes")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise _MalformedError("not JSON") from None
    if not isinstance(document, dict) or document.get("payloadType") != media_type(kind):
        raise _MalformedError(f"its type is not {media_type(kind)}")
    signatures = document.get("signatures")
    if not isinstance(signatures, list) or len(signatures) > MOST_SIGNATURES:
        raise _MalformedError(f"signatures is not a list of at most {MOST_SIGNATURES}")
    return _bytes(document.get("payload")), list(map(_signature, signatures))


def _signature(entry: Any) -> tuple[str, bytes]:
    if not isinstance(entry, dict):
        raise _MalformedError("a signature is not an object")
    keyid = entry.get("keyid", "")
    if not isinstance(keyid, str) or (keyid and not _KEY_ID.fullmatch(keyid)):
        raise _MalformedError("a key id is not 64 hexadecimal digits")
    return keyid, _bytes(entry.get("sig"))


def _bytes(text: object) -> bytes:
    if not isinstance(text, str):
        raise _MalformedError("base64 is missing")
    try:
        return base64.b64decode(text.translate(_STANDARD), validate=True)
    except (binascii.Error, ValueError):
        raise _MalformedError("not base64") from None


def _check_signed(
    message: bytes,
    signatures: Sequence[tuple[str, bytes]],
    trusted: Sequence[PublicKey],
    path: str | os.PathLike[str],
) -> None:
    """Raise DatasetError unless one of the trusted keys signed the message."""
    if not signatures:
        raise DatasetError(path, "not signed", "sign it with 'geolookup sign'")
    if not any(key.verify(sig, message) for key, sig in _candidates(signatures, trusted)):
        raise DatasetError(path, *_why_not(signatures, trusted))


def _candidates(
    signatures: Sequence[tuple[str, bytes]], trusted: Sequence[PublicKey]
) -> Iterator[tuple[PublicKey, bytes]]:
    """Yield the trusted keys that can have made a signature.

    A key id is not signed: it only saves verifications. DSSE makes it optional.
    """
    for keyid, signature in signatures:
        for key in trusted:
            if keyid in ("", key.id):
                yield key, signature


def _why_not(
    signatures: Sequence[tuple[str, bytes]], trusted: Sequence[PublicKey]
) -> tuple[str, str]:
    """Return problem and remedy for signatures that no trusted key made."""
    ours = {key.id for key in trusted}
    key_ids = [keyid for keyid, _ in signatures]
    # An id of ours, or none, whose signature failed: changed. Only foreign ids: another signer.
    if not any(keyid in ours or not keyid for keyid in key_ids):
        problem = f"signed by no trusted key, but by {', '.join(key_ids)}"
        return problem, "sign it with a trusted key, or trust that key"
    return "no trusted key made its signature: the document was changed", _AGAIN
