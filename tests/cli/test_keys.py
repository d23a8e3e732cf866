"""``geolookup keys`` and ``geolookup plans`` as a shell runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.errors import InvalidKeyError, QuotaError
from geolookup.gate import open_accounts
from tests.cli.program import run


def test_a_key_from_its_making_to_its_end(tmp_path: Path) -> None:
    plans = tmp_path / "plans.toml"
    plans.write_text("[plan.one]\nrate = 9\nquota = 1\n")
    url = f"sqlite:///{tmp_path}/a.db"
    at = ("--accounts", url)
    options = ("--plan", "one", "--name", "Acme", "--plans", str(plans))
    key = run("keys", "create", *at, *options).stdout.strip()
    assert key.startswith("geo_live_")
    test_key = run("keys", "create", *at, *options, "--env", "test", "--expires", "2020-01-01")
    assert test_key.stdout.startswith("geo_test_")
    with open_accounts(url, plans) as accounts:
        accounts.admit(key)
        with pytest.raises(QuotaError):
            accounts.admit(key)
        with pytest.raises(InvalidKeyError):
            accounts.admit(test_key.stdout.strip())
    listed = run("keys", "list", *at)
    assert key[9:] not in listed.stdout + listed.stderr
    live, expired = sorted(listed.stdout.splitlines(), key=lambda line: "until" in line)
    assert live.split()[1:4] == ["valid", "live", "one"]
    assert "until 2020-01-01T00:00:00Z" in expired
    assert run("keys", "usage", *at, "--plans", str(plans)).stdout == (
        "1 of 1 used  one  2 keys  Acme\n"
    )
    identifier = live.split()[0]
    assert run("keys", "revoke", identifier, *at).stdout == f"revoked {identifier} of Acme\n"
    assert f"{identifier}  revoked" in run("keys", "list", *at).stdout
    with open_accounts(url, plans) as accounts, pytest.raises(InvalidKeyError):
        accounts.admit(key)


def test_plans_are_listed(tmp_path: Path) -> None:
    plans = tmp_path / "plans.toml"
    plans.write_text("[plan.big]\nrate = 12345\n")
    assert run("plans", "--plans", str(plans)).stdout.splitlines() == [
        "free             5/s, 2,000 requests",
        "paid             25/s, no quota",
        "big              12,345/s, no quota",
    ]


@pytest.mark.parametrize(
    "args",
    [
        ("keys",),
        ("keys", "create", "--accounts", "sqlite:///{}/a.db", "--plan", "none", "--name", "x"),
        ("keys", "create", "--accounts", "sqlite:///{}/a.db", "--plan", "free", "--name", " "),
        ("keys", "create", "--accounts", "sqlite:///{}/no/a.db", "--plan", "free", "--name", "x"),
        ("keys", "create", "--accounts", "mysql://secret@x", "--plan", "free", "--name", "x"),
        ("keys", "list", "--accounts", "sqlite:///{}/none.db"),
        ("keys", "revoke", "0123456789ab", "--accounts", "sqlite:///{}/none.db"),
        ("keys", "usage", "--accounts", "redis://:secret@127.0.0.1:1/0"),
        ("plans", "--plans", "{}/none.toml"),
    ],
)
def test_misuse_is_one_line_and_status_2(tmp_path: Path, args: tuple[str, ...]) -> None:
    done = run(*(word.replace("{}", str(tmp_path)) for word in args))
    assert done.returncode == 2
    assert done.stdout == ""
    assert "secret" not in done.stderr
    if args != ("keys",):
        assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("*.db*"))


def test_an_unknown_key_is_said_to_be_unknown(tmp_path: Path) -> None:
    at = ("--accounts", f"sqlite:///{tmp_path}/a.db")
    run("keys", "create", *at, "--plan", "free", "--name", "x")
    done = run("keys", "revoke", "0123456789ab", *at)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no key has this identifier" in done.stderr


def test_a_whole_key_in_place_of_its_identifier_is_not_repeated(tmp_path: Path) -> None:
    at = ("--accounts", f"sqlite:///{tmp_path}/a.db")
    key = run("keys", "create", *at, "--plan", "free", "--name", "x").stdout.strip()
    done = run("keys", "revoke", key, *at)
    assert done.returncode == 2
    assert key not in done.stdout + done.stderr
