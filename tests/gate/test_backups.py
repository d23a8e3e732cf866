"""Backups that someone changed: refused in one line, and the live accounts stay."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from geolookup.errors import AccountsError
from geolookup.gate import audit, open_accounts
from geolookup.gate.account_store import Entry
from geolookup.gate.accounts_file import AccountsFile
from geolookup.gate.backup import back_up, restore
from tests.cli.program import run
from tests.conftest import ROOT
from tests.gate.conftest import Open

#: What makes another file of a backup, and a word of the refusal.
FORGED = {
    "a trigger": (
        "CREATE TRIGGER more AFTER INSERT ON key BEGIN UPDATE account SET used = 0; END",
        "has another trigger 'more'",
    ),
    "a view": ("CREATE VIEW keys AS SELECT * FROM key", "has another view 'keys'"),
    "an index": ("CREATE INDEX by_plan ON account (plan)", "has another index 'by_plan'"),
    "a table": ("CREATE TABLE more (a)", "has another table 'more'"),
    "no table": ("DROP TABLE key", "has no table 'key'"),
    "a table that is a view": (
        "DROP TABLE run; CREATE VIEW run AS SELECT 1 AS account, 2 AS stamp, 3 AS number",
        "has another view 'run'",
    ),
    "a column more": ("ALTER TABLE account ADD COLUMN more", "has another table 'account'"),
    "a generated column": (
        "ALTER TABLE key ADD COLUMN more GENERATED ALWAYS AS (hex(digest))",
        "has another table 'key'",
    ),
    "no log": ("DROP TABLE log", "has no table 'log'"),
    "another program's": ("PRAGMA application_id = 1", "not an accounts file"),
    "another version": ("PRAGMA user_version = 2", "version 2"),
    "negative usage": ("UPDATE account SET used = -1", "account, row 1: used is -1"),
    "too much usage": ("UPDATE account SET used = 9007199254740992", "used is 90071"),
    "usage as text": ("UPDATE account SET used = 'many' WHERE name = 'Other'", "row 2: used"),
    "usage as a fraction": ("UPDATE account SET used = 0.5", "used is 0.5"),
    "a number below 1": ("UPDATE account SET id = 0 WHERE id = 2", "account, row 1: id is 0"),
    "a name as bytes": ("UPDATE account SET name = x'41' WHERE id = 1", "name is b'A'"),
    "a name without text": ("UPDATE account SET name = ' ' WHERE id = 1", "name is ' '"),
    "a name with an escape": (
        "UPDATE account SET name = 'a' || char(27) || '[2J' WHERE id = 1",
        "name is 'a\\x1b[2J'",
    ),
    "a name that turns": (
        "UPDATE account SET name = 'a' || char(8238) WHERE id = 1",
        "name is 'a\\u202e'",
    ),
    "a name that is not UTF-8": (
        "UPDATE account SET name = CAST(x'ff41' AS TEXT) WHERE id = 1",
        "UTF-8",
    ),
    "a long name": ("UPDATE account SET name = hex(zeroblob(101)) WHERE id = 1", "name is '000"),
    "a plan as number": ("UPDATE account SET plan = x'00' WHERE id = 1", "plan is b"),
    "a date beyond dates": ("UPDATE key SET created = 1 << 62", "key, row 1: created is 461"),
    "an expiry as text": ("UPDATE key SET expires = 'never'", "expires is 'never'"),
    "a short digest": ("UPDATE key SET digest = substr(digest, 2)", "digest is b"),
    "a digest as text": ("UPDATE key SET digest = hex(digest)", "digest is '"),
    "a third environment": ("UPDATE key SET environment = 'prod'", "environment is 'prod'"),
    "half revoked": ("UPDATE key SET revoked = 2", "revoked is 2"),
    "a key without account": ("UPDATE key SET account = 99", "a key without its account"),
    "an unknown action": ("UPDATE log SET action = 'deleted'", "log, row 1: action"),
    "an address in the log": ("UPDATE log SET key = '192.0.2.1'", "key is '192.0.2.1'"),
    "a long text in the log": ("UPDATE log SET detail = hex(zeroblob(500)) || 0", "detail is '000"),
    "a line break in the log": ("UPDATE log SET user = 'a' || char(10)", "user is 'a\\n'"),
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
        " WHERE account = 2; UPDATE account SET used = (1 << 53) - 1"
    ),
    (
        "UPDATE account SET used = 0, created = 253402300799999999, name = id || hex(zeroblob(99))"
        " || 'a'"
    ),
    "UPDATE key SET created = -62135596800000000, expires = 253402300799999999, revoked = 1",
    "UPDATE key SET expires = NULL; UPDATE log SET key = NULL, uid = NULL, detail = NULL",
    "UPDATE log SET account = NULL, uid = 0, user = '', detail = hex(zeroblob(500))",
    "DELETE FROM key; DELETE FROM account; DELETE FROM log",
)


@pytest.mark.parametrize("script", BOUNDS)
def test_values_at_their_bounds_are_restored(script: str, backup: Path, url: str) -> None:
    with closing(sqlite3.connect(backup)) as db:
        db.executescript(script)
    content = restore(url, backup)
    listed = run("api-keys", "list", "--accounts", url)
    assert (listed.returncode, len(listed.stdout.splitlines())) == (0, content.keys)
    assert len(run("accounts", "usage", "--accounts", url).stdout.splitlines()) == content.accounts
    with open_accounts(url) as accounts:
        assert accounts.create_key("New", "free")


def test_a_forged_schema_is_a_short_line(backup: Path, url: str) -> None:
    """SQLite names a damaged object, whose name may have megabytes."""
    with closing(sqlite3.connect(backup)) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET name = hex(zeroblob(1000000)) WHERE name = 'log'")
    with pytest.raises(AccountsError, match="malformed database schema") as caught:
        restore(url, backup)
    assert len(str(caught.value)) < 1_000


@pytest.mark.skipif(sys.platform == "darwin", reason="APFS has names of UTF-8 only")
def test_names_of_files_that_are_not_utf_8(backup: Path, tmp_path: Path) -> None:
    other = backup.rename(tmp_path / "b\udcff")
    live = f"sqlite:///{tmp_path}/a\udcff"
    restore(live, other)
    with open_accounts(live) as accounts:
        assert f"from {tmp_path}/b\\udcff, " in str(accounts.log()[-1].detail)
    assert back_up(live, tmp_path / "c\udcff") == restore(live, tmp_path / "c\udcff")


def test_an_object_that_is_there_twice(backup: Path, url: str) -> None:
    with closing(sqlite3.connect(backup, isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'log'")
    with pytest.raises(AccountsError, match=r"twice|malformed"):
        restore(url, backup)


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


_FULL = """
import resource, sys
from pathlib import Path
from geolookup.errors import GeoLookupError
from geolookup.gate.backup import restore
url, backup, limit = sys.argv[1:]
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), most))
try:
    restore(url, Path(backup))
