"""The schema of an accounts file: created in an empty file, compared with an old one's.

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

from geolookup.gate.account_store import TIMES
from geolookup.gate.audit import ACTIONS
from geolookup.gate.keys import DIGEST_BYTES, ENVIRONMENTS, IDENTIFIER_DIGITS
from geolookup.gate.plans import MAX_QUOTA, is_line, is_name

_APPLICATION = 0x67656F6B  # "geok": marks an accounts file
_VERSION = 4
#: Bytes. Each decision logs one page, the one with the newest runs of its account.
PAGE = 1024


def _whole(column: str, numbers: range) -> str:
    """Return the rule of a column of whole numbers; NULL meets every rule."""
    bounds = f"BETWEEN {numbers[0]} AND {numbers[-1]}"
    return f"CHECK (typeof({column}) IN ('integer', 'null') AND {column} {bounds})"


def _text(column: str, rule: str = "TRUE") -> str:
    return f"CHECK (typeof({column}) IN ('text', 'null') AND {rule})"


#: ``run`` counts requests; see ``sqlite_admission``. ``log`` is the audit log; see ``audit``.
_SCHEMA = f"""CREATE TABLE account (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    name TEXT NOT NULL UNIQUE {_text("name")},
    plan TEXT NOT NULL {_text("plan")},
    created INTEGER NOT NULL {_whole("created", TIMES)});
CREATE TABLE run (
    account INTEGER NOT NULL REFERENCES account,
    used INTEGER NOT NULL {_whole("used", range(MAX_QUOTA + 1))},
    stamp INTEGER NOT NULL DEFAULT 0 {_whole("stamp", TIMES)},
    PRIMARY KEY (account, used)) WITHOUT ROWID;
CREATE TABLE key (
    digest BLOB PRIMARY KEY CHECK (typeof(digest) = 'blob' AND length(digest) = {DIGEST_BYTES}),
    environment TEXT NOT NULL CHECK (environment IN {ENVIRONMENTS}),
    account INTEGER NOT NULL REFERENCES account,
    created INTEGER NOT NULL {_whole("created", TIMES)},
    expires INTEGER {_whole("expires", TIMES)},
    revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))) WITHOUT ROWID;
CREATE TABLE log (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    at INTEGER NOT NULL {_whole("at", TIMES)},
    action TEXT NOT NULL CHECK (action IN {ACTIONS}),
    user TEXT NOT NULL {_text("user")},
    uid INTEGER {_whole("uid", range(2**32))},
    sudo_user TEXT {_text("sudo_user")},
    key TEXT {_text("key", f"key GLOB '{'[0-9a-f]' * IDENTIFIER_DIGITS}'")},
    account TEXT {_text("account")},
    detail TEXT {_text("detail")});
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION}"""
_COUNTS = "SELECT (SELECT count(*) FROM account), (SELECT count(*) FROM key)"
_UNCOUNTED = "SELECT 1 FROM account WHERE id NOT IN (SELECT account FROM run)"
#: Texts that SQL cannot check, and the rule of each.
_TEXTS: dict[str, Callable[[object], bool]] = {
    "SELECT name FROM account UNION SELECT plan FROM account"
    " UNION SELECT account FROM log WHERE account NOT NULL": is_name,
    "SELECT user FROM log UNION SELECT sudo_user FROM log WHERE sudo_user NOT NULL"
    " UNION SELECT detail FROM log WHERE detail NOT NULL": is_line,
}
_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_master"


def is_empty(db: sqlite3.Connection) -> bool:
    """Return whether a database has no table."""
    return not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def create_tables(db: sqlite3.Connection) -> None:
    """Make an accounts file of an empty database, in the transaction that adds the first rows."""
    if is_empty(db):
        for statement in _SCHEMA.split(";"):
            db.execute(statement)


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
    strange = _our_objects().symmetric_difference(db.execute(_OBJECTS))
    if strange:
        kind, name, *_ = min(strange, key=repr)
        problem = f"its {kind} {short_repr(name)} is missing, or not as geolookup creates it"
        raise sqlite3.DatabaseError(problem)


def check_content(db: sqlite3.Connection) -> str:
    """Return the numbers of accounts and keys as text; sqlite3.Error unless all rows are valid."""
    check_version(db)
    check_schema(db)
    (report,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if report != "ok":
        raise sqlite3.DatabaseError(f"is damaged or was changed: {report}")
    if db.execute("PRAGMA foreign_key_check").fetchone():
        raise sqlite3.DatabaseError("has a key or a run without its account")
    if db.execute(_UNCOUNTED).fetchone():
        raise sqlite3.DatabaseError("has an account without its usage")
    for texts, is_valid in _TEXTS.items():
        for (text,) in db.execute(texts):
            if not is_valid(text):
                raise sqlite3.DatabaseError(f"geolookup does not write {short_repr(text)}")
    accounts, keys = db.execute(_COUNTS).fetchone()
    return f"accounts: {accounts:,}, keys: {keys:,}"


@cache
def _our_objects() -> set[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as db:
        create_tables(db)
        return set(db.execute(_OBJECTS))
