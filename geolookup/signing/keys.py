"""Keys: Ed25519 (RFC 8032) in PEM files (RFC 8410); they sign and verify messages.

A private key is never printed, and no error has the content of its file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geolookup.errors import KeyFileError, OutputError, SettingsError
from geolookup.filesystem import ReadErrors, atomic, open_regular

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: Bytes of a public key and of a signature (RFC 8032, section 5.1).
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64
#: Bytes; an Ed25519 key in PEM has about 120.
LARGEST_FILE = 1 << 14
#: The prime of the field of Ed25519, and the smaller y of the points of order 8: twice such a point
#: has y = 0, so d y^4 + 2 y^2 = 1, where d = -121665/121666.
_P = 2**255 - 19
_Y_8 = 0x5FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_MAKE = "make one with 'geolookup mirror keys create'"
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

        if (len(signature), len(self.raw)) != (_SIGNATURE_BYTES, _KEY_BYTES):
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


def has_small_order(raw: bytes) -> bool:
    """Return whether a public key is one of the points of order 1, 2, 4 or 8.

    Anybody can make signatures that such a key verifies, and some libraries accept them
    (RFC 8032, section 5.1.7, checks no order).
    """
    # 32 bytes, little endian: bits 0-254 are y, bit 255 is the sign of x (RFC 8032, section 5.1.2).
    #   | y, 255 bits | sign of x |
    # y is reduced: this finds encodings of y + p too (the RFC forbids them).
    y = (int.from_bytes(raw, "little") & (1 << 255) - 1) % _P
    # y = 1 has order 1, -1 order 2, 0 order 4, the others order 8.
    return y in {1, _P - 1, 0, _Y_8, _P - _Y_8}


def read_public(path: str | os.PathLike[str]) -> PublicKey:
    """Return the key of a file in PEM, SubjectPublicKeyInfo.

    Raises KeyFileError for any other file, and for one that other users may write.
    """
    raw = _read(Path(path), is_private=False).public_bytes_raw()
    if has_small_order(raw):
        raise KeyFileError(path, "a key whose signatures anybody can make", _MAKE)
    return PublicKey(raw)


def read_private(path: str | os.PathLike[str]) -> PrivateKey:
    """Return the key of a file in PEM, PKCS 8, not encrypted.

    Raises KeyFileError for any other file, and for one that other users may read.
    """
    return PrivateKey(_read(Path(path), is_private=True))


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
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    path = Path(path)
    public_path = path.with_name(path.name + PUBLIC_ENDING)
    for file in (path, public_path):
        if file.exists():  # datasets may be signed with it: no option replaces a key
            raise OutputError(file, "exists already", "choose another name")
    key = Ed25519PrivateKey.generate()
    public = PublicKey(key.public_key().public_bytes_raw())
    form = serialization.PrivateFormat.PKCS8
    text = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    # The private key is renamed into place last: it never exists without its public key.
    with atomic.staged_file(path, 0o600, force=False) as fresh:
        fresh.write_bytes(text)
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


def _read(path: Path, *, is_private: bool) -> Any:
    """Return the Ed25519 key in a file, as ``cryptography`` has it."""
    _check_installed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    text = _content(path, is_private=is_private)
    try:
        if is_private:
            key: object = serialization.load_pem_private_key(text, password=None)
        else:
            key = serialization.load_pem_public_key(text)
    except TypeError:
        raise KeyFileError(path, "is encrypted", "decrypt it into a file of mode 0600") from None
    except (ValueError, UnsupportedAlgorithm):
        kind = "private" if is_private else "public"
        raise KeyFileError(path, f"not a {kind} key in PEM", _MAKE) from None
    if not isinstance(key, ed25519.Ed25519PrivateKey | ed25519.Ed25519PublicKey):
        raise KeyFileError(path, "not an Ed25519 key", _MAKE)
    return key


def _content(path: Path, *, is_private: bool) -> bytes:
    with ReadErrors(path, KeyFileError), open_regular(path) as file:
        text = file.read(LARGEST_FILE + 1)
        mode = os.fstat(file.fileno()).st_mode
    # Others may read a public key, so its mode is not checked first.
    if is_private and b"PUBLIC KEY" in text:
        raise KeyFileError(path, "a public key", "name its private key")
    if not is_private and b"PRIVATE KEY" in text:
        raise KeyFileError(path, "a private key", f"name its public key, {path}{PUBLIC_ENDING}")
    _check_mode(path, mode, is_private=is_private)
    if len(text) > LARGEST_FILE:
        raise KeyFileError(path, f"more than {LARGEST_FILE:,} bytes: no key", _MAKE)
    return text


def _check_mode(path: Path, mode: int, *, is_private: bool) -> None:
    """Raise KeyFileError for a key that other users may write, or read if it is private, as ssh.

    The owner is not checked: whoever names a key file trusts its owner.
    """
    # 0o077: the bits rwx of group and others; 0600 and 0400 have none. 0o022: their bits w.
    if os.name != "posix" or not mode & (0o077 if is_private else 0o022):
        return
    access, remedy = "change this key", f"check that it is the right one, and run chmod go-w {path}"
    if is_private:
        access, remedy = "read or change this private key", f"run chmod 600 {path}"
    raise KeyFileError(path, f"other users may {access} (mode {mode & 0o777:04o})", remedy)


def _check_installed() -> None:
    """Raise SettingsError if the package of the extra ``sign`` is missing."""
    try:
        import cryptography  # noqa: F401 - only whether it is installed
    except ImportError:
        text = "signatures need the package cryptography; run pip install 'geolookup[sign]'"
        raise SettingsError(text) from None
