"""Keys: Ed25519 (RFC 8032) in PEM files (RFC 8410); they sign and verify messages.

A private key is never printed, and no error has the content of its file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.errors import KeyFileError, OutputError, SettingsError
from geolookup.filesystem import ReadErrors, atomic, open_regular

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: Bytes of a public key and of a signature (RFC 8032, section 5.1).
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64
#: Bytes; an Ed25519 key in PEM has about 120.
LARGEST_FILE = 1 << 14
#: The prime of the field of Ed25519, and d of its curve -x^2 + y^2 = 1 + d x^2 y^2.
_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_MAKE = "make one with 'geolookup signing-keys create'"
#: The file of the public key has the name of the private key's file, and this ending.
PUBLIC_ENDING = ".pub"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key: 32 bytes. Equal keys have equal ids."""

    raw: bytes

    @property
    def id(self) -> str:
        """The SHA-256 of the raw key, 64 hexadecimal digits."""
        return hashlib.sha256(self.raw).hexdigest()

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Return whether the holder of the private key signed exactly this message."""
        _check_installed()
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        if len(signature) != _SIGNATURE_BYTES or len(self.raw) != _KEY_BYTES:
            return False
        if has_small_order(self.raw):
            return False
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            return False
        return True


class PrivateKey:
    """A private key; its text is the id of its public key."""

    __slots__ = ("_key", "public")

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key, self.public = key, PublicKey(key.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, 64 bytes."""
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"<PrivateKey of {self.public.id}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a private key is not pickled")


#: Keys to sign with: the file of a private key, a key, or several of these.
SigningKeys = str | os.PathLike[str] | PrivateKey | Sequence[str | os.PathLike[str] | PrivateKey]


def read_public(path: str | os.PathLike[str]) -> PublicKey:
    """Return the key of a file in PEM, SubjectPublicKeyInfo.

    Raises KeyFileError for any other file, and for one that other users may write.
    """
    _check_installed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    path = Path(path)
    text = _content(path)
    if b"PRIVATE KEY" in text:
        raise KeyFileError(path, "a private key", f"name its public key, {path}{PUBLIC_ENDING}")
    try:
        key = load_pem_public_key(text)
    except (ValueError, UnsupportedAlgorithm):
        raise KeyFileError(path, "not a public key in PEM", _MAKE) from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(path, "not an Ed25519 key", _MAKE)
    raw = key.public_bytes_raw()
    if has_small_order(raw):
        raise KeyFileError(path, "a key whose signatures anybody can make", _MAKE)
    return PublicKey(raw)


def has_small_order(raw: bytes) -> bool:
    """Return whether a public key is one of the points of order 1, 2, 4 or 8.

    Anybody can make signatures that such a key verifies, and some libraries accept them
    (RFC 8032, section 5.1.7, checks no order). Twice a point of order 8 has y = 0, so
    d y^4 + 2 y^2 = 1; the others have y = 0 or y^2 = 1.
    """
    # 32 bytes, little endian: bits 0-254 are y, bit 255 is the sign of x (RFC 8032, section 5.1.2).
    #   | y, 255 bits | sign of x |
    # y is reduced: this finds encodings of y + p too (the RFC forbids them).
    y = (int.from_bytes(raw, "little") & (1 << 255) - 1) % _P
    square = y * y % _P
    # Zero if one factor is: y = 0 (order 4), y = 1 or -1 (orders 1 and 2), the quartic (order 8).
    return y * (square - 1) * (_D * square * square + 2 * square - 1) % _P == 0


def read_private(path: str | os.PathLike[str]) -> PrivateKey:
    """Return the key of a file in PEM, PKCS 8, not encrypted.

    Raises KeyFileError for any other file, and for one that other users may read.
    """
    _check_installed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    path = Path(path)
    text = _content(path, private=True)
    try:
        key = load_pem_private_key(text, password=None)
    except TypeError:
        raise KeyFileError(path, "is encrypted", "decrypt it into a file of mode 0600") from None
    except (ValueError, UnsupportedAlgorithm):
        raise KeyFileError(path, "not a private key in PEM", _MAKE) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(path, "not an Ed25519 key", _MAKE)
    return PrivateKey(key)


def read_signing_keys(keys: SigningKeys) -> tuple[PrivateKey, ...]:
    """Return the keys that a caller signs with; KeyFileError for a bad file.

    Each key once, however often it is named.
    """
    several = [keys] if isinstance(keys, str | os.PathLike | PrivateKey) else keys
    read = [key if isinstance(key, PrivateKey) else read_private(key) for key in several]
    return tuple({key.public: key for key in read}.values())


def generate(path: str | os.PathLike[str]) -> PublicKey:
    """Write a new private key to ``path``, mode 0600, and its public key to ``path.pub``.

    Raises OutputError for a file that exists or cannot be written; then neither is left.
    """
    _check_installed()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    path = Path(path)
    public_path = path.with_name(path.name + PUBLIC_ENDING)
    for file in (path, public_path):
        atomic.check_file(file, force=True)
        if file.exists():  # datasets may be signed with it: no option replaces a key
            raise OutputError(file, "exists already", "choose another name")
    key = Ed25519PrivateKey.generate()
    public = PublicKey(key.public_key().public_bytes_raw())
    # The private key is renamed into place last: it never exists without its public key.
    with atomic.staged_file(path, 0o600, force=False) as fresh:
        fresh.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        with atomic.staged_file(public_path, 0o644, force=False) as fresh_public:
            fresh_public.write_bytes(pem_of(public))
    return public


def pem_of(key: PublicKey) -> bytes:
    """Return a public key in PEM, SubjectPublicKeyInfo."""
    _check_installed()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    ed25519_key = Ed25519PublicKey.from_public_bytes(key.raw)
    return ed25519_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _content(path: Path, *, private: bool = False) -> bytes:
    with ReadErrors(path, KeyFileError), open_regular(path) as file:
        text = file.read(LARGEST_FILE + 1)
        # Others may read a public key, so its mode is not checked first.
        if private and b"PUBLIC KEY" in text:
            raise KeyFileError(path, "a public key", "name its private key")
        _check_mode(path, os.fstat(file.fileno()), private=private)
    if len(text) > LARGEST_FILE:
        raise KeyFileError(path, f"more than {LARGEST_FILE:,} bytes: no key", _MAKE)
    return text


def _check_mode(path: Path, status: os.stat_result, *, private: bool) -> None:
    """Raise KeyFileError for a key that other users may write, or read if it is private, as ssh.

    The owner is not checked: whoever names a key file trusts its owner.
    """
    # 0o077: the bits rwx of group and others; 0600 and 0400 have none. 0o022: their bits w.
    if os.name != "posix" or not status.st_mode & (0o077 if private else 0o022):
        return
    mode = f"(mode {status.st_mode & 0o777:04o})"
    if private:
        problem = f"other users may read or change this private key {mode}"
        raise KeyFileError(path, problem, f"run chmod 600 {path}")
    problem = f"other users may change this key {mode}"
    raise KeyFileError(path, problem, f"check that it is the right one, and run chmod go-w {path}")


def _check_installed() -> None:
    """Raise SettingsError if the package of the extra ``sign`` is missing."""
    try:
        import cryptography  # noqa: F401 - only whether it is installed
    except ImportError:
        text = "signatures need the package cryptography; run pip install 'geolookup[sign]'"
        raise SettingsError(text) from None
