"""Watching a path: a thread that reloads an engine when its path comes to mean another dataset.

Strategy: the thread looks at one file's stat, and knows the engine by a weak reference, so
that it never keeps one alive. Threads do not live on in a forked child; it starts its own.
"""

from __future__ import annotations

import os
import weakref
from logging import getLogger
from threading import Event, Thread
from typing import Protocol

from geolookup.errors import ClosedError, DatasetError
from geolookup.store import follow

_log = getLogger("geolookup")


class Reloadable(Protocol):
    """What can be watched: an engine."""

    def reload(self) -> bool:
        """Take up another dataset; DatasetError where it is refused."""

    def check_age(self) -> None:
        """Say or raise DatasetError where the data are too old."""

    @property
    def generation(self) -> str:
        """What answers."""


class Watch:
    """Reloads an engine within ``seconds`` of a change, until it is closed or gone.

    A dataset that is refused is said once, in the log ``geolookup``, and tried again
    when the path changes again. Raises ValueError for ``seconds`` that are not above 0.
    """

    def __init__(self, engine: Reloadable, path: str, seconds: float) -> None:
        if not seconds > 0:
            raise ValueError("watch is how many seconds to wait between looks, above 0")
        self._engine = weakref.ref(engine)
        self._path, self._seconds = path, seconds
        self._seen: follow.Signature | tuple[()] = ()  # the first look asks in any case
        self._said = ""
        self.start()
        _watches.add(self)

    def start(self) -> None:
        """Start the thread."""
        self._ended = Event()
        Thread(target=self._run, name="geolookup-watch", daemon=True).start()

    def end(self) -> None:
        """Have the thread end; it may look once more."""
        self._ended.set()

    def _run(self) -> None:
        ended = self._ended
        while not ended.wait(self._seconds):
            engine = self._engine()
            if engine is None:
                return
            self._look(engine)
            del engine  # or it would be kept alive while waiting

    def _look(self, engine: Reloadable) -> None:
        signature = follow.signature(self._path)
        try:
            if signature != self._seen:
                engine.reload()
                self._said = ""
            engine.check_age()
        except ClosedError:
            self.end()
        except (DatasetError, OSError) as error:
            self._say(str(error), engine)
        self._seen = signature

    def _say(self, problem: str, engine: Reloadable) -> None:
        if problem != self._said:
            _log.warning("%s; still answering from generation %s", problem, engine.generation)
        self._said = problem


_watches: weakref.WeakSet[Watch] = weakref.WeakSet()


def _start_in_child() -> None:
    for watch in _watches:
        watch.start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_in_child)
