"""An accounts file on disk: created, opened, and recognised if it was replaced.

Strategy: a connection stays with the file that it opened, whatever its path names later. So
the inodes of the file and its log are noted when it is opened, and compared with those at the
path before each use. A log that belongs to a replaced file must not be applied to the new one:
SQLite finds a log by its name only, so the old one is removed before the new file is opened.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from urllib.parse import quote, unquote

from geolookup.errors import AccountsError
from geolookup.filesystem.atomic import fsync
from geolookup.gate.account_store import split_url
from geolookup.gate.accounts_schema import PAGE, check_version, is_empty

#: Pages of a log that SQLite writes back. The request that finds it so long waits for the disk: one
#: of some 10,000, for up to a tenth of a second. SQLite's own 1,000 would cost a tenth of all time.
_CHECKPOINT = 32_000
#: The write-ahead log and its index, by the end of their names.
LOG = ("-wal", "-shm")
#: The option of a URL, and the mode of SQLite.
_SYNCHRONOUS = {"": "normal", "synchronous=normal": "normal", "synchronous=full": "full"}
_Inode = tuple[int, int] | None


class AccountsFile:
    """The file of ``sqlite:///PATH``; raises AccountsError for a URL of another form."""

    #: Seconds to wait for the transaction of another process.
    patience = 2.0

    def __init__(self, url: str) -> None:
        self.path, self.synchronous = _parse(url)
        self._opened: _Inode = None
        self._log: dict[str, _Inode] = {}  # of the opened file

    def open(self, *, create: bool) -> sqlite3.Connection:
        """Connect to the file at the path, and note it; ``create`` one without tables if needed.

        Raises sqlite3.Error if the file is not an accounts file.
        """
        if create:
            self._create()
        inode = _inode(self.path)
        if inode != self._opened:
            self._remove_old_log()
        uri = f"file:{quote(os.fsencode(self.path))}?mode=rw"
        with ExitStack() as stack:
            db = sqlite3.connect(
                uri, self.patience, isolation_level=None, check_same_thread=False, uri=True
            )
            stack.enter_context(closing(db))
            self._prepare(db, create=create)
            if _inode(self.path) != inode:
                raise self.unusable("was replaced while it was opened")
            stack.pop_all()
        real = os.path.realpath(self.path)  # SQLite follows a link before it adds the end
        self._opened, self._log = inode, {real + end: _inode(real + end) for end in LOG}
        return db

    def current(self, *, create: bool = False) -> bool:
        """Return whether the path still names the noted file.

        Raises AccountsError if it is missing, unless the caller is to ``create`` it.
        """
        inode = _inode(self.path)
        if inode is None and not create:
            raise self.unusable("is missing")
        return inode is not None and inode == self._opened

    def unusable(self, problem: str) -> AccountsError:
        """Return the error for a problem with the file."""
        remedy = "check that it is an accounts file, its permissions, and free disk space"
        if "unable to open" in problem:
            problem = "cannot be opened"
            remedy = (
                "create it with 'geolookup accounts keys create', or check path and permissions"
            )
        if "missing" in problem:
            remedy = "restore it with 'geolookup accounts restore', or correct the path"
        return AccountsError(self.path, problem, remedy)

    def _create(self) -> None:
        """Create an empty file that only its owner can read; SQLite gives its log the same mode."""
        with suppress(OSError):  # it exists, or SQLite will say that it cannot open it
            # O_EXCL: closing a descriptor of a file in use would drop this process's locks on it.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            fsync(Path(self.path).parent)

    def _prepare(self, db: sqlite3.Connection, *, create: bool) -> None:
        if not (create and is_empty(db)):
            check_version(db)
        db.execute(f"PRAGMA page_size = {PAGE}")  # of a new file
        db.execute("PRAGMA journal_mode = WAL")  # a backup has none
        db.execute(f"PRAGMA synchronous = {self.synchronous}")
        db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}")
        db.execute("PRAGMA user_version").fetchone()  # creates the log, to be noted

    def _remove_old_log(self) -> None:
        """Remove the log beside the path if it belongs to the file that was here before."""
        for path, inode in self._log.items():
            if inode is not None and _inode(path) == inode:
                with suppress(OSError):
                    Path(path).unlink()


def _inode(path: str) -> _Inode:
    """Return device and inode number of the file at a path; None if it is missing."""
    try:
        status = os.stat(path)  # noqa: PTH116 - each use of the store asks
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _parse(url: str) -> tuple[str, str]:
    """Return the path and the ``synchronous`` mode of a URL."""
    parts = split_url(url)
    # sqlite:///a.db has the path "/a.db", so "a.db"; sqlite:////tmp/a.db keeps its second slash.
    path = unquote(parts.path.removeprefix("/"), errors="surrogateescape")
    if parts.scheme != "sqlite" or parts.netloc or not path:
        problem = "not the URL of an accounts file"
        remedy = "write sqlite:///PATH; Redis has its own backups (BGSAVE)"
        raise AccountsError("accounts", problem, remedy)
    if "#" in url or parts.query not in _SYNCHRONOUS:
        remedy = "write ?synchronous=full, or none; in PATH %23 is # and %3F is ?"
        raise AccountsError(path, "unknown option in the URL", remedy)
    return path, _SYNCHRONOUS[parts.query]
