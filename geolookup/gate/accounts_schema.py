"""The schema of an accounts file: created in a new file, compared in an old one.

Strategy: the schema states which rows are valid, so SQLite refuses others when they are written,
and its integrity check finds them in a backup from anywhere. ``typeof`` is a part of each rule
because an INTEGER or TEXT column takes other values too. STRICT tables would refuse them, but need
SQLite 3.37; Python of RHEL 9 has 3.34.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from reprlib import repr as short_repr

from geolookup.errors import line_text
from geolookup.gate.account_store import TIMES
from geolookup.gate.audit import ACTIONS
from geolookup.gate.keys import DIGEST_BYTES, ENVIRONMENTS, IDENTIFIER_DIGITS
from geolookup.gate.names import is_line, is_name
from geolookup.gate.plans import MAX_QUOTA

_APPLICATION = 0x67656F6B  # "geok": marks an accounts file
_VERSION = 4
#: Bytes: each decision logs one page.
_PAGE = 1024


def _whole(column: str, least: int, most: int) -> str:
    """Return the rule of a column of whole numbers; NULL meets every rule."""
    return (
        f"CHECK (typeof({column}) IN ('integer', 'null') AND {column} BETWEEN {least} AND {most})"
    )


def _time(column: str) -> str:
    return _whole(column, TIMES[0], TIMES[-1])


def _text(column: str, rule: str = "") -> str:
    return f"CHECK (typeof({column}) IN ('text', 'null'){rule})"


#: ``log`` is the audit log; see ``audit``.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS account (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    name TEXT NOT NULL UNIQUE {_text("name")},
    plan TEXT NOT NULL {_text("plan")},
    created INTEGER NOT NULL {_time("created")},
    used INTEGER NOT NULL DEFAULT 0 {_whole("used", 0, MAX_QUOTA)},
    ring BLOB NOT NULL DEFAULT x'',
    recent INTEGER NOT NULL DEFAULT 0, last INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS run (
    account INTEGER NOT NULL, stamp INTEGER NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (account, stamp)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS key (
    digest BLOB PRIMARY KEY CHECK (typeof(digest) = 'blob' AND length(digest) = {DIGEST_BYTES}),
    environment TEXT NOT NULL CHECK (environment IN {ENVIRONMENTS}),
    account INTEGER NOT NULL REFERENCES account,
    created INTEGER NOT NULL {_time("created")},
    expires INTEGER {_time("expires")},
    revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS log (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    at INTEGER NOT NULL {_time("at")},
    action TEXT NOT NULL CHECK (action IN {ACTIONS}),
    user TEXT NOT NULL {_text("user")},
    uid INTEGER {_whole("uid", 0, 2**32)},
    sudo_user TEXT {_text("sudo_user")},
    key TEXT {_text("key", f" AND key GLOB '{'[0-9a-f]' * IDENTIFIER_DIGITS}'")},
    account TEXT {_text("account")},
    detail TEXT {_text("detail")});
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
COMMIT;
"""
#: Texts that SQL cannot check, and the rule of each.
_TEXTS: dict[str, Callable[[object], bool]] = {
    "SELECT name FROM account UNION SELECT plan FROM account"
    " UNION SELECT account FROM log WHERE account NOT NULL": is_name,
    "SELECT user FROM log UNION SELECT sudo_user FROM log WHERE sudo_user NOT NULL"
    " UNION SELECT detail FROM log WHERE detail NOT NULL": is_line,
}
_Object = tuple[str, str, str, str | None]


def is_empty(db: sqlite3.Connection) -> bool:
    """Return whether a database has no table."""
    return not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def create_tables(db: sqlite3.Connection, journal_mode: str) -> None:
    """Make an accounts file of an empty database; keep tables of another process."""
    db.execute(f"PRAGMA page_size = {_PAGE}")
    db.execute(f"PRAGMA journal_mode = {journal_mode}")
    db.executescript(_SCHEMA)


def check_version(db: sqlite3.Connection) -> None:
    """Raise sqlite3.Error unless a database is an accounts file that this version reads."""
    if db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise sqlite3.DatabaseError("not an accounts file")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        problem = f"version {version}, but this geolookup reads version {_VERSION}"
        raise sqlite3.DatabaseError(problem)


def check_schema(db: sqlite3.Connection) -> None:
    """Raise sqlite3.Error unless the schema is ours: a trigger or a view could change rows."""
    objects, ours = _objects(db), _our_objects()
    if objects != ours:
        kind, name, *_ = min(set(objects) ^ set(ours), key=repr, default=("object", "twice"))
        problem = f"its {kind} {short_repr(name)} is missing, or not as geolookup creates it"
        raise sqlite3.DatabaseError(problem)


def check_content(db: sqlite3.Connection) -> None:
    """Raise sqlite3.Error unless a database is a whole accounts file with valid rows."""
    check_version(db)
    check_schema(db)
    (report,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if report != "ok":
        raise sqlite3.DatabaseError(f"is damaged or was changed: {line_text(report)}")
    if db.execute("PRAGMA foreign_key_check").fetchone():
        raise sqlite3.DatabaseError("has a key without its account")
    for texts, is_valid in _TEXTS.items():
        for (text,) in db.execute(texts):
            if not is_valid(text):
                raise sqlite3.DatabaseError(f"geolookup does not write {short_repr(text)}")


def _objects(db: sqlite3.Connection) -> list[_Object]:
    statement = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    return db.execute(statement).fetchall()


@cache
def _our_objects() -> list[_Object]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA)
        return _objects(db)
