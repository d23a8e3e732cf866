"""``keygen``, ``sign`` and ``trust`` as commands: what they print and refuse."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import refusal, refused, run
from tests.damage import copied
from tests.datasets import SMALL
from tests.skips import needs

pytestmark = needs("cryptography")


def test_a_key_is_made_once(tmp_path: Path) -> None:
    from geolookup.signing.keys import read_public

    done = run("keygen", str(tmp_path / "key"))
    public = read_public(tmp_path / "key.pub")
    assert done.stdout == f"key {public.id}\npublic key {tmp_path / 'key'}.pub\n"
    again = refusal("keygen", str(tmp_path / "key"))
    assert again == f"{tmp_path / 'key'}: exists already; choose another name"
    assert read_public(tmp_path / "key.pub") == public


def test_sign_and_trust(tmp_path: Path) -> None:
    from geolookup.signing.keys import generate

    data, store, key = copied(SMALL, tmp_path / "data"), str(tmp_path / "store"), tmp_path / "key"
    public = generate(key)
    assert run("trust", store, f"{key}.pub").stdout == f"{public.id}  {public.id}.pem\n"
    assert "not signed by a trusted key" in refusal("publish", str(data), store)
    assert run("sign", str(data), "--sign", str(key)).stdout == f"signed {data}\n"
    assert run("publish", str(data), store).returncode == 0
    assert "does not trust the key" in refusal("trust", store, "--remove", "0" * 64)
    done = run("trust", store, "--remove", public.id)
    assert done.stdout == f"{store} trusts no key: it accepts every dataset\n"
    # Misuse.
    assert "no such folder" in refusal("trust", str(tmp_path / "none"))
    assert "no dataset here" in refusal("sign", str(tmp_path), "--sign", str(key))
    assert "a private key; name its public key" in refusal("trust", str(tmp_path / "new"), str(key))
    assert not (tmp_path / "new").exists()
    assert refused("sign", str(SMALL))
