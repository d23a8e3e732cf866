"""Backups of accounts files, taken and restored while services use the file.

Strategy: SQLite copies the content in one transaction, so a backup is one state of the file,
and a restore is one change of it: services meet the restored keys at their next read. A file
is replaced only where none is in use: the backup itself, and an accounts file that is missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from geolookup.errors import AccountsError, OutputError
from geolookup.filesystem.atomic import check_file, staged_file
from geolookup.gate.accounts_file import AccountsFile, problem_of

#: A copy holds the digests of keys and the names of accounts.
_OWNER_ONLY = 0o600
_CHECK = "check that it is an accounts file, its permissions, and free disk space"
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

    Raises AccountsError for accounts that cannot be read, OutputError for a file that
    exists (unless ``force``), is the accounts file itself, or cannot be written.
    """
    live = AccountsFile(url)
    check_file(output, force=force)
    if _same(output, live.path):
        raise OutputError(output, "is the accounts file itself", "name another file")
    with _errors_of(live.path), closing(live.open(create=False)) as source:
        _copy_to_new(source, output)
    with _errors_of(str(output)), closing(_open(output)) as written:
        return _content(written)


def restore(url: str, backup: Path) -> Content:
    """Replace the accounts of ``sqlite:///PATH`` by those of a backup, in one transaction.

    Returns the content of the backup.

    A missing accounts file is created. Raises AccountsError for a backup that is damaged or
    not an accounts file, and for accounts that cannot be written.
    """
    live = AccountsFile(url)
    with _errors_of(str(backup)), closing(_open(backup)) as source:
        _check(source, backup)
        if _same(backup, live.path):
            raise AccountsError(str(backup), "is the accounts file itself", "name a backup")
        with _errors_of(live.path, _REPLACE):
            _restore(source, live)
        return _content(source)


def _content(source: sqlite3.Connection) -> Content:
    counted = "SELECT (SELECT count(*) FROM account), (SELECT count(*) FROM key)"
    return Content(*source.execute(counted).fetchone())


def _restore(source: sqlite3.Connection, live: AccountsFile) -> None:
    path = Path(live.path)
    if path.exists():
        with closing(live.open(create=False)) as target:
            target.execute("PRAGMA synchronous = full")
            source.backup(target)
        return
    for end in ("-wal", "-shm"):  # of the file that was here; SQLite would apply it to the new one
        Path(f"{path}{end}").unlink(missing_ok=True)
    _copy_to_new(source, path)


def _copy_to_new(source: sqlite3.Connection, output: Path) -> None:
    with staged_file(output, _OWNER_ONLY) as fresh, closing(sqlite3.connect(fresh)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it


def _open(backup: Path) -> sqlite3.Connection:
    if not backup.is_file():
        problem = "not a regular file" if backup.exists() else "no such file"
        raise AccountsError(str(backup), problem, "name a backup")
    # mode=ro: a connection must not create a log beside the backup, or change it.
    return sqlite3.connect(f"file:{quote(str(backup))}?mode=ro", uri=True)


def _check(source: sqlite3.Connection, backup: Path) -> None:
    problem = problem_of(source)
    if problem is None and not _intact(source):
        problem = "is damaged"
    if problem is not None:
        raise AccountsError(
            str(backup), problem, "name a file that 'geolookup accounts backup' wrote"
        )


def _intact(source: sqlite3.Connection) -> bool:
    """Return whether the pages are sound and each key belongs to an account."""
    sound = source.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return sound and source.execute("PRAGMA foreign_key_check").fetchone() is None


@contextmanager
def _errors_of(path: str, remedy: str = _CHECK) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise AccountsError(path, str(error), remedy) from None
    except UnicodeDecodeError:  # SQLite names a damaged object in its report
        raise AccountsError(path, "is damaged", remedy) from None


def _same(one: Path, other: str) -> bool:
    return one.exists() and Path(other).exists() and one.samefile(other)
