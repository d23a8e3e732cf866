"""Accounts in one SQLite file, for the threads and worker processes of one machine.

Strategy: write-ahead log, one connection per process, one transaction for the requests
decided together. An exact admission is one UPDATE whose WHERE is the rule of
``sliding_window``. If it changes no row, the slow path takes the write lock, reads the
clock and finds the reason.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar
from urllib.parse import parse_qs, quote, unquote, urlsplit

from geolookup.errors import AccountsError
from geolookup.gate.account_store import (
    ADMITTED,
    EXHAUSTED,
    Clock,
    Key,
    NewKey,
    Request,
    Usage,
    wall_clock,
)
from geolookup.gate.checkpoints import Checkpoints
from geolookup.gate.leases import Lease, Table, Tokens
from geolookup.gate.plans import Plan
from geolookup.gate.sliding_window import SECOND, STAMP_BYTES, decide, stamp

_T = TypeVar("_T")
_APPLICATION = 0x67656F6B  # "geok": marks an accounts file
_VERSION = 1
#: Seconds to wait for the transaction of another process.
_BUSY_TIMEOUT = 2.0
#: Bytes: an account with its ring of 100 stamps fits. Each decision logs one page.
_PAGE = 1024
#: Pages of the log before the deciding connection itself runs a checkpoint.
_CHECKPOINT = 32_000
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS account (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, plan TEXT NOT NULL,
    created INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0,
    ring BLOB NOT NULL DEFAULT x'', slots BLOB NOT NULL DEFAULT x'');
CREATE TABLE IF NOT EXISTS key (
    digest BLOB PRIMARY KEY, environment TEXT NOT NULL,
    account INTEGER NOT NULL REFERENCES account, created INTEGER NOT NULL,
    expires INTEGER, revoked INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
COMMIT;
"""
_KEY = (
    "SELECT digest, environment, account, name, plan, key.created, expires, revoked"
    " FROM key JOIN account ON account.id = account"
)
#: Stamps are bytes that compare like numbers; see ``sliding_window``.
_ADMIT = (
    "UPDATE account SET used = used + 1, ring = CAST(substr(ring, 9) || ?1 AS BLOB)"
    " WHERE id = ?2 AND used < ?3 AND length(ring) = ?4"
    " AND substr(ring, 1, 8) <= ?5 AND substr(ring, -8) <= ?1"
)
#: Connections of parent processes, kept open: closing one would drop the parent's file locks.
_of_parents: list[sqlite3.Connection] = []


