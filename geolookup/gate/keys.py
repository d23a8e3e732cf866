"""API keys as text: create, check the form, digest.

A key is ``geo_live_`` or ``geo_test_``, then 160 random bits (32 characters, base32 in
lower case, RFC 4648) and their CRC-32 (8 hexadecimal digits). The checksum rejects mistyped
and invented keys without a store access; it is not a secret. A store keeps the SHA-256 of
the whole text. 160 random bits need no salt.
"""

from __future__ import annotations

import re
import secrets
from base64 import b32encode
from hashlib import sha256
from zlib import crc32

ENVIRONMENTS = ("live", "test")
#: 160 bits: 32 characters of 5 bits, so base32 needs no padding.
_RANDOM_BYTES = 20
_CHECKSUM = 8
DIGEST_BYTES = 32
#: Hexadecimal digits of an identifier.
IDENTIFIER_DIGITS = 12
_SHAPE = re.compile(rb"geo_(?:live|test)_[a-z2-7]{32}[0-9a-f]{8}")


def make(environment: str) -> str:
    """Return a new key of an environment, ``"live"`` or ``"test"``."""
    random = b32encode(secrets.token_bytes(_RANDOM_BYTES)).lower()
    secret = b"geo_%b_%b" % (environment.encode(), random)
    return (secret + _checksum(secret)).decode()


def digest(key: object) -> bytes | None:
    """Return the SHA-256 of a text; None for anything but ASCII text."""
    if not isinstance(key, str) or not key.isascii():
        return None
    return sha256(key.encode()).digest()


def is_well_formed(key: str) -> bool:
    """Return whether a text has the form of a key and a correct checksum."""
    # A character beyond ASCII becomes "?": the shape has none.
    text = key.encode(errors="replace")
    return bool(_SHAPE.fullmatch(text)) and _checksum(text[:-_CHECKSUM]) == text[-_CHECKSUM:]


def identifier(of_digest: bytes) -> str:
    """Return a key's public identifier: the first 12 hexadecimal digits of its digest."""
    return of_digest.hex()[:IDENTIFIER_DIGITS]


def _checksum(secret: bytes) -> bytes:
    return b"%08x" % crc32(secret)
