"""The audit log, and backups: those that someone changed are refused in one line.

The log has an entry for each change of accounts; a restore removes none, and a refused one changes
nothing.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from geolookup.errors import AccountsError
from geolookup.gate import open_accounts
from tests.cli.program import umask
from tests.damage import limited_files
from tests.gate.conftest import MORE_ACCOUNTS, START, Open, of
from tests.internals.gate import AccountsFile, back_up, digest, restore
from tests.skips import names_in_utf8, optional

SCHEMA = "PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = "
#: What makes another file of a backup, and a word of the refusal.
FORGED = {
    "CREATE TRIGGER more AFTER INSERT ON key BEGIN DELETE FROM log; END": "trigger 'more'",
    "CREATE TABLE more (a)": "table 'more'",
    "DROP TABLE run; CREATE VIEW run AS SELECT 1 AS account, 2 AS used, 3 AS stamp": "'run'",
    "ALTER TABLE account ADD COLUMN more": "table 'account'",
    "DROP TABLE log": "table 'log'",
    "PRAGMA application_id = 1": "not an accounts file",
    "PRAGMA user_version = 2": "version 2",
    "DELETE FROM account": "a key or a run without its account",
    "INSERT INTO run VALUES (9, 0, 0)": "a key or a run without its account",
    "DELETE FROM run WHERE account = 2": "has an account without its usage",
    "UPDATE account SET name = 'a' || char(27) || '[2J' WHERE id = 1": r"'a\x1b[2J'",
    "UPDATE account SET plan = ' '": "' '",
    "UPDATE log SET detail = char(0x202e)": r"'\u202e'",
    "UPDATE account SET name = CAST(x'ff41' AS TEXT) WHERE id = 1": "UTF-8",
    # SQLite repeats these names: with a line feed, and not in UTF-8.
    f"{SCHEMA}'CREATE TABLE a (\"\n'": "malformed",
    f"{SCHEMA}sql || CAST(x'22ff' AS TEXT)": "0xff",
}
#: Values that the schema refuses, unless the program that writes them says otherwise.
INVALID = (
    *("run SET used = -1", "run SET used = 0.5", "run SET used = 'many'"),
    *("account SET id = 0 WHERE id = 1", "account SET name = x'41' WHERE id = 1"),
    *(
        "run SET used = 1 << 53",
        "run SET stamp = x'00'",
        "key SET created = 1 << 62",
        "key SET expires = 'now'",
    ),
    *("key SET digest = substr(digest, 2)", "key SET digest = hex(randomblob(16))"),
    *("key SET environment = 'prod'", "key SET revoked = 2"),
    *("log SET action = 'deleted'", "log SET uid = -1", "log SET uid = 1 << 33"),
    *("log SET at = x'00'", "log SET key = '192.0.2.1'", "log SET detail = x'00'"),
)
#: What a value may be at most, and at least.
BOUNDS = (
    "UPDATE account SET created = 253402300799999999, name = hex(zeroblob(99)) || id",
    "UPDATE key SET created = -62135596800000000, expires = 253402300799999999, revoked = 1",
    "UPDATE log SET account = NULL, uid = 0, user = '', detail = hex(zeroblob(500)), key = NULL",
    "UPDATE run SET used = (1 << 53) - 1, stamp = 0",
    "UPDATE key SET expires = NULL; UPDATE log SET uid = (1 << 32) - 1, detail = NULL",
    "DELETE FROM key; DELETE FROM run; DELETE FROM account; DELETE FROM log",
)


def run(file: Path, script: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.executescript(f"PRAGMA ignore_check_constraints = on; {script}")


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        return list(db.iterdump())


@pytest.fixture
def url(file: Path) -> str:
    return f"sqlite:///{file}"


@pytest.fixture
def backup(url: str, tmp_path: Path, worker: Open) -> Path:
    """A backup of two accounts in use; a third was created later."""
    accounts = worker()
    for name in ("Acme", "Other"):
        accounts.create_key(name, "mid")
    assert back_up(url, tmp_path / "backup") == "accounts: 2, keys: 2"
    accounts.create_key("Late", "mid")
    accounts.close()
    return tmp_path / "backup"


@pytest.mark.parametrize("script", [*FORGED, *(f"UPDATE {change}" for change in INVALID)])
def test_a_forged_backup_changes_nothing(script: str, backup: Path, url: str, file: Path) -> None:
    run(backup, script)
    before, fresh = dump(file), file.with_name("fresh.db")
    for target in (url, f"sqlite:///{fresh}"):
        with pytest.raises(AccountsError) as refused:
            restore(target, backup)
        text = str(refused.value)
        assert text.startswith(f"{backup}: ")
        assert FORGED.get(script, "CHECK constraint failed in ") in text
        assert text.isprintable()
        assert dump(file) == before
    assert not fresh.exists()


@pytest.mark.parametrize("script", BOUNDS)
def test_values_at_their_bounds_are_restored(script: str, backup: Path, url: str) -> None:
    run(backup, script)
    content = restore(url, backup)
    with open_accounts(url) as accounts:
        assert content == f"accounts: {len(accounts.usage())}, keys: {len(accounts.keys())}"
        assert accounts.create_key("New", "free")


def test_a_restore_that_fails_late_changes_nothing(
    backup: Path, url: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AccountsFile, "patience", 0.05)
    before = dump(file)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(AccountsError, match=f"{file}: database is locked"):
            restore(url, backup)
    assert dump(file) == before
    run(file, "CREATE TRIGGER more AFTER INSERT ON key BEGIN DELETE FROM log; END")
    before = dump(file)
    problem = f"{file}: its trigger 'more'"
    with pytest.raises(AccountsError, match=problem):
        restore(url, backup)
    with pytest.raises(AccountsError, match=problem):
        back_up(url, file.with_name("new"))
    assert dump(file) == before
    assert not file.with_name("new").exists()


def test_a_full_disk_changes_nothing(backup: Path, url: str, file: Path) -> None:
    """A limit on the size of files stands for the disk; the log's index of 32 KiB still fits."""
    run(backup, MORE_ACCOUNTS)
    before, fresh = dump(file), file.with_name("fresh.db")
    for target in (file, fresh):
        with limited_files(40_000), pytest.raises(AccountsError) as refused:
            restore(f"sqlite:///{target}", backup)
        assert str(refused.value).startswith(f"{target}: ")
        assert "\n" not in str(refused.value)
        assert dump(file) == before
    # A missing file is an empty one now, which no service takes for accounts, until it is restored.
    with open_accounts(f"sqlite:///{fresh}") as accounts, pytest.raises(AccountsError, match="not"):
        accounts.keys()
    with umask(0):
        restore(f"sqlite:///{fresh}", backup)
    (entry,) = {*dump(fresh)} - {*dump(backup)}
    assert "'restored'" in entry
    assert [stat.S_IMODE(path.stat().st_mode) for path in (fresh, backup)] == [0o600] * 2


