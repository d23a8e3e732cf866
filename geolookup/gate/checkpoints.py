"""An accounts file's log, written back to the file beside the requests.

Strategy: writing back waits for the disk. A connection of its own does it from
the background, soon after there is something, and so the one that decides
finds next to nothing left when the log has to begin anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from threading import Lock

#: Rows that change before it is worth while.
_WORTH = 500


class Checkpoints:
    """Write-backs of one accounts file; ``connect`` gives a connection to it."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._lock = Lock()  # apart from the deciding connection's: nobody waits for this one
        self._connection: sqlite3.Connection | None = None
        self._changes = 0

    def write_back(self, changes: int) -> None:
        """Write back what ``changes`` rows so far left in the log, if they are worth it.

        Whatever fails here fails where it is decided, which is told of it.
        """
        with self._lock:
            if changes < self._changes:  # a new deciding connection, perhaps to another file
                self._drop()
                self._changes = 0
            if changes - self._changes < _WORTH:
                return
            self._changes = changes
            try:
                if self._connection is None:
                    self._connection = self._connect()
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            except sqlite3.Error:
                self._drop()

    def close(self) -> None:
        """Let the connection go."""
        with self._lock:
            self._drop()

    def detach(self) -> sqlite3.Connection | None:
        """Begin anew in a child process; returns the connection, which is the parent's."""
        found, self._connection, self._lock = self._connection, None, Lock()
        return found

    def _drop(self) -> None:
        found, self._connection = self._connection, None
        if found is not None:
            found.close()