class SQLiteStore:
    """A store of ``sqlite:///PATH`` (relative) or ``sqlite:////PATH`` (absolute).

    ``?synchronous=full`` makes an acknowledged write survive power loss; the
    default, ``normal``, makes it survive process death. The first key creates the file.
    """

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._path, self._synchronous = _parts(url)
        self.now = clock or wall_clock
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._checkpoints = Checkpoints(lambda: self._open(create=False))

    def find(self, digest: bytes) -> Key | None:
        """Return the key with a digest."""
        row = self._run(lambda db: db.execute(f"{_KEY} WHERE digest = ?", (digest,)).fetchone())
        return None if row is None else _key(row)

    def admit(self, requests: Sequence[Request]) -> list[int]:
        """Decide requests exactly, in order, in one transaction; see ``Store``."""
        return self._run(self._admit, requests)

    def _admit(self, db: sqlite3.Connection, requests: Sequence[Request]) -> list[int]:
        # A single statement is its own transaction.
        if len(requests) == 1 and self._admitted(db, requests[0]):
            return [ADMITTED]
        with _transaction(db):
            return [
                ADMITTED if self._admitted(db, request) else self._decided(db, request)
                for request in requests
            ]

    def _admitted(self, db: sqlite3.Connection, request: Request) -> bool:
        """Admit a request by a single statement; return False if the slow path must decide."""
        account, plan = request
        now, size = self.now(), STAMP_BYTES * plan.rate
        values = stamp(now), account, plan.limit, size, stamp(now - SECOND)
        return db.execute(_ADMIT, values).rowcount > 0

    def _decided(self, db: sqlite3.Connection, request: Request) -> int:
        """Decide a request from the stored state of its account."""
        account, plan = request
        used, ring, _ = _state(db, account)
        ring, free = decide(ring, plan.rate, self.now())
        if free == ADMITTED and used >= plan.limit:
            return EXHAUSTED
        after = used + (free == ADMITTED), ring, account
        db.execute("UPDATE account SET used = ?, ring = ? WHERE id = ?", after)
        return free

    def lease(
        self, account: int, plan: Plan, worker: int, ripe: Tokens, unused: Sequence[Tokens]
    ) -> Lease:
        """Free ripe tokens, take back unused ones, and lease tokens for the current bucket."""

        def step(db: sqlite3.Connection) -> Lease:
            with _transaction(db):
                used, table = _returned(db, account, unused)
                table.free(ripe)
                left = max(0, plan.limit - used)
                lease = table.lease(worker, plan.rate, left, self.now())
                _write(db, account, used + lease.fresh + lease.moved, table)
            return lease

        return self._run(step)

    def take_back(self, account: int, unused: Sequence[Tokens]) -> None:
        """Take back unused tokens, in the rate and in the quota."""

        def step(db: sqlite3.Connection) -> None:
            with _transaction(db):
                _write(db, account, *_returned(db, account, unused))

        self._run(step)

    def add(self, key: NewKey) -> str:
        """Add a key if its account has the same plan or is new; return the account's plan."""

        def step(db: sqlite3.Connection) -> str:
            with _transaction(db):
                account = (key.name, key.plan, key.created)
                db.execute(
                    "INSERT OR IGNORE INTO account (name, plan, created) VALUES (?, ?, ?)", account
                )
                found = "SELECT id, plan FROM account WHERE name = ?"
                number, plan = db.execute(found, (key.name,)).fetchone()
                if plan == key.plan:
                    db.execute(
                        "INSERT INTO key (digest, environment, account, created, expires)"
                        " VALUES (?, ?, ?, ?, ?)",
                        (key.digest, key.environment, number, key.created, key.expires),
                    )
            return str(plan)

        return self._run(step, create=True)

    def keys(self) -> list[Key]:
        """Return all keys, oldest first."""
        rows = self._run(lambda db: db.execute(f"{_KEY} ORDER BY key.created, digest").fetchall())
        return [_key(row) for row in rows]

    def revoke(self, digest: bytes) -> None:
        """Revoke a key for good."""
        revoke = "UPDATE key SET revoked = 1 WHERE digest = ?"
        self._run(lambda db: db.execute(revoke, (digest,)))

    def usage(self) -> list[Usage]:
        """Return all accounts, oldest first."""
        usage = (
            "SELECT name, plan, account.created, used, count(digest) FROM account"
            " LEFT JOIN key ON account = id GROUP BY id ORDER BY id"
        )
        return [Usage(*row) for row in self._run(lambda db: db.execute(usage).fetchall())]

    def upkeep(self) -> None:
        """Run a checkpoint if enough rows changed; called by the background thread."""
        with self._lock:
            if self._connection is None:
                return
            changes = self._connection.total_changes
        self._checkpoints.write_back(changes)

    def after_fork(self) -> None:
        """Set aside, in a child process, the connections of the parent."""
        _of_parents.extend(filter(None, (self._connection, self._checkpoints.detach())))
        self._connection, self._lock = None, Lock()

    def close(self) -> None:
        """Close the store."""
        self._checkpoints.close()
        with self._lock:
            self._drop()

    def _run(self, step: Callable[..., _T], *given: object, create: bool = False) -> _T:
        """Run a step on the connection under this process's lock; the only access to the file."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open(create=create)
                return step(self._connection, *given)
            except sqlite3.Error as error:
                self._drop()  # the next step opens the file again, whatever happened to it
                raise self._unusable(str(error)) from None

    def _open(self, *, create: bool) -> sqlite3.Connection:
        uri = f"file:{quote(self._path)}?mode={'rwc' if create else 'rw'}"
        db = sqlite3.connect(
            uri, uri=True, timeout=_BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(db, create=create)
        except BaseException:
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection, *, create: bool) -> None:
        if create and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            db.execute(f"PRAGMA page_size = {_PAGE}")
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(_SCHEMA)
        if db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise self._unusable("not an accounts file")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version != _VERSION:
            raise self._unusable(f"version {version}, but this geolookup reads version {_VERSION}")
        db.execute(f"PRAGMA synchronous = {self._synchronous}")
        db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}")

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _unusable(self, problem: str) -> AccountsError:
        remedy = "check that it is an accounts file, its permissions, and free disk space"
        if "unable to open" in problem:
            problem = "cannot be opened"
            remedy = "create it with 'geolookup keys create', or correct the path"
        return AccountsError(self._path, problem, remedy)


def _parts(url: str) -> tuple[str, str]:
    """Return the path and the ``synchronous`` mode of a URL."""
    parts = urlsplit(url)
    options = parse_qs(parts.query)
    synchronous = options.pop("synchronous", ["normal"])[-1]
    path = unquote(parts.path.removeprefix("/"))
    if parts.netloc or not path or options or synchronous not in ("normal", "full"):
        raise AccountsError(
            url, "unknown kind of store", "write sqlite:///PATH, or sqlite:///PATH?synchronous=full"
        )
    return path, synchronous


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Hold the write lock; an exception rolls back."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _state(db: sqlite3.Connection, account: int) -> tuple[int, bytes, bytes]:
    """Return used quota, ring and buckets of an account."""
    read = "SELECT used, ring, slots FROM account WHERE id = ?"
    row: tuple[int, bytes, bytes] | None = db.execute(read, (account,)).fetchone()
    if row is None:
        raise sqlite3.DataError(f"account {account} no longer exists")
    return row


def _returned(db: sqlite3.Connection, account: int, unused: Sequence[Tokens]) -> tuple[int, Table]:
    used, _, stored = _state(db, account)
    table = Table.unpack(stored)
    for tokens in unused:
        table.free(tokens)
    return used - sum(tokens.number for tokens in unused), table


def _write(db: sqlite3.Connection, account: int, used: int, table: Table) -> None:
    values = used, table.pack(), account
    db.execute("UPDATE account SET used = ?, slots = ? WHERE id = ?", values)


def _key(row: tuple[bytes, str, int, str, str, int, int | None, int]) -> Key:
    return Key(*row[:7], revoked=bool(row[7]))
