"""A backup of accounts that someone changed: its rows, its schema, its bytes."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from geolookup.errors import CONTROLS, AccountsError
from tests.fuzz.target import Change, Target, accepted, emptied, own_folder, scratch
from tests.internals.gate import MAX_QUOTA, backup, open_accounts


@cache
def _backup() -> bytes:
    target = own_folder()
    url = f"sqlite:///{target}/accounts.db"
    with open_accounts(url) as accounts:
        for number in range(3):
            accounts.create_key(f"acme {number}", "free")
    backup.back_up(url, target / "backup")
    return (target / "backup").read_bytes()


#: Columns of a backup that a restore copies.
_COLUMNS = (
    *("account.id", "account.name", "account.plan", "account.created", "run.used"),
    *("key.digest", "key.environment", "key.account", "key.created", "key.expires", "key.revoked"),
    *("log.at", "log.action", "log.user", "log.uid", "log.key", "log.account", "log.detail"),
)
_VALUES = ("-1", "2", "1 << 62", "0.5", "1e300", "'x'", "''", "x'00'", "NULL", "'a' || char(8238)")
#: Statements that make another accounts file.
_STATEMENTS = (
    "CREATE TRIGGER more AFTER INSERT ON key BEGIN UPDATE run SET used = 0; END",
    *("CREATE VIEW more AS SELECT 1", "CREATE TABLE more (a)"),
    *("CREATE INDEX more ON account (plan)", "ALTER TABLE key ADD COLUMN more"),
    *("DROP TABLE key", "DROP TABLE run", "DROP TABLE log", "DELETE FROM account"),
    *("PRAGMA user_version = 2", "PRAGMA application_id = 1", "VACUUM"),
)


def _restore(data: bytes) -> None:
    """Refused in one line, and the live accounts stay; or restored, with rows of ours only."""
    folder = emptied(scratch())
    path, live, fresh = folder / "backup", folder / "live.db", folder / "fresh.db"
    path.write_bytes(data)
    live.write_bytes(_backup())
    before = _content(live)
    for file in (live, fresh):
        content = accepted(lambda: backup.restore(f"sqlite:///{file}", path), AccountsError, path)  # noqa: B023
        if content is None:
            assert _content(live) == before
            assert not list(folder.glob("*fresh*"))
            continue
        schema, rows = _content(file)
        assert schema == before[0]
        assert content == f"accounts: {len(rows['account'])}, keys: {len(rows['key'])}"
        _check_rows(rows)


def _content(file: Path) -> tuple[list[Any], dict[str, list[dict[str, Any]]]]:
    """Return the schema and the rows of an accounts file."""
    with closing(sqlite3.connect(file)) as db:
        schema = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
        db.row_factory = sqlite3.Row
        tables = ("account", "key", "run", "log")
        select = "SELECT * FROM {}".format
        return schema, {table: [*map(dict, db.execute(select(table)))] for table in tables}


def _check_rows(rows: dict[str, list[dict[str, Any]]]) -> None:
    numbers = {account["id"] for account in rows["account"]}
    assert {run["account"] for run in rows["run"]} == numbers
    for run in rows["run"]:
        assert type(run["used"]) is int
        assert 0 <= run["used"] <= MAX_QUOTA
        assert run["stamp"] == 0
    for key in rows["key"]:
        assert type(key["digest"]) is bytes
        assert len(key["digest"]) == 32
        assert key["account"] in numbers
        assert key["environment"] in ("live", "test")
        assert key["revoked"] in (0, 1)
    assert rows["log"][-1]["action"] == "restored"
    for row in chain.from_iterable(rows.values()):
        for name in {"at", "created", "expires"} & row.keys():
            assert row[name] is None or datetime.fromtimestamp(row[name] // 10**6, UTC)
    for table, names in {"account": ("name", "plan"), "log": ("user", "account", "detail")}.items():
        for row in rows[table]:
            assert not any(set(map(ord, row[name] or "")) & CONTROLS for name in names)


def _mutate_backup(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change rows, the schema, one page, or a few bytes: most of a file is free space."""
    kind = rng.randrange(8)
    if not data or kind == 0:
        return change(data)
    if kind < 4:
        return _by_statement(data, rng)
    page = rng.randrange(0, len(data), 1024)
    used = data[page : page + 1024].rstrip(b"\0")
    at = page + max(0, len(used) - 64)
    altered = change(data[at : page + len(used)])[:64]
    return data[:at] + altered + data[at + len(altered) :]


def _by_statement(data: bytes, rng: random.Random) -> bytes:
    table, _, column = rng.choice(_COLUMNS).partition(".")
    update = f"UPDATE {table} SET {column} = {rng.choice(_VALUES)}"  # noqa: S608
    path = emptied(scratch()) / "changed"
    path.write_bytes(data)
    failures = sqlite3.Error, UnicodeDecodeError  # SQLite names a damaged object
    with suppress(*failures), closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA ignore_check_constraints = on")
        db.execute(rng.choice([update, *_STATEMENTS] if rng.randrange(2) else [update]))
    return path.read_bytes()


TARGETS = {"accounts-backup": Target(_restore, lambda: [_backup(), b""], _mutate_backup)}
