"""``geolookup accounts keys`` and ``accounts`` as a shell runs them."""

import json
import os
import pwd
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from geolookup.errors import InvalidKeyError, QuotaError
from geolookup.gate import open_accounts
from tests.cli.program import refusal, refused, run


@pytest.fixture
def url(tmp_path: Path) -> str:
    """An accounts file with one key."""
    url = f"sqlite:///{tmp_path}/a.db"
    with open_accounts(url) as accounts:
        accounts.create_key("Acme", "free")
    return url


def names(url: str) -> list[str]:
    with open_accounts(url) as accounts:
        return [record.name for record in accounts.usage()]


def test_a_backup_and_its_restore(url: str, tmp_path: Path) -> None:
    backup = str(tmp_path / "backup")
    done = run("accounts", "backup", backup, "--accounts", url)
    assert (done.returncode, done.stdout) == (0, f"{backup}: accounts: 1, keys: 1\n")
    assert done.stderr == ""
    with open_accounts(url) as accounts:
        accounts.create_key("Late", "free")
    assert "exists already" in refused("accounts", "backup", backup, "--accounts", url)
    done = run("accounts", "restore", backup, "--accounts", url)
    assert done.stdout == f"{url}: accounts: 1, keys: 1, restored from {backup}\n"
    assert done.returncode == 0
    assert names(url) == ["Acme"]
    assert run("accounts", "backup", backup, "--accounts", url, "--force").returncode == 0
    (tmp_path / "a.db").write_bytes(b"\xa5" * 5000)
    told = refused("accounts", "restore", backup, "--accounts", url)
    assert "if it is damaged, move it, its -wal and its -shm away" in told
    for part in tmp_path.glob("a.db*"):
        part.rename(tmp_path / f"old-{part.name}")
    assert run("accounts", "restore", backup, "--accounts", url).returncode == 0
    assert names(url) == ["Acme"]


def _changed(content: bytes, script: str) -> Callable[[Path], None]:
    """Write a file of SQLite that a script changed."""

    def write(path: Path) -> None:
        path.write_bytes(content)
        with closing(sqlite3.connect(path)) as db:
            db.executescript(script)

    return write


def _with_schema(column: bytes) -> str:
    text = f"CAST(X'{(b'CREATE TABLE account (' + column).hex()}' AS TEXT)"
    change = f"UPDATE sqlite_schema SET sql = {text} WHERE name = 'account'"  # noqa: S608
    return f"PRAGMA writable_schema = on; {change}"


def test_what_is_no_backup_changes_nothing(url: str, tmp_path: Path) -> None:
    backup, fresh = tmp_path / "backup", tmp_path / "fresh.db"
    run("accounts", "backup", str(backup), "--accounts", url)
    content = backup.read_bytes()
    made: dict[str, Callable[[Path], object]] = {
        "missing": lambda _path: None,
        "folder": Path.mkdir,
        "pipe": os.mkfifo,
        "text": lambda path: path.write_text("x" * 5000, encoding="utf-8"),
        "database": _changed(b"", "CREATE TABLE account (id)"),
        "damaged": lambda path: path.write_bytes(content[:1024].ljust(len(content), b"\xa5")),
        "a key without its account": _changed(content, "DELETE FROM account"),
        "a line break that SQLite repeats": _changed(content, _with_schema(b'"\n')),
        "no UTF-8, which SQLite repeats": _changed(content, _with_schema(b'"\xff')),
        "itself": lambda _path: None,
    }
    for kind, make in made.items():
        path = tmp_path / ("a.db" if kind == "itself" else f"of {kind}")
        make(path)
        told = refusal("accounts", "restore", str(path), "--accounts", url)
        assert str(path) in told
        assert ("no such file" in told) == (kind == "missing")
        assert names(url) == ["Acme"]
        if kind != "itself":
            told = refusal("accounts", "restore", str(path), "--accounts", f"sqlite:///{fresh}")
            assert told.startswith(f"{path}: ")
            assert not fresh.exists()


def test_a_key_from_its_making_to_its_end(tmp_path: Path) -> None:
    plans = tmp_path / "plans.toml"
    plans.write_text("[plan.one]\nrate = 9\nquota = 1\n", encoding="utf-8")
    url = f"sqlite:///{tmp_path}/a.db"
    at = ("--accounts", url)
    options = ("--plan", "one", "--name", "Acme", "--plans", str(plans))
    key = run("accounts", "keys", "create", *at, *options).stdout.strip()
    assert key.startswith("geo_live_")
    test_key = run(
        "accounts", "keys", "create", *at, *options, "--env", "test", "--expires", "2020-01-01"
    )
    assert test_key.stdout.startswith("geo_test_")
    with open_accounts(url, plans) as accounts:
        accounts.admit(key)
        with pytest.raises(QuotaError):
            accounts.admit(key)
        with pytest.raises(InvalidKeyError):
            accounts.admit(test_key.stdout.strip())
    listed = run("accounts", "keys", "list", *at)
    assert key[9:] not in listed.stdout + listed.stderr
    live, expired = sorted(listed.stdout.splitlines(), key=lambda line: "until" in line)
    assert live.split()[1:4] == ["valid", "live", "one"]
    assert "until 2020-01-01T00:00:00Z" in expired
    assert run("accounts", "usage", *at, "--plans", str(plans)).stdout == (
        "1 of 1 used  one  2 keys  Acme\n"
    )
    # A whole key in place of its identifier is not repeated.
    assert key not in refused("accounts", "keys", "revoke", key, *at)
    identifier = live.split()[0]
    for told in ("is revoked", "was revoked already"):
        done = run("accounts", "keys", "revoke", identifier, *at)
        assert (done.returncode, done.stdout) == (0, f"{identifier} of Acme {told}\n")
    assert f"{identifier}  revoked" in run("accounts", "keys", "list", *at).stdout
    with open_accounts(url, plans) as accounts, pytest.raises(InvalidKeyError):
        accounts.admit(key)


def test_the_audit_log(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at, backup = ("--accounts", url), str(tmp_path / "backup")
    identifier = run("accounts", "keys", "list", *at).stdout.split()[0]
    run("accounts", "keys", "revoke", identifier, *at)
    run("accounts", "backup", backup, *at)
    monkeypatch.setenv("SUDO_USER", "alice")
    run("accounts", "restore", backup, *at)
    user, uid = pwd.getpwuid(os.getuid()).pw_name, os.getuid()
    printed = run("accounts", "log", *at).stdout.splitlines()
    assert [line.split("  ")[1:] for line in printed] == [
        ["created", identifier, f"{user} ({uid})", "Acme", "plan free, live"],
        ["revoked", identifier, f"{user} ({uid})", "Acme"],
        ["restored", f"{user} ({uid}), sudo by alice", f"from {backup}, accounts: 1, keys: 1"],
    ]
    entries = [
        json.loads(line) for line in run("accounts", "log", *at, "--json").stdout.splitlines()
    ]
    assert [entry.pop("at") for entry in entries] == [line.split("  ")[0] for line in printed]
    assert entries[1] == {
        "action": "revoked",
        "user": user,
        "uid": uid,
        "sudo_user": None,
        "key": identifier,
        "account": "Acme",
        "detail": None,
    }


def test_plans_are_listed(tmp_path: Path) -> None:
    plans = tmp_path / "plans.toml"
    plans.write_text("[plan.big]\nrate = 12345\n", encoding="utf-8")
    assert run("accounts", "plans", "--plans", str(plans)).stdout.splitlines() == [
        "free  5/s       2,000 requests",
        "paid  25/s      no quota",
        "big   12,345/s  no quota",
    ]
