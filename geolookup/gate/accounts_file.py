"""An accounts file on disk: created, opened, and recognised if it was replaced.

Strategy: a connection stays with the file that it opened, whatever its path names later. So
the inodes of the file and its log are noted when it is opened, and compared with those at the
path before each use. A log that belongs to a replaced file must not be applied to the new one:
SQLite finds a log by its name only, so the old one is removed before the new file is opened.

A checkpoint writes the log back and waits for the disk. A background thread does it on its own
connection, so the deciding connection finds little left when the log must restart: it waits for
the disk once each time, and all requests with it. So a checkpoint waits for a second, or until
the log is long.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from urllib.parse import parse_qs, quote, unquote

from geolookup.errors import AccountsError
from geolookup.filesystem.atomic import fsync
from geolookup.gate.accounts_schema import check_version, create_tables, is_empty
from geolookup.gate.store_url import split, unknown_store

#: Seconds to wait for the transaction of another process.
_BUSY_TIMEOUT = 2.0
#: Pages of the log before the deciding connection itself runs a checkpoint.
_CHECKPOINT = 32_000
#: Changed rows before a checkpoint pays.
_LEAST_CHANGES = 500
#: Seconds between two checkpoints of a log of fewer than ``_LONG`` pages.
_PAUSE = 1.0
#: Pages of a log, of all processes together, that is checkpointed at once. Each change logs a page.
_LONG = 8_000
#: The file, its write-ahead log and the index of the log, by the end of their names.
_PARTS = ("", "-wal", "-shm")


class AccountsFile:
    """The file of ``sqlite:///PATH``; raises AccountsError for a URL of another form."""

    def __init__(self, url: str) -> None:
        self.path, self.synchronous = _parse(url)
        self._inodes: list[tuple[int, int] | None] | None = None  # of _PARTS, when opened

    def open(self, *, create: bool) -> sqlite3.Connection:
        """Connect to the file at the path, and note it; ``create`` it if it is missing.

        Raises sqlite3.Error, or AccountsError if the file is not an accounts file.
        """
        if create:
            self._create()
        before = _inode(self.path)
        # The log beside the path may belong to the file that was here before.
        if self._inodes and before != self._inodes[0]:
            self._remove_old_log(self._inodes)
        db = self._connect(create=create)
        if _inode(self.path) != before:
            db.close()
            raise self.unusable("was replaced while it was opened")
        self._inodes = [_inode(self._part(end)) for end in _PARTS]
        return db

    @property
    def patience(self) -> float:
        """The seconds to wait for the transaction of another process."""
        return _BUSY_TIMEOUT

    def open_again(self) -> sqlite3.Connection:
        """Connect to the noted file once more; sqlite3.Error if it was replaced."""
        if not self.current():
            raise sqlite3.OperationalError("the accounts file was replaced")
        return self._connect(create=False)

    def current(self, *, create: bool = False) -> bool:
        """Return whether the path still names the noted file.

        Raises AccountsError if it is missing, unless the caller is to ``create`` it.
        """
        inode = _inode(self.path)
        if inode is None and not create:
            raise self.unusable("is missing")
        return self._inodes is not None and inode == self._inodes[0]

    def unusable(self, problem: str) -> AccountsError:
        """Return the error for a problem with the file."""
        remedy = "check that it is an accounts file, its permissions, and free disk space"
        if "unable to open" in problem:
            problem = "cannot be opened"
            if _inode(self.path) is None:
                remedy = "create it with 'geolookup accounts keys create', or correct the path"
            else:
                remedy = "check the permissions of the file and its folder, or correct the path"
        if "missing" in problem:
            remedy = "restore it with 'geolookup accounts restore', or correct the path"
        return AccountsError(self.path, problem, remedy)

    def _create(self) -> None:
        """Create an empty file that only its owner can read; SQLite gives its log the same mode."""
        try:
            # O_EXCL: closing a descriptor of a file in use would drop this process's locks on it.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            fsync(Path(self.path).parent)
        except FileExistsError:
            return
        except OSError as error:
            raise self.unusable(f"unable to open: {error.strerror}") from None

    def _connect(self, *, create: bool) -> sqlite3.Connection:
        db = sqlite3.connect(
            f"file:{quote(os.fsencode(self.path))}?mode=rw",
            uri=True,
            timeout=self.patience,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._prepare(db, create=create)
        except BaseException:
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection, *, create: bool) -> None:
        if create and is_empty(db):
            create_tables(db, "WAL")
        check_version(db)
        db.execute("PRAGMA journal_mode = WAL")  # a backup has none
        db.execute(f"PRAGMA synchronous = {self.synchronous}")
        db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}")
        db.execute("PRAGMA user_version").fetchone()  # creates the log, to be noted

    def _remove_old_log(self, noted: list[tuple[int, int] | None]) -> None:
        for end, inode in zip(_PARTS[1:], noted[1:], strict=True):
            if inode is not None and _inode(self._part(end)) == inode:
                with suppress(OSError):
                    Path(self._part(end)).unlink()

    def _part(self, end: str) -> str:
        return os.path.realpath(self.path) + end  # SQLite follows a link before it adds the end


