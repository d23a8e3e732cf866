"""Signed documents: envelopes of DSSE, version 1 (https://github.com/secure-systems-lab/dsse).

An envelope is JSON: ``payload`` in base64, ``payloadType``, and ``signatures``, each with ``keyid``
and ``sig``. Type and payload are signed with their lengths: no document can be taken for one of
another kind. The payload is parsed only after a signature is verified.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Sequence
from typing import Any

from geolookup.errors import DatasetError
from geolookup.signing.keys import PrivateKey, PublicKey

#: Bytes of an envelope, and signatures in it: read before anything is verified.
LARGEST_ENVELOPE, MOST_SIGNATURES = 4 << 20, 16
_AGAIN = "fetch it again"
_KEY_ID = re.compile(r"([0-9a-f]{64})?")
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
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        problem = f"not a signed document of the type {media_type(kind)}"
        raise DatasetError(path, problem, _AGAIN) from None
    if trusted is not None:
        _check_signed(_signed_bytes(kind, payload), signatures, trusted, path)
    return payload


def _signed_bytes(kind: str, payload: bytes) -> bytes:
    """Return DSSE's pre-authentication encoding."""
    name = media_type(kind).encode()
    # DSSEv1 SP length SP type SP length SP payload; lengths in decimal, of bytes:
    #   b"DSSEv1 38 application/vnd.geolookup.dataset+json 2 {}"
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


def _parts(text: bytes, kind: str) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Return the payload, and key id and signature of each signature; see ``open_envelope``.

    Members of other types raise TypeError or AttributeError, missing ones KeyError.
    """
    if len(text) > LARGEST_ENVELOPE:
        raise ValueError
    document = json.loads(text)
    entries = document["signatures"]
    is_right = document["payloadType"] == media_type(kind) and isinstance(entries, list)
    if not is_right or len(entries) > MOST_SIGNATURES:
        raise ValueError
    return _bytes(document["payload"]), list(map(_signature, entries))


def _signature(entry: Any) -> tuple[str, bytes]:
    keyid = entry.get("keyid", "")
    if not _KEY_ID.fullmatch(keyid):
        raise ValueError
    return keyid, _bytes(entry["sig"])


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.translate(_STANDARD), validate=True)


def _check_signed(
    message: bytes,
    signatures: Sequence[tuple[str, bytes]],
    trusted: Sequence[PublicKey],
    path: str | os.PathLike[str],
) -> None:
    """Raise DatasetError unless one of the trusted keys signed the message.

    A key id is not signed: it only saves verifications, and names the signer in errors. DSSE makes
    it optional.
    """
    if not signatures:
        raise DatasetError(path, "not signed", "sign it with 'geolookup mirror sign'")
    is_ours = False
    for keyid, signature in signatures:
        for key in trusted:
            if keyid in ("", key.id):
                is_ours = True
                if key.verify(signature, message):
                    return
    if is_ours:
        problem = "no trusted key made its signature: the document was changed"
        raise DatasetError(path, problem, _AGAIN)
    problem = f"signed by no trusted key, but by {', '.join(keyid for keyid, _ in signatures)}"
    raise DatasetError(path, problem, "sign it with a trusted key, or trust that key")
