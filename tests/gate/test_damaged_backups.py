"""Backups that fuzzing damaged: refused in one line, and no accounts file is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from geolookup.errors import AccountsError
from geolookup.gate.accounts import open_accounts
from geolookup.gate.backup import back_up, restore


def _without_accounts(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM account")


def _with_schema(schema: bytes) -> Callable[[sqlite3.Connection], None]:
    def damage(db: sqlite3.Connection) -> None:
        db.execute("PRAGMA writable_schema = on")
        change = "UPDATE sqlite_schema SET sql = CAST(? AS TEXT) WHERE name = 'account'"
        db.execute(change, [schema])

    return damage


DAMAGES: dict[str, Callable[[sqlite3.Connection], None]] = {
    "a key without its account": _without_accounts,
    "a line break that SQLite repeats": _with_schema(b'CREATE TABLE account ("\n'),
    "bytes that are not UTF-8, which SQLite repeats": _with_schema(b'CREATE TABLE account ("\xff'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_backup_is_refused(damage: str, tmp_path: Path) -> None:
    live, backup, restored = (tmp_path / name for name in ("live.db", "backup", "restored.db"))
    with open_accounts(f"sqlite:///{live}") as accounts:
        accounts.create_key("acme", "free")
    back_up(f"sqlite:///{live}", backup)
    with closing(sqlite3.connect(backup, isolation_level=None)) as db:
        DAMAGES[damage](db)
    with pytest.raises(AccountsError) as refused:
        restore(f"sqlite:///{restored}", backup)
    assert len(str(refused.value).splitlines()) == 1
    assert str(refused.value).startswith(f"{backup}: ")
    assert not restored.exists()
