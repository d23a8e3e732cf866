"""Watching a path: a thread that polls it and reloads the engine when the dataset changes.

The thread polls the stat of one file. It holds a weak reference to the engine, and does not
keep it alive. A forked child has no threads; it starts its own.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 - registers its end before ours
import os
import threading
import weakref
from collections.abc import Callable
from logging import getLogger
from threading import Event, Thread
from typing import TYPE_CHECKING

from geolookup.errors import BuildError, ClosedError, DatasetError, OutputError, short_id

if TYPE_CHECKING:
    from geolookup.engine import Engine

_log = getLogger("geolookup")
#: Seconds that the exit of the process waits for a poll that has begun.
_EXIT_WAIT = 10.0


class Watch:
    """Polls a path every ``seconds`` and reloads the engine, until it is closed or collected.

    ``fingerprint`` returns a value that changes when the dataset of the path changes.

    A refused dataset is reported once in the log ``geolookup``, and retried when the path
    changes again. Raises ValueError unless ``seconds`` is above 0.
    """

    def __init__(self, engine: Engine, fingerprint: Callable[[], object], seconds: float) -> None:
        if not isinstance(seconds, (int, float)) or not seconds > 0:
            raise ValueError("watch is the poll interval in seconds, above 0")
        self._engine = weakref.ref(engine)
        self._fingerprint, self._seconds = fingerprint, seconds
        #: Unlike any fingerprint at first, so the first poll reloads.
        self._seen: object = ()
        self._reported = ""
        self.start()
        _watches.add(self)

    def start(self) -> None:
        """Start the thread."""
        self._ended = Event()
        self._thread = Thread(target=self._run, name="geolookup-watch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop the thread; it may poll once more."""
        self._ended.set()

    def join(self) -> None:
        """Wait until the thread has ended, for a limited time."""
        self._thread.join(_EXIT_WAIT)

    def _run(self) -> None:
        ended = self._ended
        # ``wait`` returns True as soon as the watch is ended, and False after the seconds.
        while not ended.wait(self._seconds):
            engine = self._engine()
            if engine is None:
                return
            self.poll(engine)
            del engine  # while the thread waits, it holds no strong reference

    def poll(self, engine: Engine) -> None:
        """Reload the engine if the dataset of the path has changed, and report a refused one."""
        # Taken before the reload: a change during it is noticed by the next poll.
        fingerprint: object = None
        try:
            fingerprint = self._fingerprint()
            if fingerprint != self._seen:
                engine.reload()
                self._reported = ""
            engine.check_age()
        except ClosedError:
            self.end()
        except (DatasetError, BuildError, OutputError, OSError) as error:
            self._report(str(error), engine)
        # MemoryError; RuntimeError: no more threads. The next poll tries the same dataset again.
        except (MemoryError, RuntimeError) as error:
            self._report(str(error) or type(error).__name__, engine)
            return
        self._seen = fingerprint

    def _report(self, problem: str, engine: Engine) -> None:
        # A poll that fails because the process ends is not reported.
        if problem != self._reported and not self._ended.is_set():
            _log.warning(
                "%s; still answering from generation %s", problem, short_id(engine.generation)
            )
        self._reported = problem


#: The watches of this process; each is restarted in a forked child.
_watches: weakref.WeakSet[Watch] = weakref.WeakSet()


def _end_all() -> None:
    """End all threads before the interpreter does: it aborts if one is in an import or in Arrow."""
    ending = list(_watches)
    for watch in ending:
        watch.end()
    for watch in ending:
        watch.join()


# ``atexit`` would be too late: a poll that has begun needs pools of threads, and these refuse work
# from ``threading._shutdown`` on, before ``atexit``. Its calls run in reverse order: the import of
# the pools above has registered theirs, so this one comes first.
threading._register_atexit(_end_all)  # type: ignore[attr-defined]  # noqa: SLF001 - as the pools do


def _start_in_child() -> None:
    for watch in _watches:
        watch.start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_in_child)
