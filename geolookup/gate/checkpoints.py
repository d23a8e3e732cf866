"""Checkpoints of an accounts file: its write-ahead log, written back in the background.

Strategy: a checkpoint waits for the disk. The background writer uses its own connection
and runs early, so the deciding connection finds little left when the log must restart.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from threading import Lock

#: Changed rows before a checkpoint pays.
_LEAST_CHANGES = 500


class Checkpoints:
    """Checkpoints of one accounts file; ``connect`` opens a connection to it."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._lock = Lock()  # its own lock, so that no decision waits for a checkpoint
        self._connection: sqlite3.Connection | None = None
        self._changes = 0

    def write_back(self, changes: int) -> None:
        """Checkpoint if enough rows changed; ``changes`` is the total so far.

        Errors are dropped: the deciding connection meets and reports the same fault.
        """
        with self._lock:
            if changes < self._changes:  # a new deciding connection, perhaps to another file
                self._drop()
                self._changes = 0
            if changes - self._changes < _LEAST_CHANGES:
                return
            self._changes = changes
            try:
                if self._connection is None:
                    self._connection = self._connect()
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            except sqlite3.Error:
                self._drop()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop()

    def detach(self) -> sqlite3.Connection | None:
        """Reset in a child process; return the connection, which belongs to the parent."""
        found, self._connection, self._lock = self._connection, None, Lock()
        return found

    def _drop(self) -> None:
        found, self._connection = self._connection, None
        if found is not None:
            found.close()
