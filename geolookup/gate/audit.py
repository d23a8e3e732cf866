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
from geolookup.gate.account_store import Entry, Key
from geolookup.gate.keys import identifier
from geolookup.gate.plans import LONGEST_LINE

ACTIONS = CREATED, REVOKED, RESTORED = "created", "revoked", "restored"
_COLUMNS, _VALUES = ", ".join(Entry._fields), ", ".join("?" * len(Entry._fields))
_APPEND = f"INSERT INTO log ({_COLUMNS}) VALUES ({_VALUES})"  # noqa: S608 - constants
READ = f"SELECT {_COLUMNS} FROM log ORDER BY id"  # noqa: S608 - constants


def append(db: sqlite3.Connection, new: Entry) -> None:
    """Append an entry to the log of an accounts file."""
    db.execute(_APPEND, new)


def entry(at: int, action: str, key: Key | None = None, detail: str | None = None) -> Entry:
    """Return the entry of an action on a key, or on all, at a time of the store's clock."""
    uid = None if sys.platform == "win32" else os.getuid()
    user = getuser() if uid is None else user_name(uid)
    sudo_user = _line(os.environ.get("SUDO_USER", "")) or None
    public, account = (identifier(key.digest), key.name) if key else (None, None)
    return Entry(at, action, _line(user), uid, sudo_user, public, account, detail and _line(detail))


def _line(text: str) -> str:
    return line_text(text)[:LONGEST_LINE]