class Checkpoints:
    """Checkpoints of one accounts file; ``connect`` opens a connection to it."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._lock = Lock()  # its own lock: no decision waits for a checkpoint
        self._connection: sqlite3.Connection | None = None
        self._changes, self._enough, self._next = 0, _LONG, 0.0

    def write_back(self, changes: int) -> None:
        """Checkpoint if enough rows changed; ``changes`` is the total so far.

        Errors are dropped: the deciding connection meets and reports the same fault.
        """
        with self._lock:
            if changes < self._changes:  # a new deciding connection, perhaps to another file
                self._drop()
                self._changes, self._next = 0, 0.0
            fresh = changes - self._changes
            # Within the pause only a long log is written back.
            if fresh < (self._enough if monotonic() < self._next else _LEAST_CHANGES):
                return
            self._changes, self._next = changes, monotonic() + _PAUSE
            try:
                if self._connection is None:
                    self._connection = self._connect()
                checkpoint = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                _, pages, _ = checkpoint.fetchone()
                # The share of this process in a long log.
                # 1,000 of 4,000 logged pages are of this process: a log of 8,000 has 2,000 of them.
                self._enough = max(_LEAST_CHANGES, _LONG * fresh // max(fresh, pages))
            except sqlite3.Error:
                self._drop()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop()

    def detach(self) -> sqlite3.Connection | None:
        """Reset in a child process; return the connection of the parent."""
        connection, self._connection, self._lock = self._connection, None, Lock()
        return connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _inode(path: str) -> tuple[int, int] | None:
    """Return device and inode number of the file at a path; None if it is missing."""
    try:
        status = os.stat(path)  # noqa: PTH116 - each use of the store asks
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _parse(url: str) -> tuple[str, str]:
    """Return the path and the ``synchronous`` mode of a URL."""
    parts = split(url)
    options = parse_qs(parts.query)
    synchronous = options.pop("synchronous", ["normal"])[-1]
    # sqlite:///a.db has the path "/a.db", so "a.db"; sqlite:////tmp/a.db keeps its second slash.
    path = unquote(parts.path.removeprefix("/"))
    if parts.scheme.startswith("redis"):
        remedy = "write sqlite:///PATH, or use the backups of Redis (BGSAVE)"
        raise AccountsError(f"{parts.scheme}://", "not an accounts file", remedy)
    if parts.scheme != "sqlite" or parts.netloc or not path:
        raise unknown_store()
    if options or synchronous not in ("normal", "full"):
        raise AccountsError(path, "unknown option in the URL", "write ?synchronous=full, or none")
    return path, synchronous
