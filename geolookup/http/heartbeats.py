"""Heartbeats of the workers: a worker whose event loop stands still is replaced.

Strategy: each second the event loop of a worker adds one to its word of a shared file, and the
server process looks at all words. It counts looks without a beat, and compares no clocks: if a
machine or a group of processes is suspended, that counts as one look.

Example: worker 2 is stopped. After 5 looks /readyz is 503, because the system continues to give
connections to that worker. After 15 it is killed, and the supervisor starts another.
"""

from __future__ import annotations

import logging
import mmap
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Thread

#: Seconds between two beats, and between two looks.
BEAT = LOOK = 1.0
#: Looks without a beat until a worker that has begun is not ready, is killed, is given up.
LATE, SILENT, LOST = 5, 15, 30
#: Looks until a worker is replaced that has not begun: it opens and reads a dataset first.
STARTING = 300
_log = logging.getLogger("geolookup.http")


class Heartbeats:
    """A word of 8 bytes for each worker; 0: it has not begun."""

    def __init__(self, folder: Path, workers: int | None = None) -> None:
        """Map the file in ``folder``; with ``workers``, their number, make it first.

        Raises OSError if the disk is full: the file never grows later.
        """
        path = folder / "heartbeats"
        if workers is not None:
            path.write_bytes(bytes(8 * workers))
        with path.open("r+b") as file:
            self._words = memoryview(mmap.mmap(file.fileno(), 0)).cast("Q")

    def begin(self, worker: int) -> None:
        """Record that a new process of a worker starts."""
        self._words[worker] = 0

    def beat(self, worker: int) -> None:
        """Record one beat."""
        self._words[worker] += 1

    def count(self, worker: int) -> int:
        """Return the beats of a worker since it has begun."""
        return self._words[worker]


class Watchdog:
    """The looks of the server process at its workers."""

    def __init__(self, beats: Heartbeats) -> None:
        self._beats = beats
        self._seen, self._looks = Counter[int](), Counter[int]()

    def start(self, processes: Callable[[], Iterable[tuple[int, int]]]) -> None:
        """Look from now on, in a thread, at the number and the process id of each worker."""
        Thread(target=self._run, args=(processes,), name="geolookup-watch", daemon=True).start()

    def _run(self, processes: Callable[[], Iterable[tuple[int, int]]]) -> None:
        while True:
            time.sleep(LOOK)
            for worker, process in processes():
                self.look(worker, process)

    def look(self, worker: int, process: int) -> None:
        """Look once at a worker; kill it if it has been silent for too long."""
        beats = self._beats.count(worker)
        silent = beats == self._seen[worker] and runs(process)
        self._seen[worker] = beats
        self._looks[worker] = self._looks[worker] + 1 if silent else 0
        limit = SILENT if beats else STARTING
        if silent and self._looks[worker] % limit == 0:
            _log.error("worker-%d is silent for %d seconds; killing it", worker + 1, limit)
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(process, signal.SIGKILL)

    def silent_workers(self, looks: int) -> dict[int, int]:
        """Return the workers that were silent for so many looks or more, and for how many.

        Workers that have not begun are left out: they have no connections yet.
        """
        return {
            worker: count
            for worker, count in self._looks.items()
            if count >= looks and self._seen[worker]
        }


def runs(process: int) -> bool:
    """Return whether a process exists."""
    try:
        os.kill(process, 0)  # signal 0 only asks
    except OSError:
        return False
    return True
