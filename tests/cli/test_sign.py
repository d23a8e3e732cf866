"""``keygen``, ``sign`` and ``trust`` as commands: what they print and refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="geolookup[sign] is not installed")

from geolookup.signing.keys import generate, read_public
from tests.cli.program import run
from tests.damage import copied
from tests.datasets import SMALL

pytestmark = pytest.mark.long


def line(done: object, status: int) -> str:
    """Return the one line of standard error of a command that ended with this status."""
    assert getattr(done, "returncode", None) == status, done
    (text,) = getattr(done, "stderr", "").splitlines()
    return str(text)


def test_a_key_is_made_once(tmp_path: Path) -> None:
    done = run("keygen", str(tmp_path / "key"))
    public = read_public(tmp_path / "key.pub")
    assert done.stdout == f"key {public.id}\npublic key {tmp_path / 'key'}.pub\n"
    again = line(run("keygen", str(tmp_path / "key")), 2)
    assert again == f"geolookup: {tmp_path / 'key'}: exists already; choose another name"
    assert read_public(tmp_path / "key.pub") == public


def test_sign_and_trust(tmp_path: Path) -> None:
    data, store, key = copied(SMALL, tmp_path / "data"), tmp_path / "store", tmp_path / "key"
    public = generate(key)
    assert run("trust", str(store), f"{key}.pub").stdout == f"{public.id}  {public.id}.pem\n"
    assert "not signed by a trusted key" in line(run("publish", str(data), str(store)), 2)
    assert run("sign", str(data), "--sign", str(key)).stdout == f"signed {data}\n"
    assert run("publish", str(data), str(store)).returncode == 0
    assert "does not trust the key" in line(run("trust", str(store), "--remove", "0" * 64), 2)
    done = run("trust", str(store), "--remove", public.id)
    assert done.stdout == f"{store} trusts no key: it accepts every dataset\n"


def test_what_is_misuse(tmp_path: Path) -> None:
    generate(tmp_path / "key")
    assert "no such folder" in line(run("trust", str(tmp_path / "none")), 2)
    assert "no dataset here" in line(run("sign", str(tmp_path), "--sign", str(tmp_path / "key")), 2)
    wrong = run("trust", str(tmp_path / "new"), str(tmp_path / "key"))
    assert "a private key; name its public key" in line(wrong, 2)
    assert not (tmp_path / "new").exists()
    assert run("sign", str(SMALL)).returncode == 2
