"""Backups of accounts files, taken and restored while services use the file.

Strategy: SQLite's own backup copies one state of the file. A restore checks the backup, then
replaces all rows in one transaction: services see the restored keys at their next read.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from geolookup.errors import AccountsError, OutputError
from geolookup.filesystem.atomic import check_file, staged_file
from geolookup.gate import audit
from geolookup.gate.account_store import Entry, wall_clock
from geolookup.gate.accounts_file import LOG, AccountsFile
from geolookup.gate.accounts_schema import check_content, check_schema, create_tables, is_empty
from geolookup.gate.sqlite_admission import transaction

_BACKUP = "name a file that 'geolookup accounts backup' wrote, and that you can read"
_LIVE = (
    "if it is damaged, move it, its -wal and its -shm away, and restore a backup;"
    " else check its permissions and free disk space"
)
#: Characters of a report of SQLite.
_LONGEST = 200
#: The columns that a restore copies. A run has no time, so no request is recent.
_ACCOUNTS = {"account": "*", "run": "account, used", "key": "*"}
_LOG = {"log": "*"}


def back_up(url: str, output: Path, *, force: bool = False) -> str:
    """Write the accounts of ``sqlite:///PATH`` to one file, mode 0600; return its content as text.

    Raises AccountsError for accounts that cannot be read, or that ``restore`` would refuse;
    OutputError for a file that exists (unless ``force``), is the accounts file itself or its log,
    has a log beside it, or cannot be written.
    """
    live = AccountsFile(url)
    check_file(output, force=force)
    with _errors_of(live.path, _LIVE), closing(live.open(create=False)) as source:
        if any(_is_same(output, live.path + end) for end in ("", *LOG)):
            raise OutputError(output, "is the accounts file itself", "name another file")
        if os.path.lexists(f"{output}-wal"):  # SQLite would apply it to the backup
            raise OutputError(output, "has an old log beside it, -wal", "name another file")
        with (
            staged_file(output, 0o600, force=force) as fresh,
            closing(sqlite3.connect(fresh)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
            return check_content(target)


def _is_same(output: Path, other: str) -> bool:
    return output.exists() and os.path.exists(other) and output.samefile(other)  # noqa: PTH110


def restore(url: str, backup: Path) -> str:
    """Replace the accounts of ``sqlite:///PATH`` by a backup; return its content as text.

    The audit log stays, and the restore is an entry. A missing or empty file gets the log of the
    backup too. Raises AccountsError for a backup that is damaged or not an accounts file, and for
    accounts that cannot be written. Then nothing has changed.
    """
    live = AccountsFile(url)
    with _errors_of(str(backup), _BACKUP), _private_copy(backup) as source:
        content = check_content(source)
        entry = audit.entry(
            wall_clock(), audit.RESTORED, None, f"from {backup.absolute()}, {content}"
        )
        with _errors_of(live.path, _LIVE), closing(live.open(create=True)) as target:
            _replace(source, target, entry)
    return content


def _replace(source: sqlite3.Connection, target: sqlite3.Connection, entry: Entry) -> None:
    target.execute("PRAGMA synchronous = full")
    with transaction(target):
        tables = _ACCOUNTS | _LOG if is_empty(target) else _ACCOUNTS
        create_tables(target)
        check_schema(target)
        for table, columns in tables.items():
            target.execute(f"DELETE FROM {table}")  # noqa: S608 - constants
            rows = source.execute(f"SELECT {columns} FROM {table}")  # noqa: S608 - constants
            names = [name for name, *_ in rows.description]
            into, values = f"{table} ({', '.join(names)})", ", ".join("?" * len(names))
            target.executemany(f"INSERT INTO {into} VALUES ({values})", rows)  # noqa: S608 - constants
        audit.append(target, entry)


@contextmanager
def _private_copy(backup: Path) -> Iterator[sqlite3.Connection]:
    """Yield a copy that nobody changes while it is checked and restored."""
    if not backup.is_file():
        problem = "not a regular file" if backup.exists() else "no such file"
        raise AccountsError(str(backup), problem, "name a backup")
    # mode=ro: a connection must not create a log beside the backup, or change it.
    uri = f"file:{quote(os.fsencode(backup))}?mode=ro"
    # "": a temporary file that SQLite removes. SQLite checks no constraint of a read-only file.
    with closing(sqlite3.connect("")) as copy, closing(sqlite3.connect(uri, uri=True)) as source:
        copy.execute("PRAGMA trusted_schema = OFF")  # it must not call functions
        source.backup(copy)
        yield copy


@contextmanager
def _errors_of(path: str, remedy: str) -> Iterator[None]:
    """Turn errors of SQLite, and content that is refused, into AccountsErrors."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # SQLite names objects of the schema, whatever their bytes and their length.
        raise AccountsError(path, str(error)[:_LONGEST], remedy) from None
