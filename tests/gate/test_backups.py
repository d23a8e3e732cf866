"""Backups that someone changed: refused in one line, and the live accounts stay."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from geolookup.errors import AccountsError
from geolookup.gate import open_accounts
from tests.damage import limited_files
from tests.gate.conftest import Open
from tests.internals.gate import AccountsFile, back_up, restore

#: What makes another file of a backup, and a word of the refusal.
FORGED = {
    "a trigger": (
        "CREATE TRIGGER more AFTER INSERT ON key BEGIN UPDATE run SET used = 0; END",
        "has another trigger 'more'",
    ),
    "a table": ("CREATE TABLE more (a)", "has another table 'more'"),
    "a table that is a view": (
        "DROP TABLE run; CREATE VIEW run AS SELECT 1 AS account, 2 AS used, 3 AS stamp",
        "has another view 'run'",
    ),
    "a column more": ("ALTER TABLE account ADD COLUMN more", "has another table 'account'"),
    "another program's": ("PRAGMA application_id = 1", "not an accounts file"),
    "another version": ("PRAGMA user_version = 2", "version 2"),
    "negative usage": ("UPDATE run SET used = -1", "run, row 1: used is -1"),
    "no usage": ("DELETE FROM run WHERE account = 2", "has an account without its usage"),
    "usage without account": ("INSERT INTO run VALUES (9, 0, 0)", "a run without its account"),
    "a number below 1": ("UPDATE account SET id = 0 WHERE id = 2", "account, row 1: id is 0"),
    "a name as bytes": ("UPDATE account SET name = x'41' WHERE id = 1", "name is b'A'"),
    "a name with an escape": (
        "UPDATE account SET name = 'a' || char(27) || '[2J' WHERE id = 1",
        "name is 'a\\x1b[2J'",
    ),
    "a name that is not UTF-8": (
        "UPDATE account SET name = CAST(x'ff41' AS TEXT) WHERE id = 1",
        "UTF-8",
    ),
    "a date beyond dates": ("UPDATE key SET created = 1 << 62", "key, row 1: created is 461"),
    "a short digest": ("UPDATE key SET digest = substr(digest, 2)", "digest is b"),
    "a third environment": ("UPDATE key SET environment = 'prod'", "environment is 'prod'"),
    "a key without account": ("UPDATE key SET account = 99", "a key without its account"),
    "an unknown action": ("UPDATE log SET action = 'deleted'", "log, row 1: action"),
    "a user id below 0": ("UPDATE log SET uid = -1", "log, row 1: uid is -1"),
    "a user id beyond 32 bits": ("UPDATE log SET uid = 1 << 33", "log, row 1: uid is 8589934592"),
    "an address in the log": ("UPDATE log SET key = '192.0.2.1'", "key is '192.0.2.1'"),
}


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        return list(db.iterdump())


@pytest.fixture
def url(file: Path) -> str:
    return f"sqlite:///{file}"


@pytest.fixture
def backup(url: str, tmp_path: Path, worker: Open) -> Path:
    """A backup of two accounts; a third was created later."""
    accounts = worker()
    for name in ("Acme", "Other"):
        accounts.create_key(name, "mid")
    back_up(url, tmp_path / "backup")
    accounts.create_key("Late", "mid")
    accounts.close()
    return tmp_path / "backup"


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_backup_changes_nothing(kind: str, backup: Path, url: str, file: Path) -> None:
    script, says = FORGED[kind]
    with closing(sqlite3.connect(backup)) as db:
        db.executescript(script)
    before = dump(file)
    for target, unchanged in ((url, before), (f"sqlite:///{file.with_name('fresh.db')}", None)):
        with pytest.raises(AccountsError) as refused:
            restore(target, backup)
        text = str(refused.value)
        assert text.startswith(f"{backup}: ")
        assert says in text
        assert text.isprintable()
        assert unchanged is None or dump(file) == unchanged
    assert not file.with_name("fresh.db").exists()


#: What a value may be at most, and at least.
BOUNDS = (
    (
        "UPDATE account SET id = 1 << 53 WHERE id = 2; UPDATE key SET account = 1 << 53"
        " WHERE account = 2; UPDATE run SET account = 1 << 53, used = (1 << 53) - 1"
        " WHERE account = 2"
    ),
    ("UPDATE account SET created = 253402300799999999, name = id || hex(zeroblob(99)) || 'a'"),
    "UPDATE key SET created = -62135596800000000, expires = 253402300799999999, revoked = 1",
    "UPDATE key SET expires = NULL; UPDATE log SET key = NULL, uid = NULL, detail = NULL",
    "UPDATE log SET account = NULL, uid = 0, user = '', detail = hex(zeroblob(500))",
    "UPDATE log SET uid = (1 << 32) - 1",
    "DELETE FROM key; DELETE FROM run; DELETE FROM account; DELETE FROM log",
)


@pytest.mark.parametrize("script", BOUNDS)
def test_values_at_their_bounds_are_restored(script: str, backup: Path, url: str) -> None:
    with closing(sqlite3.connect(backup)) as db:
        db.executescript(script)
    content = restore(url, backup)
    with open_accounts(url) as accounts:
        assert (len(accounts.keys()), len(accounts.usage())) == (content.keys, content.accounts)
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
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TRIGGER more AFTER INSERT ON key BEGIN DELETE FROM log; END")
    before = dump(file)
    with pytest.raises(AccountsError, match=f"{file}: has another trigger 'more'"):
        restore(url, backup)
    assert dump(file) == before


MANY_ACCOUNTS = """
WITH RECURSIVE number(id) AS (SELECT 10 UNION ALL SELECT id + 1 FROM number WHERE id < 2000)
INSERT INTO account (id, name, plan, created)
SELECT number.id, 'account ' || number.id, plan, created FROM number, account WHERE account.id = 1;
INSERT INTO run (account, used) SELECT id, 0 FROM account WHERE id >= 10;
"""


def test_a_full_disk_changes_nothing(backup: Path, url: str, file: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk; the log's index of 32 KiB still fits."""
    with closing(sqlite3.connect(backup)) as db:
        db.executescript(MANY_ACCOUNTS)
    before, names = dump(file), {path.name for path in tmp_path.iterdir()}
    for target in (file, tmp_path / "fresh.db"):
        with limited_files(40_000), pytest.raises(AccountsError) as refused:
            restore(f"sqlite:///{target}", backup)
        assert str(refused.value).startswith(f"{target}: ")
        assert "\n" not in str(refused.value)
        assert dump(file) == before
        assert {path.name for path in tmp_path.iterdir()} == names