@names_in_utf8
def test_created_and_revoked_keys_are_logged(worker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "alice\x1b[2J\u202e")
    accounts = worker()
    key = accounts.create_key("Acme", "free", environment="test")
    monkeypatch.delenv("SUDO_USER")
    for _ in range(2):  # the second revocation changes nothing
        worker().revoke(of(key))
    with pytest.raises(ValueError, match="has the plan"):
        accounts.create_key("Acme", "paid")
    created, revoked = accounts.log()
    assert (created.at, created.action, created.key) == (START, "created", of(key))
    assert (created.account, created.detail) == ("Acme", "plan free, test")
    assert created.sudo_user == "alice\\x1b[2J\\u202e"
    assert (revoked.action, revoked.key, revoked.account) == ("revoked", of(key), "Acme")
    assert revoked.sudo_user is revoked.detail is None
    for entry in (created, revoked):
        assert (entry.uid, bool(entry.user)) == (os.getuid(), True)
        assert key[9:] not in repr(entry)
        assert (digest(key) or b"").hex() not in repr(entry)


def test_no_change_without_its_entry(url: str, worker: Open, file: Path) -> None:
    accounts = worker()
    key = accounts.create_key("Acme", "free")
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(file)) as db:
            db.execute("DROP TABLE log")
    else:
        with optional("redis").Redis.from_url(url) as client:
            client.delete("geolookup:log")
            client.set("geolookup:log", "not a list")
    for change in (
        lambda: accounts.create_key("Acme", "free"),
        lambda: accounts.create_key("Other", "free"),
        lambda: accounts.revoke(of(key)),
        accounts.log,
    ):
        with pytest.raises(AccountsError):
            change()
    api_keys = accounts.keys()
    assert [one.revoked for one in api_keys] == [False]
    assert [one.name for one in accounts.usage()] == ["Acme"]


def test_the_log_survives_a_restore(worker: Open, file: Path, tmp_path: Path) -> None:
    url, backup = f"sqlite:///{file}", tmp_path / "backup"
    accounts = open_accounts(url)
    accounts.create_key("Acme", "free")
    back_up(url, backup)
    late = accounts.create_key("Late", "free")
    accounts.revoke(of(late))
    before = accounts.log()
    restore(url, backup)
    *kept, entry = accounts.log()
    assert kept == before
    assert (entry.action, entry.key, entry.account) == ("restored", None, None)
    assert entry.detail == f"from {backup}, accounts: 1, keys: 1"
    accounts.close()
    file.unlink()
    restore(url, backup)  # of a missing file it restores the log too
    with open_accounts(url) as accounts:
        log = [(entry.action, entry.account) for entry in accounts.log()]
        assert log == [("created", "Acme"), ("restored", None)]
