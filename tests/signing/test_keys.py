"""Key files: what is written, what is read, and what is refused in one line."""

from __future__ import annotations

import os
import pickle
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import KeyFileError, SettingsError
from tests.internals.signing import (
    PublicKey,
    generate,
    has_small_order,
    pem_of,
    read_private,
    read_public,
)
from tests.signing.keys import key_files, private_keys, public
from tests.skips import needs, optional

_PRIMITIVES = "cryptography.hazmat.primitives"
serialization = optional(f"{_PRIMITIVES}.serialization")
ed448, ed25519, rsa = (
    optional(f"{_PRIMITIVES}.asymmetric.{name}") for name in ("ed448", "ed25519", "rsa")
)
pytestmark = needs("cryptography")
#: The encodings of the files of keys.
_PEM, _SPKI = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo

#: RFC 8032, section 7.1, TEST 2: seed, public key, message, signature.
_SEED = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
_PUBLIC = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
_SIGNATURE = (
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def written(path: Path, key: Any, encryption: Any = None) -> Path:
    how = encryption or serialization.NoEncryption()
    path.write_bytes(key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, how))
    path.chmod(0o600)
    path.with_suffix(".pub").write_bytes(key.public_key().public_bytes(_PEM, _SPKI))
    return path


def test_the_vector_of_the_rfc(tmp_path: Path) -> None:
    secret = ed25519.Ed25519PrivateKey.from_private_bytes(bytes.fromhex(_SEED))
    key = read_private(written(tmp_path / "key", secret))
    assert key.public.raw.hex() == _PUBLIC
    assert key.sign(b"\x72").hex() == _SIGNATURE
    assert key.public.verify(bytes.fromhex(_SIGNATURE), b"\x72")
    # RFC 8410, section 4: the prefix of every public key of Ed25519, in DER.
    text = b64encode(bytes.fromhex(f"302a300506032b6570032100{_PUBLIC}")).decode()
    pem = f"-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n"
    assert pem_of(key.public).decode() == pem == (tmp_path / "key.pub").read_text(encoding="ascii")


_P = 2**255 - 19
_ORDER_8 = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
_Y_8 = int.from_bytes(_ORDER_8, "little")
#: The y of every point whose order divides 8, and two encodings that are not canonical.
_SMALL = (1, _P - 1, 0, _Y_8, _P - _Y_8, _P, _P + 1)


def test_a_key_for_which_anybody_can_sign_is_none(tmp_path: Path) -> None:
    forged = (1).to_bytes(32, "little") + bytes(32)
    for y in _SMALL:
        for sign in (0, 1 << 255):
            raw = (y | sign).to_bytes(32, "little")
            key = ed25519.Ed25519PublicKey.from_public_bytes(raw)
            (tmp_path / "key").write_bytes(key.public_bytes(_PEM, _SPKI))
            with pytest.raises(KeyFileError, match="signatures anybody can make"):
                read_public(tmp_path / "key")
            assert not any(PublicKey(raw).verify(forged, bytes([number])) for number in range(64))
    assert not any(has_small_order(key.public.raw) for key in private_keys())


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_key_that_others_may_use_is_refused(tmp_path: Path) -> None:
    """Of a private key, also one that they may read."""
    generate(key := tmp_path / "key")
    public_key = tmp_path / "key.pub"
    for mode in (0o640, 0o604, 0o620, 0o610, 0o602, 0o601):
        key.chmod(mode)
        with pytest.raises(KeyFileError, match=f"mode {mode:04o}.; run chmod 600 {key}"):
            read_private(key)
    for mode in (0o664, 0o646):
        public_key.chmod(mode)
        with pytest.raises(KeyFileError, match=f"other users may change.*{mode:o}.; check"):
            read_public(public_key)
    for mode in (0o700, 0o400):
        key.chmod(mode)
        read_private(key)
    public_key.chmod(0o444)
    read_public(public_key)


WRONG = (
    (b"", "not a p"),
    (b"x" * 20_000, "more than 16,384 bytes: no key"),
    (b"PUBLIC KEY PRIVATE KEY", "a public key; name its private|a private key; name its public"),
)


def test_files_that_are_no_key(tmp_path: Path) -> None:
    generate(tmp_path / "key")
    (path := tmp_path / "wrong").touch(0o600)
    text = (tmp_path / "key.pub").read_bytes()
    for content, problem in (*WRONG, (text.replace(b"MCow", b"MCov"), "not a p|a public key")):
        path.write_bytes(content)
        for read in (read_public, read_private):
            with pytest.raises(KeyFileError, match=problem) as caught:
                read(path)
            assert caught.value.remedy
    for read, name, problem in (
        (read_public, "missing", "No such file"),
        (read_public, "key", r"name its public key, .*/key\.pub"),
        (read_private, "key.pub", r"key\.pub: a public key; name its private key"),
    ):
        with pytest.raises(KeyFileError, match=problem) as caught:
            read(tmp_path / name)
        secret = (tmp_path / "key").read_text(encoding="utf-8").splitlines()[1]
        assert secret not in str(caught.value)
    written(path, ed448.Ed448PrivateKey.generate())
    for read, name in ((read_private, "wrong"), (read_public, "wrong.pub")):
        with pytest.raises(KeyFileError, match="not an Ed25519 key"):
            read(tmp_path / name)
    encryption = serialization.BestAvailableEncryption(b"word")
    written(path, ed25519.Ed25519PrivateKey.generate(), encryption)
    with pytest.raises(KeyFileError, match="is encrypted; decrypt it into a file of mode 0600"):
        read_private(path)


def test_a_private_key_is_never_printed_or_pickled() -> None:
    key = private_keys()[0]
    assert repr(key) == str(key) == f"<PrivateKey of {key.public.id}>"
    with pytest.raises(TypeError):
        pickle.dumps(key)
    assert pickle.loads(pickle.dumps(key.public)) == key.public  # noqa: S301 - our own


def test_signatures_and_keys_of_other_forms() -> None:
    """RFC 8032, section 5.1.7: S must be below the order, or one signature had several forms."""
    key = private_keys()[0]
    signature = key.sign(b"message")
    assert key.public.verify(signature, b"message")
    order = 2**252 + 27742317777372353535851937790883648493
    raised = int.from_bytes(signature[32:], "little") + order
    higher = signature[:32] + raised.to_bytes(32, "little")
    for wrong in (b"", signature[:-1], signature + b"\0", signature * 2, bytes(64), higher):
        assert not key.public.verify(wrong, b"message")
    for raw in (b"", key.public.raw[:-1], key.public.raw + b"\0"):
        assert not PublicKey(raw).verify(signature, b"message")


def test_without_the_package_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, file = private_keys()[0], key_files()[0]
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for call in (
        lambda: generate(tmp_path / "other"),
        lambda: read_private(file),
        lambda: read_public(public(file)),
        lambda: key.public.verify(bytes(64), b""),
        lambda: pem_of(key.public),
    ):
        with pytest.raises(SettingsError, match=r"pip install 'geolookup\[sign\]'"):
            call()