except GeoLookupError as error:
    print(error)
"""


def test_accounts_created_while_a_restore_runs(
    backup: Path, url: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their file is no longer missing: its audit log stays, and has the restore."""

    def append(db: sqlite3.Connection, entry: Entry) -> None:
        monkeypatch.undo()
        with open_accounts(url) as other:
            other.create_key("Meanwhile", "free")
        audit.append(db, entry)

    for end in ("", "-wal", "-shm"):
        Path(f"{file}{end}").unlink(missing_ok=True)
    monkeypatch.setattr(audit, "append", append)
    content = restore(url, backup)
    with open_accounts(url) as accounts:
        assert [entry.action for entry in accounts.log()] == ["created", "restored"]
        assert len(accounts.usage()) == content.accounts
        assert "Meanwhile" not in {usage.name for usage in accounts.usage()}


def test_a_full_disk_changes_nothing(url: str, file: Path, tmp_path: Path, worker: Open) -> None:
    accounts = worker()
    for number in range(200):
        accounts.create_key(f"account {number}", "mid")
    back_up(url, tmp_path / "backup")
    accounts.create_key("Late", "mid")
    accounts.close()
    before = dump(file)
    for target in (file, tmp_path / "fresh.db"):
        command = [sys.executable, "-c", _FULL, f"sqlite:///{target}", str(tmp_path / "backup")]
        done = subprocess.run(
            [*command, "16384"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.stdout.startswith(f"{target}: "), done
        assert len(done.stdout.splitlines()) == 1
        assert dump(file) == before
        assert {path.name for path in tmp_path.glob("*fresh*")} == set()
