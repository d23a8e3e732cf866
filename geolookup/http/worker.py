"""A worker process: what it answers from, opened, taken up anew on SIGHUP, and let go."""

from __future__ import annotations

import gc
import logging
import signal
from asyncio import AbstractEventLoop
from pathlib import Path
from threading import Lock, Thread

import geolookup
from geolookup.errors import GeoLookupError
from geolookup.gate import open_accounts, read_plans
from geolookup.gate.group_commit import GroupCommit
from geolookup.http.answers import Answers
from geolookup.http.application import Application, Backend
from geolookup.http.caller import TrustedProxies
from geolookup.http.counters import ENDED, Counters
from geolookup.http.settings import Settings

#: What the server tells its workers to do.
RELOAD, DRAIN = signal.SIGHUP, signal.SIGUSR1
_MANIFEST = "manifest.json"
_log = logging.getLogger("geolookup.http")


class Worker(Application):
    """An application with its dataset and its accounts."""

    def __init__(self, settings: Settings, folder: Path | None) -> None:
        self._settings = settings
        self._asked = False
        self._telling, self._told = Lock(), ""
        # Before the dataset is opened: what comes until the loop heeds signals is not lost.
        signal.signal(RELOAD, self._note)
        self._accounts = open_accounts(settings.accounts, settings.plans)
        self._gate = GroupCommit(self._accounts)
        self._memory = Counters(folder)
        self._engine = geolookup.open(
            settings.dataset,
            watch=settings.watch,
            max_age=settings.max_age,
            on_stale=settings.on_stale,
            allow_lost_fields=settings.allow_lost_fields,
        )
        proxies = TrustedProxies(settings.trusted_proxies)
        super().__init__(self.renewed(), proxies, self._memory)

    def __rsgi_init__(self, loop: AbstractEventLoop) -> None:
        """Heed RELOAD and DRAIN from now on, between requests; Granian calls it at the start."""
        # What is there now stays: the collector, which stops all requests, need not look at it.
        gc.collect()
        gc.freeze()
        loop.add_signal_handler(RELOAD, self.reload)
        loop.add_signal_handler(DRAIN, self.drain)
        if self._asked:
            self.reload()

    def _note(self, *_signal: object) -> None:
        self._asked = True

    def __rsgi_del__(self, _loop: AbstractEventLoop) -> None:
        """Give back what was leased; Granian calls it when the last answer is out."""
        self._memory.note(ENDED)
        try:
            self._accounts.close()
        except GeoLookupError as error:
            _log.error("%s", error)

    def reload(self) -> None:
        """Take up the dataset and the plans as they are now; keep the old ones if they are bad.

        On a thread, for what is taken up is verified first, and requests go on meanwhile.
        """
        if not self.draining:
            Thread(target=self._reload, name="geolookup-reload", daemon=True).start()

    def _reload(self) -> None:
        try:
            plans = read_plans(self._settings.plans)
            if self._engine.reload():
                self.backend = self.renewed()
            self._accounts.plans = plans
        # OSError: the dataset was renamed away between two looks at it.
        except (GeoLookupError, OSError) as error:
            _log.error("not reloaded: %s", error)

    def renewed(self) -> Backend:
        """Return the backend for the generation that answers by now, and say once which it is."""
        generation = self._engine.generation
        with self._telling:  # a request may find it out before the thread that took it up
            if generation != self._told:
                self._told = generation
                self._memory.serve(generation, _written(self._engine.path / _MANIFEST))
                _log.info("answers from generation %s", generation)
        answers = Answers(generation, stale=self._engine.stale)
        return Backend(self._engine, self._gate, answers)


def _written(manifest: Path) -> int:
    """Return when a dataset was written; 0 if it is gone, which does not stop its answers."""
    try:
        return int(manifest.stat().st_mtime)
    except OSError:
        return 0
