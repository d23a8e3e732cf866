"""API keys as text: made, told from garbage without a store, and turned into digests.

A key is ``geo_live_`` or ``geo_test_``, 32 characters that hold 160 random
bits (base32, lower case) and 8 that hold their CRC-32 (hexadecimal). The checksum keeps
mistyped and made-up keys away from the store; it is no secret. Stores hold
the SHA-256 of the whole text: of 160 random bits no salt is needed.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from base64 import b32encode
from zlib import crc32

ENVIRONMENTS = ("live", "test")
_RANDOM_BYTES = 20
_CHECKSUM = 8
_SHAPE = re.compile(rb"geo_(?:live|test)_[a-z2-7]{32}[0-9a-f]{8}")


def make(environment: str) -> str:
    """Return a new key of an environment, ``"live"`` or ``"test"``."""
    random = b32encode(secrets.token_bytes(_RANDOM_BYTES)).lower()
    secret = b"geo_%b_%b" % (environment.encode(), random)
    return (secret + _checksum(secret)).decode()


def digest(key: object) -> bytes | None:
    """Return the SHA-256 of a text, 32 bytes; None for what is no ASCII text, of any type."""
    if not isinstance(key, str) or not key.isascii():
        return None
    return hashlib.sha256(key.encode()).digest()


def well_formed(key: str) -> bool:
    """Tell whether a text can be a key: has its shape, and a checksum that is right."""
    text = key.encode(errors="replace")
    return bool(_SHAPE.fullmatch(text)) and _checksum(text[:-_CHECKSUM]) == text[-_CHECKSUM:]


def identifier(of_digest: bytes) -> str:
    """Return the name by which people speak of a key, 12 hexadecimal digits of its digest."""
    return of_digest[:6].hex()


def _checksum(secret: bytes) -> bytes:
    return b"%08x" % crc32(secret)
