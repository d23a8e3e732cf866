"""The schema of an accounts file: created in a new file, compared in an old one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from reprlib import repr as short_repr

_APPLICATION = 0x67656F6B  # "geok": marks an accounts file
_VERSION = 4
#: Bytes. Each decision logs one page, the one with the newest runs of its account.
_PAGE = 1024
#: ``run`` counts requests; see ``sqlite_admission``. ``log`` is the audit log; see ``audit``.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS account (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, plan TEXT NOT NULL,
    created INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS run (
    account INTEGER NOT NULL REFERENCES account, used INTEGER NOT NULL,
    stamp INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (account, used)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS key (
    digest BLOB PRIMARY KEY, environment TEXT NOT NULL,
    account INTEGER NOT NULL REFERENCES account, created INTEGER NOT NULL,
    expires INTEGER, revoked INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS log (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, action TEXT NOT NULL,
    user TEXT NOT NULL, uid INTEGER, sudo_user TEXT,
    key TEXT, account TEXT, detail TEXT);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
COMMIT;
"""
_Object = tuple[str, str, str, str | None]


def is_empty(db: sqlite3.Connection) -> bool:
    """Return whether a database has no table."""
    return not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def create_tables(db: sqlite3.Connection, journal_mode: str) -> None:
    """Make an accounts file of an empty database; keep tables of another process."""
    db.execute(f"PRAGMA page_size = {_PAGE}")
    db.execute(f"PRAGMA journal_mode = {journal_mode}")
    db.executescript(_SCHEMA)


def problem_of(db: sqlite3.Connection) -> str | None:
    """Return why this version cannot read a database as an accounts file, or None."""
    if db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        return "not an accounts file"
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        return f"version {version}, but this geolookup reads version {_VERSION}"
    return None


def foreign_object(db: sqlite3.Connection) -> str | None:
    """Return how the schema of an accounts file differs from ours, or None.

    A trigger or a view could change rows, or show others.
    """
    objects, ours = _objects(db), _our_objects()
    for kind, name, _, _ in (item for item in objects if item not in ours):
        return f"has another {kind} {short_repr(name)}"
    for kind, name, _, _ in (item for item in ours if item not in objects):
        return f"has no {kind} {name!r}"
    return None if len(objects) == len(ours) else "has an object twice"


def _objects(db: sqlite3.Connection) -> list[_Object]:
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()


@cache
def _our_objects() -> list[_Object]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA)
        return _objects(db)
