"""A worker process: what it answers from, opened, taken up anew on SIGHUP, and let go."""

from __future__ import annotations

import logging
import signal
from asyncio import AbstractEventLoop
from pathlib import Path

import geolookup
from geolookup.errors import GeoLookupError
from geolookup.gate import open_accounts, read_plans
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
        self._accounts = open_accounts(settings.accounts, settings.plans)
        self._memory = Counters(folder)
        proxies = TrustedProxies(settings.trusted_proxies)
        super().__init__(self._open(), proxies, self._memory)

    def __rsgi_init__(self, loop: AbstractEventLoop) -> None:
        """Heed RELOAD and DRAIN from now on, between requests; Granian calls it at the start."""
        loop.add_signal_handler(RELOAD, self.reload)
        loop.add_signal_handler(DRAIN, self.drain)

    def __rsgi_del__(self, _loop: AbstractEventLoop) -> None:
        """Give back what was leased; Granian calls it when the last answer is out."""
        self._memory.note(ENDED)
        try:
            self._accounts.close()
        except GeoLookupError as error:
            _log.error("%s", error)

    def reload(self) -> None:
        """Take up the dataset and the plans as they are now; keep the old ones if they are bad.

        Requests under way end on the dataset they began with: it is let go
        with the last reference to it.
        """
        if self.draining:
            return
        try:
            plans = read_plans(self._settings.plans)
            self.backend = self._open()
            self._accounts.plans = plans
        # OSError: the dataset was renamed away between two looks at it.
        except (GeoLookupError, OSError) as error:
            _log.error("not reloaded: %s", error)

    def _open(self) -> Backend:
        engine = geolookup.open(self._settings.dataset)
        generation = engine.metadata.generation
        written = (engine.path / _MANIFEST).stat().st_mtime
        self._memory.serve(generation, int(written))
        _log.info("answers from generation %s", generation)
        return Backend(engine, self._accounts, Answers(generation))
