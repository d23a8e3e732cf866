"""Checkpoints of an accounts file: its write-ahead log, written back in the background.

Strategy: a checkpoint waits for the disk. The background writer uses its own connection
and runs early, so the deciding connection finds little left when the log must restart. The
deciding connection waits for the disk once each time the log restarts after a complete checkpoint,
and all requests with it. So a checkpoint waits for a second, or until the log is long.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from threading import Lock
from time import monotonic

#: Changed rows before a checkpoint pays.
_LEAST_CHANGES = 500
#: Seconds between two checkpoints of a log of fewer than ``_LONG`` pages.
_PAUSE = 1.0
#: Pages of a log, of all processes together, that is checkpointed at once. Each change logs a page.
_LONG = 8_000


class Checkpoints:
    """Checkpoints of one accounts file; ``connect`` opens a connection to it."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._lock = Lock()  # its own lock, so that no decision waits for a checkpoint
        self._connection: sqlite3.Connection | None = None
        self._changes, self._enough, self._next = 0, _LONG, 0.0

    def write_back(self, changes: int) -> None:
        """Checkpoint if enough rows changed; ``changes`` is the total so far.

        Errors are dropped: the deciding connection meets and reports the same fault.
        """
        with self._lock:
            if changes < self._changes:  # a new deciding connection, perhaps to another file
                self._drop()
                self._changes, self._next = 0, 0.0
            fresh = changes - self._changes
            if fresh < (self._enough if monotonic() < self._next else _LEAST_CHANGES):
                return
            self._changes, self._next = changes, monotonic() + _PAUSE
            try:
                if self._connection is None:
                    self._connection = self._connect()
                checkpoint = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                _, pages, _ = checkpoint.fetchone()
                # The share of this process in a long log.
                self._enough = max(_LEAST_CHANGES, _LONG * fresh // max(fresh, pages))
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
