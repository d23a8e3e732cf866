"""Backups of accounts files, taken and restored while services use the file.

Strategy: a backup is copied row by row into a new database, and each row is checked on the way. The
live accounts change only after that. A backup is one state of the file. A restore is one
transaction: services see the restored keys at their next read. Files are replaced only if none is
in use: the backup itself, and an accounts file that is missing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from geolookup.errors import AccountsError, OutputError
from geolookup.filesystem.atomic import check_file, staged_file
from geolookup.gate import audit
from geolookup.gate.account_store import Entry
from geolookup.gate.accounts_file import AccountsFile
from geolookup.gate.accounts_schema import create_tables, foreign_object
from geolookup.gate.backup_rows import ACCOUNTS, LOG, UnfitError, check, copy
from geolookup.gate.sqlite_admission import transaction

#: A copy holds the digests of keys and the names of accounts.
_OWNER_ONLY = 0o600
_CHECK = "check that it is an accounts file, its permissions, and free disk space"
#: The remedies for content that is refused: of a backup, of the accounts to back up or to replace.
_BACKUP = "name a file that 'geolookup accounts backup' wrote"
_DAMAGED = "correct the file, or restore an earlier backup"
#: Characters of a report of SQLite.
_LONGEST = 200
_REPLACE = (
    "if it is damaged, move it, its -wal and its -shm away, and restore again;"
    " else check its permissions and free disk space"
)


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a backup, in numbers."""

    accounts: int
    keys: int

    def __str__(self) -> str:
        return f"accounts: {self.accounts:,}, keys: {self.keys:,}"


def back_up(url: str, output: Path, *, force: bool = False) -> Content:
    """Write the accounts of ``sqlite:///PATH`` to one file, mode 0600; return its content.

    Raises AccountsError for accounts that cannot be read, or that ``restore`` would refuse;
    OutputError for a file that exists (unless ``force``), is the accounts file itself, or cannot
    be written.
    """
    live = AccountsFile(url)
    check_file(output, force=force)
    if _same(output, live.path):
        raise OutputError(output, "is the accounts file itself", "name another file")
    with _errors_of(live.path, _CHECK, _DAMAGED), closing(live.open(create=False)) as source:
        source.execute("BEGIN")  # a transaction reads one state of the file
        with staged_file(output, _OWNER_ONLY, force=force) as fresh, _new_file(fresh) as target:
            copy(source, target, *ACCOUNTS, LOG)
            return _content(target)


def restore(url: str, backup: Path) -> Content:
    """Replace the accounts of ``sqlite:///PATH`` by a backup, in one transaction.

    Returns the content of the backup.

    A missing accounts file is created, with the audit log of the backup; else the log stays, and
    the restore is an entry. Raises AccountsError for a backup that is damaged or not an accounts
    file, and for accounts that cannot be written. Then nothing has changed.
    """
    live = AccountsFile(url)
    # "": a temporary file that SQLite removes.
    with closing(sqlite3.connect("", isolation_level=None)) as rows:
        with _errors_of(str(backup), _CHECK, _BACKUP), closing(_open(backup)) as source:
            check(source)
            if _same(backup, live.path):
                raise AccountsError(str(backup), "is the accounts file itself", "name a backup")
            _fill(rows, source)
        content = _content(rows)
        with _errors_of(live.path, _REPLACE, _REPLACE):
            _restore(rows, live, audit.restoration(f"from {backup.absolute()}, {content}"))
        return content


def _content(source: sqlite3.Connection) -> Content:
    counted = "SELECT (SELECT count(*) FROM account), (SELECT count(*) FROM key)"
    return Content(*source.execute(counted).fetchone())


def _fill(rows: sqlite3.Connection, source: sqlite3.Connection) -> None:
    create_tables(rows, "DELETE")
    with transaction(rows):
        copy(source, rows, *ACCOUNTS, LOG)


def _restore(rows: sqlite3.Connection, live: AccountsFile, entry: Entry) -> None:
    path = Path(os.path.realpath(live.path))  # SQLite follows a link too
    if path.exists() or not _create(rows, path, entry):
        with closing(live.open(create=False)) as target:
            _replace(rows, target, entry)


def _create(rows: sqlite3.Connection, path: Path, entry: Entry) -> bool:
    """Write a missing accounts file; return False if another process has created it meanwhile.

    Its audit log must stay, because the file is in use.
    """
    for end in ("-wal", "-shm"):  # of an old file; SQLite would apply it to the new one
        Path(f"{path}{end}").unlink(missing_ok=True)
    try:
        with (
            staged_file(path, _OWNER_ONLY, force=False) as fresh,
            _new_file(fresh) as target,
        ):
            copy(rows, target, *ACCOUNTS, LOG)
            audit.append(target, entry)
    except OutputError:
        if path.exists():
            return False
        raise
    return True


def _replace(rows: sqlite3.Connection, target: sqlite3.Connection, entry: Entry) -> None:
    problem = foreign_object(target)
    if problem:
        raise UnfitError(problem)
    target.execute("PRAGMA synchronous = full")
    with transaction(target):
        for statement in ("DELETE FROM run", "DELETE FROM key", "DELETE FROM account"):
            target.execute(statement)
        copy(rows, target, *ACCOUNTS)
        audit.append(target, entry)


@contextmanager
def _new_file(path: Path) -> Iterator[sqlite3.Connection]:
    """Create an accounts file in one transaction; one file, without a log beside it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        create_tables(db, "DELETE")
        with transaction(db):
            yield db


def _open(backup: Path) -> sqlite3.Connection:
    if not backup.is_file():
        problem = "not a regular file" if backup.exists() else "no such file"
        raise AccountsError(str(backup), problem, "name a backup")
    # mode=ro: a connection must not create a log beside the backup, or change it.
    source = sqlite3.connect(f"file:{quote(os.fsencode(backup))}?mode=ro", uri=True)
    # A schema from outside must not call functions.
    source.execute("PRAGMA trusted_schema = OFF")
    return source


@contextmanager
def _errors_of(path: str, remedy: str, refused: str) -> Iterator[None]:
    """Turn errors of SQLite, and content that is ``refused``, into AccountsErrors."""
    try:
        yield
    except sqlite3.Error as error:
        # It may hold a name of the schema, of any length.
        raise AccountsError(path, str(error)[:_LONGEST], remedy) from None
    except UnfitError as error:
        raise AccountsError(path, str(error), refused) from None
    except UnicodeDecodeError:  # SQLite names a damaged object in its report
        raise AccountsError(path, "is damaged", refused) from None


def _same(one: Path, other: str) -> bool:
    return one.exists() and Path(other).exists() and one.samefile(other)
