"""The audit log of accounts: which system user created, revoked or restored, and when.

An entry is written in the transaction or script of the change, so neither exists without the
other. Commands only append. A restore keeps the log of the accounts that it replaces.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from getpass import getuser

from geolookup.errors import line_text
from geolookup.filesystem.ownership import user_name
from geolookup.gate.account_store import Entry, Key, wall_clock
from geolookup.gate.keys import identifier
from geolookup.gate.plans import LONGEST_LINE

ACTIONS = CREATED, REVOKED, RESTORED = "created", "revoked", "restored"
_COLUMNS, _VALUES = ", ".join(Entry._fields), ", ".join("?" * len(Entry._fields))
_APPEND = f"INSERT INTO log ({_COLUMNS}) VALUES ({_VALUES})"  # noqa: S608 - constants
_READ = f"SELECT {_COLUMNS} FROM log ORDER BY id"  # noqa: S608 - constants


def creation(key: Key) -> Entry:
    """Return the entry of a new key."""
    return _entry(key.created, CREATED, key, f"plan {key.plan}, {key.environment}")


def revocation(key: Key, now: int) -> Entry:
    """Return the entry of a revocation at a time of the store's clock."""
    return _entry(now, REVOKED, key, None)


def restoration(source: str) -> Entry:
    """Return the entry of a restore from a backup."""
    return _entry(wall_clock(), RESTORED, None, _line(source))


def append(db: sqlite3.Connection, entry: Entry) -> None:
    """Append an entry to the log of an accounts file."""
    db.execute(_APPEND, entry)


def read(db: sqlite3.Connection) -> list[Entry]:
    """Return the entries of an accounts file, oldest first."""
    return [Entry(*row) for row in db.execute(_READ)]


def _entry(at: int, action: str, key: Key | None, detail: str | None) -> Entry:
    uid = None if sys.platform == "win32" else os.getuid()
    user = getuser() if uid is None else user_name(uid)
    sudo_user = _line(os.environ.get("SUDO_USER", "")) or None
    public, account = (identifier(key.digest), key.name) if key else (None, None)
    return Entry(at, action, _line(user), uid, sudo_user, public, account, detail)


def _line(text: str) -> str:
    return line_text(text)[:LONGEST_LINE]
