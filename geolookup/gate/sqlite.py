"""Accounts in one SQLite file, for the threads and worker processes of one machine.

Strategy: write-ahead log, one connection per process, one transaction for the requests
decided together (``sqlite_admission``). Another process holds the write lock for a fraction of a
millisecond: less than SQLite sleeps before it retries, so steps are retried here. After one wait
for a locked file without success, all later steps fail at once for a while (``store_health``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from time import monotonic, sleep
from typing import TypeVar

from geolookup.errors import AccountsError
from geolookup.gate import audit
from geolookup.gate import sqlite_admission as admitting
from geolookup.gate.account_store import (
    TIMES,
    Clock,
    Decision,
    Entry,
    Key,
    Requests,
    Usage,
    wall_clock,
)
from geolookup.gate.accounts_file import AccountsFile
from geolookup.gate.accounts_schema import create_tables
from geolookup.gate.sqlite_admission import transaction
from geolookup.gate.store_health import Outage

_T = TypeVar("_T")
#: A row of ``_KEY``.
_Row = tuple[bytes, str, int, str, str, int, int | None, int]
_KEY = (
    "SELECT digest, environment, account, name, plan, key.created, expires, revoked"
    " FROM key JOIN account ON account.id = account"
)
_USAGE = (
    "SELECT name, plan, account.created, (SELECT max(used) FROM run WHERE run.account = id),"
    " count(digest) FROM account LEFT JOIN key ON account = id GROUP BY id ORDER BY id"
)
#: Keys of one statement. SQLite has at most 32,766 variables, before 3.32 only 999.
_TOGETHER = 512
#: Seconds before a step is retried, doubled each time up to the second number.
_FIRST_PAUSE, _LONGEST_PAUSE = 50e-6, 5e-3
#: Seconds that a locked file is remembered.
_REMEMBERED = 1.5
#: Connections of parent processes, kept open: closing one would drop the parent's file locks.
_of_parents: list[sqlite3.Connection] = []


class SQLiteStore:
    """A store of ``sqlite:///PATH`` (relative) or ``sqlite:////PATH`` (absolute).

    ``?synchronous=full`` makes an acknowledged write survive power loss; the
    default, ``normal``, makes it survive process death. New and revoked keys survive power
    loss in both. The first key creates the file, mode 0600.
    """

    remote = False

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._file = AccountsFile(url)
        self.now = clock or wall_clock
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._outage = Outage(_REMEMBERED)

    def find(self, digests: Sequence[bytes]) -> list[Key | None]:
        """Return the key with each digest; see ``Store``."""
        by_digest = {}
        for begin in range(0, len(digests), _TOGETHER):
            for key in self._find_some(digests[begin : begin + _TOGETHER]):
                by_digest[key.digest] = key
        return [by_digest.get(digest) for digest in digests]

    def _find_some(self, digests: Sequence[bytes]) -> list[Key]:
        statement = f"{_KEY} WHERE digest IN ({', '.join('?' * len(digests))})"
        return self._run(lambda db: [_key(row) for row in db.execute(statement, digests)])

    def admit(self, requests: Sequence[Requests]) -> list[Decision]:
        """Decide requests of accounts in one transaction; see ``Store``."""
        return self._run(admitting.admit, requests, self.now)

    def add(self, key: Key, entry: Entry) -> str:
        """Add and log a key if its account has the same plan or is new; return the plan."""

        def step(db: sqlite3.Connection) -> str:
            with self._durable(db), transaction(db):
                create_tables(db)
                account = (key.name, key.plan, key.created)
                added = db.execute(
                    "INSERT INTO account (name, plan, created) VALUES (?, ?, ?)"
                    " ON CONFLICT (name) DO NOTHING",
                    account,
                )
                if added.rowcount:
                    run = "INSERT INTO run (account, used) VALUES (?, 0)"
                    db.execute(run, (added.lastrowid,))
                statement = "SELECT id, plan FROM account WHERE name = ?"
                number, plan = db.execute(statement, (key.name,)).fetchone()
                if plan == key.plan:
                    db.execute(
                        "INSERT INTO key (digest, environment, account, created, expires)"
                        " VALUES (?, ?, ?, ?, ?)",
                        (key.digest, key.environment, number, key.created, key.expires),
                    )
                    audit.append(db, entry)
            return str(plan)

        return self._run(step, create=True)

    def keys(self) -> list[Key]:
        """Return all keys, oldest first."""
        statement = f"{_KEY} ORDER BY key.created, digest"
        return self._run(lambda db: [_key(row) for row in db.execute(statement)])

    def revoke(self, digest: bytes, entry: Entry) -> None:
        """Revoke a key for good; log it unless it was revoked before."""
        revoke = "UPDATE key SET revoked = 1 WHERE digest = ? AND revoked = 0"

        def step(db: sqlite3.Connection) -> None:
            with self._durable(db), transaction(db):
                if db.execute(revoke, (digest,)).rowcount:
                    audit.append(db, entry)

        self._run(step)

    def log(self) -> list[Entry]:
        """Return the audit log, oldest first."""
        return self._run(
            lambda db: [_checked(Entry(*row), row[0]) for row in db.execute(audit.READ)]
        )

    def usage(self) -> list[Usage]:
        """Return all accounts, oldest first."""
        return self._run(
            lambda db: [_checked(Usage(*row), row[2], row[3]) for row in db.execute(_USAGE)]
        )

    def check_durability(self) -> str | None:
        """Return None: each revocation waits for the disk."""
        return None

    def probe(self) -> None:
        """Open the file, or check that it still exists."""
        self._run(lambda _: None)

    def after_fork(self) -> None:
        """Set aside, in a child process, the connection of the parent."""
        # POSIX drops all locks of a process on a file when any descriptor of it is closed.
        if self._connection is not None:
            _of_parents.append(self._connection)
        self._connection, self._lock, self._outage = None, Lock(), Outage(_REMEMBERED)

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            self._drop()

    def _run(self, step: Callable[..., _T], *arguments: object, create: bool = False) -> _T:
        """Run a step on the connection under this process's lock; the only access to the file."""
        with self._lock:
            self._outage.check()  # under the lock, for those that waited for it meanwhile
            try:
                return self._when_free(step, arguments, create=create)
            except sqlite3.Error as error:
                self._drop()  # the next step opens the file again, whatever happened to it
                unusable = self._file.unusable(str(error))
                if _busy(error):
                    self._outage.note(unusable)
                raise unusable from None
            except AccountsError:
                raise  # the file is missing, and its connection stays open: see _connect
            except BaseException:
                self._drop()  # an interrupt can leave a setting or a transaction behind
                raise

    def _when_free(
        self, step: Callable[..., _T], arguments: tuple[object, ...], *, create: bool
    ) -> _T:
        """Run a step; retry it while another process holds the lock that it needs.

        A step takes the write lock before it changes anything, so one that fails has done nothing.
        """
        ends, pause = monotonic() + self._file.patience, _FIRST_PAUSE
        while True:
            try:
                return step(self._connect(create=create), *arguments)
            except sqlite3.OperationalError as error:
                if not _busy(error) or monotonic() >= ends:
                    raise
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    @contextmanager
    def _durable(self, db: sqlite3.Connection) -> Iterator[None]:
        """Let the commit inside wait until the disk has it, and all that was logged before."""
        db.execute("PRAGMA synchronous = full")
        yield
        # After any exception the connection is dropped, so the setting does not remain.
        db.execute(f"PRAGMA synchronous = {self._file.synchronous}")

    def _connect(self, *, create: bool) -> sqlite3.Connection:
        """Return the connection to the file that is at the path now."""
        # While the file is missing its connection stays open: no new file can have the
        # same inode then.
        if self._connection is not None and not self._file.current(create=create):
            with suppress(sqlite3.Error):  # its log belongs into the replaced file
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._drop()
        if self._connection is None:
            self._connection = self._file.open(create=create)
            self._connection.execute("PRAGMA busy_timeout = 0")
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _busy(error: sqlite3.Error) -> bool:
    """Return whether SQLite reports a locked file; SQLITE_BUSY_SNAPSHOT is one kind."""
    name: str = getattr(error, "sqlite_errorname", "")  # absent if SQLite did not raise it
    return name.startswith("SQLITE_BUSY")


def _key(row: _Row) -> Key:
    created, expires, revoked = row[5:]
    return _checked(Key(*row[:7], revoked=bool(revoked)), created, expires or created)


def _checked(record: _T, *numbers: object) -> _T:
    """Refuse a row that another program wrote past the rules of the schema."""
    if not all(type(number) is int and number in TIMES for number in numbers):
        raise sqlite3.DataError("a row is malformed")
    return record
