"""The audit log of accounts: which system user created, revoked or restored, and when.

An entry is written in the transaction or script of the change, so neither exists without the
other. Commands only append. A restore keeps the log of the accounts that it replaces.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from getpass import getuser

from geolookup.filesystem.ownership import user_name
from geolookup.gate.account_store import Entry, Key, NewKey, wall_clock
from geolookup.gate.keys import identifier
from geolookup.gate.names import as_line

ACTIONS = CREATED, REVOKED, RESTORED = "created", "revoked", "restored"
_COLUMNS, _VALUES = ", ".join(Entry._fields), ", ".join("?" * len(Entry._fields))
_APPEND = f"INSERT INTO log ({_COLUMNS}) VALUES ({_VALUES})"  # noqa: S608 - constants
_READ = f"SELECT {_COLUMNS} FROM log ORDER BY id"  # noqa: S608 - constants


def creation(key: NewKey) -> Entry:
    """Return the entry of a new key."""
    detail = f"plan {key.plan}, {key.environment}"
    return _entry(key.created, CREATED, identifier(key.digest), key.name, detail)


def revocation(key: Key, now: int) -> Entry:
    """Return the entry of a revocation at a time of the store's clock."""
    return _entry(now, REVOKED, identifier(key.digest), key.name, None)


def restoration(source: str) -> Entry:
    """Return the entry of a restore from a backup."""
    return _entry(wall_clock(), RESTORED, None, None, as_line(source))


def append(db: sqlite3.Connection, entry: Entry) -> None:
    """Append an entry to the log of an accounts file."""
    db.execute(_APPEND, entry)


def read(db: sqlite3.Connection) -> list[Entry]:
    """Return the entries of an accounts file, oldest first."""
    return [Entry(*row) for row in db.execute(_READ)]


def _entry(at: int, action: str, key: str | None, account: str | None, detail: str | None) -> Entry:
    user, uid = _system_user()
    sudo_user = os.environ.get("SUDO_USER")
    sudo_user = as_line(sudo_user) if sudo_user else None
    return Entry(at, action, as_line(user), uid, sudo_user, key, account, detail)


def _system_user() -> tuple[str, int | None]:
    """Return name and number of the user of this process."""
    if sys.platform == "win32":
        return getuser(), None
    return user_name(os.getuid()), os.getuid()
