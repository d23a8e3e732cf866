"""``geolookup accounts`` as a shell runs it."""

import json
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import pytest

from geolookup.errors import InvalidKeyError, QuotaError
from geolookup.gate import open_accounts
from tests.cli.program import refusal, refused, run, started


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
    assert names(url) == ["Acme"]
    assert run("accounts", "backup", backup, "--accounts", url, "--force").returncode == 0
    (tmp_path / "a.db").write_bytes(b"\xa5" * 5000)
    told = refused("accounts", "restore", backup, "--accounts", url)
    assert "if it is damaged, move it, its -wal and its -shm away" in told
    for part in tmp_path.glob("a.db*"):
        part.rename(tmp_path / f"old-{part.name}")
    assert run("accounts", "restore", backup, "--accounts", url).returncode == 0
    assert names(url) == ["Acme"]


def test_a_backup_harms_no_log(url: str, tmp_path: Path) -> None:
    """SQLite applies a log to the file that it finds beside it."""
    with open_accounts(url) as accounts:
        accounts.create_key("Late", "free")
        for end in ("-wal", "-shm"):
            told = refusal(
                "accounts", "backup", f"{tmp_path}/a.db{end}", "--accounts", url, "--force"
            )
            assert "is the accounts file itself" in told
    (tmp_path / "backup-wal").write_bytes(b"old")
    told = refusal("accounts", "backup", f"{tmp_path}/backup", "--accounts", url)
    assert "has an old log beside it" in told
    assert names(url) == ["Acme", "Late"]


@pytest.mark.skipif(os.name != "posix", reason="starts a process without standard output")
def test_a_key_that_cannot_be_printed_is_not_made(url: str) -> None:
    for command in (("create", "--plan", "free", "--name", "Lost"), ("list",)):
        arguments = ("accounts", "keys", *command, "--accounts", url)
        with started(*arguments, stderr=PIPE, preexec_fn=lambda: os.close(1)) as process:
            _, errors = process.communicate()
        assert errors.startswith(b"geolookup: standard output is closed; ")
    assert names(url) == ["Acme"]


def test_what_is_no_backup_changes_nothing(url: str, tmp_path: Path) -> None:
    backup, fresh = tmp_path / "backup", tmp_path / "fresh.db"
    run("accounts", "backup", str(backup), "--accounts", url)
    content = backup.read_bytes()
    made: dict[str, Callable[[Path], object]] = {
        "missing": lambda _path: None,
        "folder": Path.mkdir,
        "pipe": os.mkfifo,
        "text": lambda path: path.write_text("x" * 5000, encoding="utf-8"),
        "damaged": lambda path: path.write_bytes(content[:1024].ljust(len(content), b"\xa5")),
    }
    for kind, make in made.items():
        path = tmp_path / f"of {kind}"
        make(path)
        for target in (url, f"sqlite:///{fresh}"):
            told = refusal("accounts", "restore", str(path), "--accounts", target)
            assert told.startswith(f"{path}: ")
            assert ("no such file" in told) == (kind == "missing")
        assert names(url) == ["Acme"]
        assert not fresh.exists()


def test_a_key_from_its_making_to_its_end(tmp_path: Path) -> None:
    plans = tmp_path / "plans.toml"
    plans.write_text("[plan.one]\nrate = 9\nquota = 1\n", encoding="utf-8")
    at = ("--accounts", f"sqlite:///{tmp_path}/a.db")
    options = ("--plan", "one", "--name", "Acme", "--plans", str(plans))
    create = ("accounts", "keys", "create", *at, *options)
    key = run(*create).stdout.strip()
    assert key.startswith("geo_live_")
    test_key = run(*create, "--env", "test", "--expires", "9999-12-31").stdout.strip()
    assert test_key.startswith("geo_test_")
    assert "'2020-01-01' is past" in refusal(*create, "--expires", "2020-01-01")
    with open_accounts(at[1], plans) as accounts:
        accounts.admit(key)
        for used_up in (key, test_key):
            with pytest.raises(QuotaError):
                accounts.admit(used_up)
    listed = run("accounts", "keys", "list", *at).stdout
    assert key[9:] not in listed
    live, test = sorted(listed.splitlines(), key=lambda line: "until" in line)
    assert live.split()[1:4] == ["valid", "live", "one"]
    assert "valid until 9999-12-31T00:00:00Z  test  one" in test
    done = run("accounts", "usage", *at, "--plans", str(plans))
    assert done.stdout == "1 of 1 used  one  2 keys  Acme\n"
    assert "1 of an unknown quota used  one  " in run("accounts", "usage", *at).stdout
    for known, quota in (((), None), (("--plans", str(plans)), 1)):
        usage = json.loads(run("accounts", "usage", *at, *known, "--json").stdout)
        assert usage == {"account": "Acme", "plan": "one", "used": 1, "quota": quota, "keys": 2}
    entries = [*map(json.loads, run("accounts", "keys", "list", *at, "--json").stdout.splitlines())]
    assert {entry["expires"]: entry["key"] for entry in entries} == {
        None: live.split()[0],
        "9999-12-31T00:00:00Z": test.split()[0],
    }
    # A whole key in place of its identifier is not repeated.
    assert key not in refused("accounts", "keys", "revoke", key, *at)
    identifier = live.split()[0]
    for told in ("is revoked", "was revoked already"):
        done = run("accounts", "keys", "revoke", identifier, *at)
        assert (done.returncode, done.stdout) == (0, f"{identifier} of Acme {told}\n")
    assert f"{identifier}  revoked" in run("accounts", "keys", "list", *at).stdout
    with open_accounts(at[1], plans) as accounts, pytest.raises(InvalidKeyError):
        accounts.admit(key)


def test_the_audit_log(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at, backup = ("--accounts", url), str(tmp_path / "backup")
    identifier = run("accounts", "keys", "list", *at).stdout.split()[0]
    run("accounts", "keys", "revoke", identifier, *at)
    run("accounts", "backup", backup, *at)
    monkeypatch.setenv("SUDO_USER", "alice")
    run("accounts", "restore", backup, *at)
    uid = os.getuid()
    user = pwd.getpwuid(uid).pw_name
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
    revoked = {"action": "revoked", "user": user, "uid": uid, "sudo_user": None}
    assert entries[1] == revoked | {"key": identifier, "account": "Acme", "detail": None}


def test_plans_are_listed(tmp_path: Path) -> None:
    plans = tmp_path / "plans.toml"
    plans.write_text("[plan.big]\nrate = 12345\n", encoding="utf-8")
    assert run("accounts", "plans", "--plans", str(plans)).stdout.splitlines() == [
        "free  5/s       2,000 requests",
        "paid  25/s      no quota",
        "big   12,345/s  no quota",
    ]
